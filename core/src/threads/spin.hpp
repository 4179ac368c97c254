#pragma once
// Waiting without sleeping, for threads that each own a CPU.

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memgauge {

// Two 64-byte lines, as x86 prefetches them in pairs, and one line of POWER.
inline constexpr std::size_t line_bytes = 128;

// Tells the core that this is a wait loop, so that an SMT sibling gets its share.
inline void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#elif defined(__powerpc64__)
    asm volatile("or 27,27,27");
#endif
}

// A barrier for `parties` threads; reusable at once. Each spins for some tens of microseconds and
// then offers its CPU at every turn, so that a descheduled party can come back to it.
class SpinBarrier {
public:
    explicit SpinBarrier(std::uint32_t parties) noexcept : parties_(parties) {}

    // The last to arrive runs `release` before the others go on.
    template <class Release>
    void arrive_and_wait(Release&& release) noexcept {
        const std::uint32_t phase = phase_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == parties_) {
            arrived_.store(0, std::memory_order_relaxed);
            release();
            phase_.store(phase + 1, std::memory_order_release);
            return;
        }
        std::uint32_t turns = 0;
        while (phase_.load(std::memory_order_acquire) == phase) {
            relax();
            if (++turns > turns_before_yield) sched_yield();
        }
    }
    void arrive_and_wait() noexcept {
        arrive_and_wait([] {});
    }

private:
    static constexpr std::uint32_t turns_before_yield = 4096;

    alignas(line_bytes) std::atomic<std::uint32_t> arrived_{0};
    alignas(line_bytes) std::atomic<std::uint32_t> phase_{0};
    alignas(line_bytes) std::uint32_t parties_;
};

}  // namespace memgauge
