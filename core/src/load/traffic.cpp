#include "memgauge/traffic.hpp"

#include <string>

#include "kernels/arrays/replay.hpp"
#include "load/jobs.hpp"
#include "memory/chase/ring_access.hpp"

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

std::vector<load::Memory> make_memories(const Team& team, const TrafficRequest& request,
                                        const StopCheck& stop) {
    check_rank(team, request);
    const load::Layout layout = load::lay_out(request.bytes, load::cache_line_bytes());
    std::vector<load::Memory> memories;
    for (std::size_t rank = request.first_rank; rank < team.size(); ++rank) {
        memories.emplace_back(request, layout, memories.size() * layout.region_elements(), stop);
    }
    return memories;
}

Generators make_generators(const std::vector<load::Memory>& memories) {
    Generators generators;
    for (const load::Memory& memory : memories) {
        generators.push_back(std::make_unique<Generator>(memory.regions()));
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

// What the generators did in the probe's window.
void count_window(const load::Probe& probe, const Generators& generators, Slice& slice) {
    for (std::size_t i = 0; i < generators.size(); ++i) {
        const std::uint64_t line = generators[i]->line_bytes();
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
    State(Team& owner, const TrafficRequest& asked, const StopCheck& stop)
        : team(owner),
          first_rank(asked.first_rank),
          memories(make_memories(owner, asked, stop)),
          generators(make_generators(memories)) {}

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
    std::vector<load::Memory> memories;
    Generators generators;
};

Traffic::Traffic(Team& team, const TrafficRequest& request, const StopCheck& stop)
    : state_(std::make_unique<State>(team, request, stop)) {
    const State& state = *state_;
    state.on_generators([&](std::size_t index) { state.memories[index].fill(state.team); }, stop);
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
    LoadedSlice result{state.team.run(pointers), probe.walk().load_ns()};
    result.slice.pingpong_ns = pingpong_ns;
    count_window(probe, state.generators, result.slice);
    return result;
}

std::vector<ArrayValidation> Traffic::validate(const StopCheck& stop) {
    const State& state = *state_;
    std::vector<kernels::Deviation> found(state.generators.size());
    state.on_generators(
        [&](std::size_t index) { found[index] = state.memories[index].deviation(state.team); },
        stop);
    kernels::Deviation total;
    for (const kernels::Deviation& of_one : found) total.add(of_one);
    const std::size_t elements =
        found.size() * state.memories.front().regions().layout.region_elements();
    const double average = total.sum / static_cast<double>(elements);
    const double epsilon = kernels::stream_epsilon(ElementType::f64);
    return {{'w', average, epsilon, elements, total.failed, total.first_failed,
             total.failed == 0 && average <= epsilon}};
}

void Traffic::corrupt(std::size_t element) {
    const load::Regions& regions = state_->memories.front().regions();
    if (element >= regions.layout.region_elements()) {
        throw RequestError("no element " + std::to_string(element) + " to corrupt: there are " +
                           std::to_string(regions.layout.region_elements()));
    }
    kernels::flip_bit(ElementType::f64, reinterpret_cast<std::byte*>(regions.writes + element));
}

std::vector<Backing> Traffic::backing() const {
    std::vector<Backing> backings;
    for (const load::Memory& memory : state_->memories) {
        backings.push_back(memory.buffer().backing());
    }
    return backings;
}

}  // namespace memgauge
