#pragma once
// A scrambled order that needs no table: every number below a power of two comes once.

#include <cstddef>
#include <cstdint>

namespace memgauge::kernels {

// A bijection on the numbers 0 .. mask, where mask + 1 is a power of two: multiplying by an odd
// number is one, and so is x ^ (x >> shift) for a shift of at least 1.
[[gnu::always_inline]] inline std::size_t scrambled(std::size_t index, std::size_t mask,
                                                    unsigned shift) noexcept {
    std::uint64_t x = (index * 0x9e3779b97f4a7c15U) & mask;
    x ^= x >> shift;
    return static_cast<std::size_t>((x * 0xbf58476d1ce4e5b9U) & mask);
}

}  // namespace memgauge::kernels
