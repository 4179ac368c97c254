#pragma once
// A scrambled order that needs no table: every number below a power of two comes once, then again
// in the same order. Included by files built with wider instruction sets: always inlined, so that
// nothing of it is emitted there.

#include <cstdint>

namespace memgauge {

// A linear congruential generator of full period (Hull and Dobell, "Random number generators", SIAM
// Review 4, 1962) with Knuth's multiplier of MMIX, whose upper bits, which take long to repeat, are
// laid over the lower ones, which do not. Few instructions: those between two loads limit how many
// are in flight. Neighbours in time lie on one page hardly more often than by chance; scrambling a
// counter by multiplications alone puts them there up to 36 times as often.
inline constexpr std::uint64_t scramble_multiplier = 6364136223846793005U;  // 1 modulo 4
inline constexpr std::uint64_t scramble_increment = 1442695040888963407U;   // odd

constexpr unsigned scramble_shift(unsigned bits) noexcept {
    return bits < 2 ? 1 : (bits + 1) / 2;
}

// The number at `state`, which goes on to the next; `mask` + 1 is the power of two.
[[gnu::always_inline]] inline std::uint64_t scrambled_next(std::uint64_t& state, std::uint64_t mask,
                                                           unsigned shift) noexcept {
    const std::uint64_t number = state ^ (state >> shift);
    state = (state * scramble_multiplier + scramble_increment) & mask;
    return number;
}

}  // namespace memgauge
