#pragma once
// The processor's constant-rate counter, per architecture, and whether it may be trusted.

#include <time.h>

#include "memgauge/clock.hpp"

namespace memgauge::timing {

// The counter of this processor, or monotonic_raw when it has none that is invariant and that the
// kernel itself keeps time by. Whether it is fine enough is decided by measuring it (clock.cpp).
ClockSource trusted_counter();

inline std::uint64_t raw_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

// Reads the counter after all earlier loads and before any later instruction.
inline Ticks read_counter() noexcept {
#if defined(__x86_64__)
    // lfence waits for earlier instructions to complete and holds later ones back; rdtsc alone
    // does neither (Intel SDM volume 2, RDTSC; on AMD, Linux makes lfence dispatch-serialising).
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    asm volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (static_cast<std::uint64_t>(high) << 32U) | low;
#elif defined(__aarch64__)
    // isb keeps the read from being speculated early; it does not wait for loads, dsb does.
    std::uint64_t ticks = 0;
    asm volatile("dsb nshld\n\tisb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
#elif defined(__powerpc64__)
    // isync waits for all earlier instructions and discards what was fetched after it. 268: TBR.
    std::uint64_t ticks = 0;
    asm volatile("isync\n\tmfspr %0, 268\n\tisync" : "=r"(ticks) : : "memory");
    return ticks;
#else
    return raw_ns();
#endif
}

}  // namespace memgauge::timing
