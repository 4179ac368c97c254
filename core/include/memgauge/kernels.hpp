#pragma once
// The memory kernels: one template per access pattern, compiled per instruction set, chosen at run
// time. Parameters, not file names, select type, store kind, unroll, sub-streams and prefetch.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "memgauge/error.hpp"

namespace memgauge {

// copy c=a, scale b=s*c, add c=a+b, triad a=b+s*c (McCalpin's STREAM); read sums a, write stores
// a ramp to a, update a=a+s*b (daxpy, saxpy).
enum class Operation : std::uint8_t { copy, scale, add, triad, read, write, update };
enum class ElementType : std::uint8_t { f32, f64 };
// standard: a plain loop, as a compiler makes of STREAM's source for this processor. tuned:
// explicit vectors.
enum class Variant : std::uint8_t { standard, tuned };
// flushed: temporal stores, then every line written is written back to memory, and one fence at the
// end of each call: how data are made to outlast a power failure.
enum class StoreKind : std::uint8_t { temporal, non_temporal, flushed };
// translated: the address of every element is found from its object, as libpmemobj's D_RO and D_RW
// find it. Where only what is read, or only what is written, lies in a pool: the next two.
enum class Access : std::uint8_t { direct, translated, translated_source, translated_destination };
enum class Isa : std::uint8_t { generic, sse2, avx2, avx512, neon, vsx };

std::string_view to_string(Operation) noexcept;
std::string_view to_string(ElementType) noexcept;  // "float", "double"
std::string_view to_string(Variant) noexcept;
std::string_view to_string(StoreKind) noexcept;  // "temporal", "non-temporal", "flushed"
std::string_view to_string(Access) noexcept;     // "direct", "translated", "translated-source", ...
std::string_view to_string(Isa) noexcept;
Operation operation_from_string(std::string_view);  // these throw RequestError naming the choices
ElementType element_type_from_string(std::string_view);
Variant variant_from_string(std::string_view);
StoreKind store_kind_from_string(std::string_view);
Access access_from_string(std::string_view);
Isa isa_from_string(std::string_view);

std::size_t element_bytes(ElementType) noexcept;

// What the plain loops were compiled for that this process runs: the instruction set and width of
// vectors that gcc -march=native takes on this processor, as far as loops were compiled for it.
Isa standard_isa() noexcept;

struct KernelSpec {
    Operation operation = Operation::triad;
    ElementType element = ElementType::f64;
    Variant variant = Variant::standard;
    Isa isa = standard_isa();               // ignored for translated access
    StoreKind store = StoreKind::temporal;  // non_temporal of tuned only
    unsigned unroll = 1;                    // vectors per step and sub-stream: 1, 2 or 4
    unsigned streams = 1;                   // sub-streams walked side by side: 1, 2 or 4
    std::size_t prefetch_near_bytes = 0;    // 0: none. Into the nearest level, non-temporal hint
    std::size_t prefetch_far_bytes = 0;     // 0: none. Into the second level; needs near > 0
    Access access = Access::direct;         // others of standard only
};

// How the arrays of a kernel are accessed, where `asked` is direct or translated and the arrays it
// reads and those it writes may lie in pools or not. RequestError: translated, and none does that
// the operation uses.
Access access_of(Access asked, Operation operation, bool source_in_pool, bool destination_in_pool);

struct TranslatedOperands;  // src/kernels/translated.hpp

// Operands of one call. Arrays an operation does not use may be null. Counts in elements;
// `count` may be any number: heads and tails are handled inside.
struct KernelOperands {
    void* a = nullptr;
    void* b = nullptr;
    void* c = nullptr;
    std::size_t count = 0;
    double scalar = 0.0;
    double ramp_begin = 0.0;  // write: a[i] = ramp_begin + i * ramp_step
    double ramp_step = 0.0;
    std::size_t prefetch_near_bytes = 0;
    std::size_t prefetch_far_bytes = 0;
    const TranslatedOperands* translated = nullptr;  // of translated access
};

// Returns a value that depends on everything loaded by `read` (0 for the others), so that loads
// cannot be optimised away.
using KernelFunction = double (*)(const KernelOperands&) noexcept;

// Instruction sets this process can execute, best for streaming first; always ends with generic.
std::vector<Isa> supported_isas();
// Those for which there are plain loops that this process can execute; begins with standard_isa().
std::vector<Isa> standard_isas();
// RequestError when the machine cannot run it or no such variant was compiled.
KernelFunction find_kernel(const KernelSpec& spec);

// How far ahead a tuned kernel prefetches, see KernelSpec.
struct PrefetchDistances {
    std::size_t near_bytes = 0;
    std::size_t far_bytes = 0;
};
// Every tuned spec of this operation and type that can run here, at each of these distances where
// it was compiled with prefetch of that kind (`write` has no sources to prefetch). find_kernel
// finds each of them.
std::vector<KernelSpec> tuned_specs(Operation operation, ElementType element,
                                    const std::vector<PrefetchDistances>& distances = {
                                        PrefetchDistances{}});

// The tuned spec to take where nothing was searched: measured to do well in general (see
// src/kernels/dispatch.cpp), with distances of 0.
KernelSpec default_tuned_spec(Operation operation, ElementType element);

// Bytes per element: as STREAM counts them, and as memory moves them when a temporal store first
// reads its line (write-allocate). Whether hardware evades the allocation is not known here.
struct ElementTraffic {
    unsigned counted_read;
    unsigned counted_write;
    unsigned write_allocate;  // extra reads for temporal stores to lines not read by the kernel
};
ElementTraffic traffic(const KernelSpec& spec) noexcept;

// The instruction by which flushed stores write a line back here, such as "clwb" or "dc cvap".
std::string_view write_back_instruction() noexcept;

}  // namespace memgauge
