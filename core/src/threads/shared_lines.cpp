#include "memgauge/shared_lines.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>

#include "memgauge/names.hpp"
#include "threads/exchange.hpp"
#include "threads/spin.hpp"

namespace memgauge {

namespace {

constexpr std::size_t lines = 32;
constexpr unsigned most_batches = 1024;
constexpr unsigned most_round_trips = 65'536;
constexpr std::uint32_t most_operations = 1U << 30U;

constexpr Names<2> contention_names{"fetch-add", "compare-and-swap"};

using Line = std::atomic<std::uint32_t>;

class Server final : public Job {
public:
    explicit Server(Exchange& exchange) : exchange_(exchange) {}

    void prepare() override { exchange_.reset(); }
    void run(ThreadSlice& slice) noexcept override {
        if (const auto stamp = exchange_.serve()) slice.iterations.push_back(*stamp);
    }

private:
    Exchange& exchange_;
};

class Answerer final : public Job {
public:
    explicit Answerer(Exchange& exchange) : exchange_(exchange) {}

    void run(ThreadSlice& slice) noexcept override {
        if (const auto stamp = exchange_.answer()) slice.iterations.push_back(*stamp);
    }

private:
    Exchange& exchange_;
};

// The line counts what all have done, so that all work until the end and none alone after it.
class Contender final : public Job {
public:
    Contender(Line& line, Contention how, std::uint32_t operations)
        : line_(line), how_(how), operations_(operations) {}

    // By each thread, before the barrier.
    void prepare() override { line_.store(0, std::memory_order_relaxed); }

    void run(ThreadSlice& slice) noexcept override {
        const Clock& clock = Clock::instance();
        const Ticks begin = clock.now();
        if (how_ == Contention::fetch_add) {
            while (line_.fetch_add(1, std::memory_order_acq_rel) < operations_) {
            }
        } else {
            std::uint32_t seen = line_.load(std::memory_order_relaxed);
            while (seen < operations_) {
                if (line_.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel,
                                                std::memory_order_relaxed)) {
                    ++seen;
                }
            }
        }
        slice.iterations.push_back({begin, clock.now()});
    }

private:
    Line& line_;
    Contention how_;
    std::uint32_t operations_;
};

void check_amount(const char* what, std::uint64_t amount, std::uint64_t least, std::uint64_t most) {
    if (amount >= least && amount <= most) return;
    throw RequestError(std::to_string(amount) + " " + what + " cannot be timed; ask for " +
                       std::to_string(least) + " to " + std::to_string(most));
}

void check_ranks(const std::vector<std::size_t>& ranks, std::size_t team_size) {
    std::vector<std::size_t> sorted(ranks);
    std::ranges::sort(sorted);
    const bool twice = std::ranges::adjacent_find(sorted) != sorted.end();
    if (!sorted.empty() && !twice && sorted.back() < team_size) return;
    throw RequestError(
        "these threads cannot share a line; name each once, by a rank below the "
        "team's size of " +
        std::to_string(team_size));
}

}  // namespace

std::string_view to_string(Contention how) noexcept {
    return name_of(contention_names, how);
}
Contention contention_from_string(std::string_view name) {
    return value_of<Contention>(contention_names, "contention", name);
}

struct SharedLines::State {
    State(Team& a_team, const BufferRequest& request, const StopCheck& stop)
        : team(a_team), buffer(request, stop) {}

    [[nodiscard]] Line& next_line() noexcept {
        next = (next + 1) % lines;
        return *std::launder(reinterpret_cast<Line*>(buffer.data() + next * line_bytes));
    }

    Slice exchange(std::size_t a, std::size_t b, const ExchangePlan& plan, double& one_way_ns) {
        Exchange exchanged(next_line(), plan);
        Server server(exchanged);
        Answerer answerer(exchanged);
        std::vector<Job*> jobs(team.size(), nullptr);
        jobs[a] = &server;
        jobs[b] = &answerer;
        Slice slice = team.run(jobs);
        one_way_ns = exchanged.one_way_ns();
        return slice;
    }

    Team& team;
    Buffer buffer;
    std::size_t next = 0;
};

SharedLines::SharedLines(Team& team, std::size_t home_rank, const MemorySource& memory,
                         const StopCheck& stop) {
    check_ranks({home_rank}, team.size());
    BufferRequest request;
    request.bytes = lines * line_bytes;
    request.pages = PagePolicy::k4;
    request.memory = memory;
    state_ = std::make_unique<State>(team, request, stop);
    std::byte* const data = state_->buffer.data();
    const auto touch = [&](std::size_t rank) {
        if (rank != home_rank) return;
        for (std::size_t line = 0; line < lines; ++line) new (data + line * line_bytes) Line(0);
    };
    team.parallel(touch, stop);
}

SharedLines::~SharedLines() = default;

HandoverSlices SharedLines::hand_over(std::size_t a, std::size_t b, unsigned batches,
                                      unsigned batch_round_trips) {
    check_ranks({a, b}, state_->team.size());
    check_amount("batches", batches, 1, most_batches);
    check_amount("round trips", batch_round_trips, Exchange::least_round_trips, most_round_trips);
    HandoverSlices slices;
    double one_way_ns = -1.0;
    double ignored = -1.0;
    slices.store =
        state_->exchange(a, b, {Handover::store, batches, batch_round_trips}, one_way_ns);
    slices.compare_and_swap =
        state_->exchange(a, b, {Handover::compare_and_swap, batches, batch_round_trips}, ignored);
    slices.store.pingpong_ns = one_way_ns;
    slices.compare_and_swap.pingpong_ns = one_way_ns;
    return slices;
}

Slice SharedLines::contend(const std::vector<std::size_t>& ranks, Contention how,
                           std::uint32_t operations) {
    check_ranks(ranks, state_->team.size());
    check_amount("operations", operations, 1, most_operations);
    const double pingpong_ns = state_->team.pingpong_ns(ranks);
    Contender contender(state_->next_line(), how, operations);
    std::vector<Job*> jobs(state_->team.size(), nullptr);
    for (const std::size_t rank : ranks) jobs[rank] = &contender;
    Slice slice = state_->team.run(jobs);
    slice.pingpong_ns = pingpong_ns;
    return slice;
}

Backing SharedLines::backing() const {
    return state_->buffer.backing();
}

}  // namespace memgauge
