#include "memgauge/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/replay.hpp"
#include "load/jobs.hpp"
#include "memory/ring_access.hpp"

namespace memgauge {

using load::Generator;
using load::Generators;

namespace {

void check_rank(const Team& team, const TrafficRequest& request) {
    if (request.first_rank < team.size()) return;
    throw RequestError("no thread is left to make traffic from rank " +
                       std::to_string(request.first_rank) + " on: the team has " +
                       std::to_string(team.size()) + "; give more CPUs or a smaller first rank");
}

Generators make_generators(const Team& team, const TrafficRequest& request) {
    check_rank(team, request);
    const load::Layout layout = load::lay_out(request.bytes, load::cache_line_bytes());
    Generators generators;
    for (std::size_t rank = request.first_rank; rank < team.size(); ++rank) {
        const std::size_t first = generators.size() * layout.region_elements();
        generators.push_back(std::make_unique<Generator>(request, layout, first));
    }
    return generators;
}

// Bytes as pieces, rounded up.
std::size_t pieces_of(std::size_t bytes) {
    const std::size_t piece_bytes = kernels::lines_per_piece * load::cache_line_bytes();
    return bytes / piece_bytes + (bytes % piece_bytes == 0 ? 0 : 1);
}

std::vector<Job*> pointers_to(auto& jobs, std::size_t first_rank) {
    std::vector<Job*> pointers(first_rank, nullptr);
    for (auto& job : jobs) pointers.push_back(&job);
    return pointers;
}

// Ticks become whole ns, and equal ones are counted.
std::vector<std::pair<std::uint32_t, std::uint32_t>> histogram(std::vector<Ticks> ticks) {
    std::ranges::sort(ticks);
    const double ns_per_tick = Clock::instance().info().ns_per_tick;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> bins;
    for (const Ticks value : ticks) {
        const double ns = std::round(static_cast<double>(value) * ns_per_tick);
        const auto bin = static_cast<std::uint32_t>(std::min(ns, 0x1p32 - 1.0));
        if (bins.empty() || bins.back().first != bin) bins.emplace_back(bin, 0U);
        ++bins.back().second;
    }
    return bins;
}

// What the generators did in the probe's window.
void count_window(const load::Probe& probe, const Generators& generators, Slice& slice) {
    for (std::size_t i = 0; i < generators.size(); ++i) {
        const std::uint64_t line = generators[i]->memory().layout().line_bytes;
        const load::Counts& begin = probe.begin().issued[i];
        const load::Counts& end = probe.end().issued[i];
        ThreadSlice& thread = slice.threads[i + 1];
        thread.iterations.assign(1, {probe.begin().at, probe.end().at});
        thread.read_bytes = (end.reads - begin.reads) * line;
        thread.write_bytes = (end.writes - begin.writes) * line;
    }
}

}  // namespace

struct Traffic::State {
    State(Team& owner, const TrafficRequest& asked)
        : team(owner), first_rank(asked.first_rank), generators(make_generators(owner, asked)) {}

    void follow(const TrafficSpec& spec) const {
        const load::Mix mix = load::mix_of(spec);
        for (const auto& generator : generators) generator->follow(spec, mix);
    }
    // Calls work(generator index) on each generator's thread.
    template <class Work>
    void on_generators(const Work& work, const StopCheck& stop) const {
        team.parallel(
            [&](std::size_t rank) {
                if (rank >= first_rank) work(rank - first_rank);
            },
            stop);
    }

    Team& team;
    std::size_t first_rank;
    Generators generators;
};

Traffic::Traffic(Team& team, const TrafficRequest& request, const StopCheck& stop)
    : state_(std::make_unique<State>(team, request)) {
    const State& state = *state_;
    state.on_generators(
        [&](std::size_t index) { state.generators[index]->memory().fill(state.team); }, stop);
}

Traffic::~Traffic() = default;

Slice Traffic::run(const TrafficSpec& spec, std::size_t bytes, std::size_t lead_in_bytes,
                   bool pingpong) {
    const State& state = *state_;
    state.follow(spec);
    std::vector<load::FixedWork> jobs;
    for (const auto& generator : state.generators) {
        jobs.emplace_back(*generator, pieces_of(bytes), pieces_of(lead_in_bytes));
    }
    const double pingpong_ns = pingpong ? state.team.pingpong_ns() : -1.0;
    Slice slice = state.team.run(pointers_to(jobs, state.first_rank));
    slice.pingpong_ns = pingpong_ns;
    return slice;
}

LoadedSlice Traffic::run_loaded(const TrafficSpec& spec, ChaseRing& ring, std::size_t hops,
                                std::size_t warm_hops, std::size_t iterations,
                                std::size_t timed_loads, std::size_t lead_in_bytes, bool pingpong) {
    const State& state = *state_;
    if (state.first_rank != 1) {
        throw RequestError("cannot probe beside traffic that begins at rank " +
                           std::to_string(state.first_rank) +
                           ": the probe is thread 0; make the traffic with first rank 1");
    }
    if (&memory::RingAccess::team(ring) != &state.team) {
        throw RequestError(
            "cannot probe a ring of another team: make ring and traffic on the same one");
    }
    if (hops == 0) throw RequestError("a probe of 0 hops measures nothing: give at least 1");
    state.follow(spec);
    load::StopFlag stop;
    load::Probe probe(memory::RingAccess::position(ring), state.generators, stop,
                      {hops, warm_hops, iterations, timed_loads});
    std::vector<load::Background> jobs;
    for (const auto& generator : state.generators) {
        jobs.emplace_back(*generator, stop, pieces_of(lead_in_bytes));
    }
    std::vector<Job*> pointers = pointers_to(jobs, 1);
    pointers.front() = &probe;
    const double pingpong_ns = pingpong ? state.team.pingpong_ns() : -1.0;
    LoadedSlice result{state.team.run(pointers), histogram(probe.load_ticks())};
    result.slice.pingpong_ns = pingpong_ns;
    count_window(probe, state.generators, result.slice);
    return result;
}

std::vector<ArrayValidation> Traffic::validate(const StopCheck& stop) {
    const State& state = *state_;
    std::vector<kernels::Deviation> found(state.generators.size());
    state.on_generators(
        [&](std::size_t index) {
            found[index] = state.generators[index]->memory().deviation(state.team);
        },
        stop);
    kernels::Deviation total;
    for (const kernels::Deviation& of_one : found) total.add(of_one);
    const std::size_t elements =
        found.size() * state.generators.front()->memory().layout().region_elements();
    const double average = total.sum / static_cast<double>(elements);
    const double epsilon = kernels::stream_epsilon(ElementType::f64);
    return {{'w', average, epsilon, elements, total.failed, total.first_failed,
             total.failed == 0 && average <= epsilon}};
}

void Traffic::corrupt(std::size_t element) {
    const load::Memory& memory = state_->generators.front()->memory();
    if (element >= memory.layout().region_elements()) {
        throw RequestError("no element " + std::to_string(element) + " to corrupt: there are " +
                           std::to_string(memory.layout().region_elements()));
    }
    kernels::flip_bit(ElementType::f64, reinterpret_cast<std::byte*>(memory.writes() + element));
}

std::vector<Backing> Traffic::backing() const {
    std::vector<Backing> backings;
    for (const auto& generator : state_->generators) {
        backings.push_back(generator->memory().buffer().backing());
    }
    return backings;
}

}  // namespace memgauge
