// Core-to-core latency between the threads of a team. On a virtual machine it shows whether two
// CPUs share a core complex just now.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "memgauge/team.hpp"
#include "threads/exchange.hpp"
#include "threads/spin.hpp"
#include "threads/team_state.hpp"

namespace memgauge {
namespace {

constexpr double not_taken = -1.0;
constexpr unsigned batch_round_trips = 8;

unsigned batches_of(unsigned round_trips) {
    return std::max(1u, (round_trips + batch_round_trips - 1) / batch_round_trips);
}

// An exchange between two threads of a team, on a line of its own.
class PairExchange {
public:
    PairExchange(std::size_t first, std::size_t second, unsigned round_trips)
        : exchange_(line_, {.how = Handover::store,
                            .batches = batches_of(round_trips),
                            .batch_round_trips = batch_round_trips}),
          first_(first),
          second_(second) {}

    // Called by both threads; `rank` is one of the two.
    void play(std::size_t rank) noexcept {
        if (rank == first_) {
            static_cast<void>(exchange_.serve());
        } else {
            static_cast<void>(exchange_.answer());
        }
    }

    [[nodiscard]] bool has(std::size_t rank) const noexcept {
        return rank == first_ || rank == second_;
    }

    [[nodiscard]] double one_way_ns() { return exchange_.one_way_ns(); }

private:
    alignas(line_bytes) std::atomic<std::uint32_t> line_{0};
    alignas(line_bytes) Exchange exchange_;
    std::size_t first_;
    std::size_t second_;
};

using Exchanges = std::vector<std::unique_ptr<PairExchange>>;

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
Exchanges team_exchanges(const std::vector<std::size_t>& ranks) {
    Exchanges exchanges;
    const auto add = [&](std::size_t a, std::size_t b) {
        exchanges.push_back(
            std::make_unique<PairExchange>(ranks[a], ranks[b], default_round_trips));
    };
    if (ranks.size() <= largest_star) {
        for (std::size_t i = 1; i < ranks.size(); ++i) add(0, i);
        return exchanges;
    }
    for (const std::size_t begin : {std::size_t{0}, std::size_t{1}}) {
        for (std::size_t i = begin; i + 1 < ranks.size(); i += 2) add(i, i + 1);
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
    exchanges.push_back(std::make_unique<PairExchange>(a, b, std::min(round_trips, 1'000'000u)));
    return slowest_one_way_ns(state_->workers, {a, b}, exchanges);
}

double Team::pingpong_ns(const std::vector<std::size_t>& ranks) {
    if (ranks.size() < 2) return not_taken;
    return slowest_one_way_ns(state_->workers, ranks, team_exchanges(ranks));
}

double Team::pingpong_ns() {
    std::vector<std::size_t> ranks(size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    return pingpong_ns(ranks);
}

}  // namespace memgauge
