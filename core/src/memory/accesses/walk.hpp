#pragma once
// The timed loops of AccessBuffer.

#include <cstddef>
#include <cstdint>

#include "memgauge/accesses.hpp"

namespace memgauge::memory {

struct Accessed {
    std::byte* base;
    std::size_t bytes;
    float scalar;  // a of saxpy
};

// `accesses` of a checked pattern, from its access number `counter` on. Returns something that
// depends on everything read.
std::uint64_t access(const Accessed& memory, const AccessPattern& pattern, std::uint64_t counter,
                     std::size_t accesses) noexcept;

// Removes from all caches what the same call of access() would read.
void flush(const Accessed& memory, const AccessPattern& pattern, std::uint64_t counter,
           std::size_t accesses) noexcept;

// Leaves TLB, page table and caches as a walk that goes on for long leaves them, without reading
// anything of the `coming` accesses from number `counter` on: those before them are made, without
// waiting, as many as fill a private cache. Saxpy, which would change what it walks over, only has
// addresses all over the memory translated.
void lead_in(const Accessed& memory, const AccessPattern& pattern, std::uint64_t counter,
             std::size_t coming) noexcept;

}  // namespace memgauge::memory
