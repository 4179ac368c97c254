#pragma once
// What is used of libpcp's binary interface, by its manual pages (PMAPI(3), pmFetch(3),
// pmLookupDesc(3)). Versions 3 (PCP up to 6) and 4 (PCP 7) differ here in one thing: the stamp of a
// result is a timeval or a timespec. Both have 16 bytes on 64-bit machines, and it is not used.

#include <cstdint>

namespace memgauge::pcp {

using MetricId = std::uint32_t;
using DomainId = std::uint32_t;

constexpr DomainId no_domain = 0xffffffff;
constexpr int context_host = 1;
constexpr int semantics_counter = 1;
constexpr int agents_changed = 7;  // bits of what a fetch returns: one came, began anew or went
constexpr int names_changed = 16;
constexpr int longest_error = 128;

// Types of values by their number in a descriptor.
constexpr int type_i32 = 0, type_u32 = 1, type_i64 = 2, type_u64 = 3, type_f32 = 4, type_f64 = 5;

struct Descriptor {
    MetricId metric;
    std::int32_t type;
    DomainId domain;
    std::int32_t semantics;
    std::uint32_t units;  // eight nibbles, see unpacked()
};

// Length and type in one word (length with this header in the low 24 bits), then the value.
struct Block {
    std::uint32_t header;
    unsigned char bytes[1];
};

struct Value {
    std::int32_t instance;
    union {
        const Block* block;
        std::int32_t number;
    } of;
};

constexpr int in_place = 0;  // format: the value is `number`; else it is behind `block`

struct ValueSet {
    MetricId metric;
    std::int32_t count;  // below zero: an error
    std::int32_t format;
    Value values[1];
};

struct Result {
    unsigned char stamp[16];
    std::int32_t count;
    ValueSet* sets[1];
};

static_assert(sizeof(void*) == 8, "the layouts are those of 64-bit machines");

struct Calls {
    int (*new_context)(int, const char*) = nullptr;
    int (*destroy_context)(int) = nullptr;
    int (*use_context)(int) = nullptr;
    int (*lookup_names)(int, const char**, MetricId*) = nullptr;
    int (*lookup_descriptor)(MetricId, Descriptor*) = nullptr;
    int (*instances)(DomainId, int**, char***) = nullptr;
    int (*traverse)(const char*, void (*)(const char*, void*), void*) = nullptr;
    int (*fetch)(int, MetricId*, Result**) = nullptr;
    void (*free_result)(Result*) = nullptr;
    char* (*error_text)(int, char*, int) = nullptr;
    // Not in every version:
    char* (*host_name)(int, char*, int) = nullptr;
    int (*set_request_timeout)(double) = nullptr;
    int (*set_connect_timeout)(double) = nullptr;

    bool reads_configuration = false;  // and ends the process where it cannot
};

}  // namespace memgauge::pcp
