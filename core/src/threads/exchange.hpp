#pragma once
// Two threads hand one cache line back and forth.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "memgauge/clock.hpp"
#include "memgauge/team.hpp"

namespace memgauge {

// store: a thread waits with loads, and answers with a store. compare_and_swap: trying to swap is
// waiting and answering.
enum class Handover : std::uint8_t { store, compare_and_swap };

// What one line is handed over with, and how often: a warm-up batch, then the timed ones.
struct ExchangePlan {
    Handover how = Handover::store;
    unsigned batches = 1;
    unsigned batch_round_trips = 8;
};

// The line holds 0 at first, then 1, 2, 3, ... by turns: even numbers are for the server to follow,
// odd ones for the answerer. A partner that does not run ends the exchange; both give up then.
class Exchange {
public:
    static constexpr unsigned least_round_trips = 4;  // of a batch

    Exchange(std::atomic<std::uint32_t>& line, const ExchangePlan& plan)
        : line_(line),
          how_(plan.how),
          batches_(std::max(1u, plan.batches)),
          batch_round_trips_(std::max(least_round_trips, plan.batch_round_trips)) {
        batch_ticks_.reserve(batches_);
    }

    // Before both threads start.
    void reset() noexcept {
        line_.store(0, std::memory_order_relaxed);
        batch_ticks_.clear();
    }

    // The one thread: the time of its timed batches; none when it gave up.
    std::optional<Stamp> serve() noexcept {
        return how_ == Handover::store ? serve_by<Handover::store>()
                                       : serve_by<Handover::compare_and_swap>();
    }

    // The other: a stretch of time that lies within the server's; none when it gave up.
    std::optional<Stamp> answer() noexcept {
        return how_ == Handover::store ? answer_by<Handover::store>()
                                       : answer_by<Handover::compare_and_swap>();
    }

    // One way, in ns, by the first quartile over batches; negative when the exchange was given up.
    // Batches in which the host took a CPU away, or an interrupt came, lie above it.
    [[nodiscard]] double one_way_ns() {
        if (batch_ticks_.size() < batches_) return -1.0;
        const auto index = static_cast<std::ptrdiff_t>(low_quantile * (batches_ - 1));
        std::nth_element(batch_ticks_.begin(), batch_ticks_.begin() + index, batch_ticks_.end());
        const auto ticks = static_cast<double>(batch_ticks_[static_cast<std::size_t>(index)]);
        return ticks * Clock::instance().info().ns_per_tick / (2.0 * batch_round_trips_);
    }

private:
    static constexpr double low_quantile = 0.25;
    static constexpr double patience_ns = 5e6;
    // Turns of a spin between two looks at the clock.
    static constexpr unsigned turns_per_look = 1024;
    static constexpr std::uint32_t given_up = std::numeric_limits<std::uint32_t>::max();

    // Waits until the line holds `turn`, and writes the next number to it; false when given up. No
    // pause in the loop: its length would be measured.
    template <Handover how>
    bool take(std::uint32_t turn, Ticks give_up) noexcept {
        for (unsigned turns = 1;; ++turns) {
            std::uint32_t seen = turn;
            if constexpr (how == Handover::compare_and_swap) {
                if (line_.compare_exchange_strong(seen, turn + 1, std::memory_order_acq_rel,
                                                  std::memory_order_acquire)) {
                    return true;
                }
            } else {
                seen = line_.load(std::memory_order_acquire);
                if (seen == turn) {
                    line_.store(turn + 1, std::memory_order_release);
                    return true;
                }
            }
            if (seen == given_up) return false;
            if (turns % turns_per_look == 0 && clock_.now() > give_up) {
                line_.store(given_up, std::memory_order_release);
                return false;
            }
        }
    }

    // `count` turns, every other number from `turn` on.
    template <Handover how>
    bool take_many(std::uint32_t& turn, std::size_t count, Ticks give_up) noexcept {
        for (std::size_t i = 0; i < count; ++i, turn += 2) {
            if (!take<how>(turn, give_up)) return false;
        }
        return true;
    }

    // From one turn taken to the next is a round trip.
    template <Handover how>
    std::optional<Stamp> serve_by() noexcept {
        const Ticks give_up = clock_.now() + clock_.from_duration_ns(patience_ns);
        std::uint32_t turn = 0;
        if (!take_many<how>(turn, batch_round_trips_, give_up)) return std::nullopt;
        const Ticks begin = clock_.now();
        Ticks last = begin;
        for (unsigned batch = 0; batch < batches_; ++batch) {
            if (!take_many<how>(turn, batch_round_trips_, give_up)) return std::nullopt;
            const Ticks now = clock_.now();
            batch_ticks_.push_back(now - last);
            last = now;
        }
        return Stamp{begin, last};
    }

    template <Handover how>
    std::optional<Stamp> answer_by() noexcept {
        const Ticks give_up = clock_.now() + clock_.from_duration_ns(patience_ns);
        const std::size_t all = std::size_t{batch_round_trips_} * (batches_ + 1);
        const std::size_t before = std::size_t{batch_round_trips_} + 1;
        std::uint32_t turn = 1;
        if (!take_many<how>(turn, before, give_up)) return std::nullopt;
        const Ticks begin = clock_.now();
        if (!take_many<how>(turn, all - 2 - before, give_up)) return std::nullopt;
        const Ticks end = clock_.now();
        // The server's last turn waits for the first of these, so the stamp lies before its end.
        if (!take_many<how>(turn, 2, give_up)) return std::nullopt;
        return Stamp{begin, end};
    }

    std::atomic<std::uint32_t>& line_;
    Handover how_;
    unsigned batches_;
    unsigned batch_round_trips_;
    const Clock& clock_ = Clock::instance();
    std::vector<Ticks> batch_ticks_;
};

}  // namespace memgauge
