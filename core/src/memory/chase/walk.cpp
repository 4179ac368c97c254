#include "memory/chase/walk.hpp"

#include <cstdint>

namespace memgauge::memory {

namespace {

// Hops between two branches of the loop: the loop's own instructions become invisible even beside
// loads of four cycles.
constexpr std::size_t unroll = 64;

template <std::size_t hops>
[[gnu::always_inline]] inline void** follow(void** position) noexcept {
    if constexpr (hops == 1) {
        return static_cast<void**>(*position);
    } else {
        return follow<hops - hops / 2>(follow<hops / 2>(position));
    }
}

}  // namespace

void** walk(void** position, std::size_t hops) noexcept {
    for (std::size_t step = hops / unroll; step != 0; --step) {
        position = follow<unroll>(position);
    }
    for (std::size_t rest = hops % unroll; rest != 0; --rest) {
        position = follow<1>(position);
    }
    // The result is used in a way no compiler sees through, even when it inlines the caller.
    asm volatile("" : "+r"(position));
    return position;
}

void sweep(const std::byte* begin, std::size_t bytes) noexcept {
    constexpr std::size_t line = 64;
    for (std::size_t at = 0; at < bytes; at += line) {
        asm volatile("" ::"r"(*reinterpret_cast<const std::uintptr_t*>(begin + at)));
    }
}

}  // namespace memgauge::memory
