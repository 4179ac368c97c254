#pragma once
// What the threads of one run share: when to end, and who is at work still.

#include <atomic>
#include <cstdint>

#include "memgauge/clock.hpp"
#include "threads/spin.hpp"

namespace memgauge::competition {

// Each flag lies on lines of its own: those looked at all the time stay in every cache until they
// change, once.
class RunState {
public:
    explicit RunState(std::uint32_t runners) noexcept : waited_for_(runners), running_(runners) {}

    // The same for all: so long after the first of them asks, at `now`.
    Ticks end_after(Ticks duration, Ticks now) noexcept {
        Ticks end = 0;
        if (end_.compare_exchange_strong(end, now + duration)) return now + duration;
        return end;
    }

    // A runner made its first iteration.
    void begin() noexcept { waited_for_.fetch_sub(1, std::memory_order_relaxed); }
    [[nodiscard]] bool all_began() const noexcept {
        return waited_for_.load(std::memory_order_relaxed) == 0;
    }

    // A runner has ended what is timed. Ordered before the look at whether anybody sleeps, which
    // libstdc++'s notify_all() begins with: else processors with weak ordering could leave them so.
    void leave() noexcept {
        if (running_.fetch_sub(1) == 1) running_.notify_all();
    }
    [[nodiscard]] bool all_left() const noexcept {
        return running_.load(std::memory_order_relaxed) == 0;
    }
    // Without taking the CPU.
    void sleep_until_all_left() const noexcept {
        for (std::uint32_t left = running_.load(); left > 0; left = running_.load()) {
            running_.wait(left);
        }
    }

    // Whoever the runners work for is done.
    void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool is_stopped() const noexcept {
        return stopped_.load(std::memory_order_relaxed);
    }

private:
    alignas(line_bytes) std::atomic<Ticks> end_{0};
    alignas(line_bytes) std::atomic<std::uint32_t> waited_for_;
    alignas(line_bytes) std::atomic<std::uint32_t> running_;
    alignas(line_bytes) std::atomic<bool> stopped_{false};
};

}  // namespace memgauge::competition
