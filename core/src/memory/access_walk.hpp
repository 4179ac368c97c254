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

// Has addresses all over that memory translated without reading it, so that translations are found
// as in a walk that goes on for long: the lines of its page table in the caches, and in the TLB
// other pages than those that flush() has just asked for.
void look_up_translations(const Accessed& memory) noexcept;

}  // namespace memgauge::memory
