// Core-to-core latency: two threads hand one cache line back and forth. On a virtual machine it
// shows whether the two CPUs share a core complex just now.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "memgauge/team.hpp"
#include "threads/spin.hpp"
#include "threads/team_state.hpp"

namespace memgauge {
namespace {

constexpr double not_taken = -1.0;
constexpr unsigned batch_round_trips = 8;
// Batches in which the host took a CPU away, or an interrupt came, lie above it.
constexpr double low_quantile = 0.25;
// A partner that does not run ends the exchange; both give up then.
constexpr double patience_ns = 5e6;
// Turns of a spin between two looks at the clock.
constexpr unsigned turns_per_look = 1024;

// The line that changes hands: 0 at first, then 1, 2, 3, ... by turns.
class Exchange {
public:
    Exchange(std::size_t first, std::size_t second, unsigned round_trips)
        : first_(first),
          second_(second),
          batches_(std::max(1u, (round_trips + batch_round_trips - 1) / batch_round_trips)) {
        batch_ticks_.reserve(batches_);
    }

    // Called by both threads; `rank` is one of the two.
    void play(std::size_t rank) noexcept {
        const Clock& clock = Clock::instance();
        const Ticks give_up = clock.now() + clock.from_duration_ns(patience_ns);
        if (rank == first_) {
            serve(clock, give_up);
        } else {
            answer(clock, give_up);
        }
    }

    [[nodiscard]] bool has(std::size_t rank) const noexcept {
        return rank == first_ || rank == second_;
    }

    // One way, in ns; negative when the exchange was given up.
    [[nodiscard]] double one_way_ns() {
        if (batch_ticks_.size() < batches_) return not_taken;
        const auto index = static_cast<std::ptrdiff_t>(low_quantile * (batches_ - 1));
        std::nth_element(batch_ticks_.begin(), batch_ticks_.begin() + index, batch_ticks_.end());
        const auto ticks = static_cast<double>(batch_ticks_[static_cast<std::size_t>(index)]);
        return ticks * Clock::instance().info().ns_per_tick / (2.0 * batch_round_trips);
    }

private:
    static constexpr std::uint32_t given_up = std::numeric_limits<std::uint32_t>::max();

    // No pause in the loop: its length would be measured.
    bool wait_for(std::uint32_t turn, const Clock& clock, Ticks give_up) noexcept {
        for (unsigned turns = 1;; ++turns) {
            const std::uint32_t seen = turn_.load(std::memory_order_acquire);
            if (seen == turn) return true;
            if (seen == given_up) return false;
            if (turns % turns_per_look == 0 && clock.now() > give_up) {
                turn_.store(given_up, std::memory_order_release);
                return false;
            }
        }
    }

    // One batch from `turn` on; false when given up.
    bool rally(std::uint32_t& turn, const Clock& clock, Ticks give_up) noexcept {
        for (unsigned i = 0; i < batch_round_trips; ++i) {
            turn_.store(turn + 1, std::memory_order_release);
            turn += 2;
            if (!wait_for(turn, clock, give_up)) return false;
        }
        return true;
    }

    void serve(const Clock& clock, Ticks give_up) noexcept {
        std::uint32_t turn = 0;
        if (!rally(turn, clock, give_up)) return;  // meets the partner and warms up
        for (unsigned batch = 0; batch < batches_; ++batch) {
            const Ticks begin = clock.now();
            if (!rally(turn, clock, give_up)) return;
            batch_ticks_.push_back(clock.now() - begin);
        }
    }

    void answer(const Clock& clock, Ticks give_up) noexcept {
        const std::uint32_t last = 2 * batch_round_trips * (batches_ + 1);
        for (std::uint32_t turn = 1; turn < last; turn += 2) {
            if (!wait_for(turn, clock, give_up)) return;
            turn_.store(turn + 1, std::memory_order_release);
        }
    }

    alignas(line_bytes) std::atomic<std::uint32_t> turn_{0};
    alignas(line_bytes) std::size_t first_;
    std::size_t second_;
    unsigned batches_;
    std::vector<Ticks> batch_ticks_;
};

using Exchanges = std::vector<std::unique_ptr<Exchange>>;

// Plays the exchanges in one burst; each thread plays its own in order. Returns the slowest, or
// "not taken" when one is missing: it may have been the slowest.
double slowest_one_way_ns(Workers& workers, const std::vector<std::size_t>& ranks,
                          const Exchanges& exchanges) {
    const Workers::Claim claim(workers);
    workers.run(ranks, [&exchanges](std::size_t rank) {
        for (const auto& exchange : exchanges) {
            if (exchange->has(rank)) exchange->play(rank);
        }
    });
    double slowest = 0.0;
    for (const auto& exchange : exchanges) {
        const double ns = exchange->one_way_ns();
        if (ns < 0.0) return not_taken;
        slowest = std::max(slowest, ns);
    }
    return slowest;
}

constexpr unsigned default_round_trips = 200;
constexpr std::size_t largest_star = 8;

// Every thread with the first; in large teams every thread with the next, the even pairs at once
// and then the odd ones, so that the time taken does not grow with the team.
Exchanges team_exchanges(std::size_t threads) {
    Exchanges exchanges;
    const auto add = [&exchanges](std::size_t a, std::size_t b) {
        exchanges.push_back(std::make_unique<Exchange>(a, b, default_round_trips));
    };
    if (threads <= largest_star) {
        for (std::size_t i = 1; i < threads; ++i) add(0, i);
        return exchanges;
    }
    for (const std::size_t begin : {std::size_t{0}, std::size_t{1}}) {
        for (std::size_t i = begin; i + 1 < threads; i += 2) add(i, i + 1);
    }
    return exchanges;
}

}  // namespace

double Team::pingpong_ns(std::size_t a, std::size_t b, unsigned round_trips) {
    if (a == b || a >= size() || b >= size()) {
        throw RequestError("no ping-pong between threads " + std::to_string(a) + " and " +
                           std::to_string(b) + " of a team of " + std::to_string(size()) +
                           "; name two different ranks below its size");
    }
    Exchanges exchanges;
    exchanges.push_back(std::make_unique<Exchange>(a, b, std::min(round_trips, 1'000'000u)));
    return slowest_one_way_ns(state_->workers, {a, b}, exchanges);
}

double Team::pingpong_ns() {
    if (size() < 2) return not_taken;
    std::vector<std::size_t> ranks(size());
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank] = rank;
    return slowest_one_way_ns(state_->workers, ranks, team_exchanges(size()));
}

}  // namespace memgauge
