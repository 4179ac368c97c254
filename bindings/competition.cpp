#include "memgauge/competition.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "closable.hpp"
#include "memory.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

using RunningCompetition = Closable<Competition>;
using ActiveWork = std::vector<std::pair<std::size_t, Work>>;
using Window = std::optional<std::pair<std::int64_t, std::int64_t>>;

// Looks at its memories only when a competition is made of it: they may have been closed by then.
struct Member {
    std::size_t rank;
    const Memory* source;
    const Memory* destination;
    unsigned sources;
    unsigned destinations;

    [[nodiscard]] MemberRequest request() const {
        return {rank, sources > 0 ? source_of(source) : MemorySource{},
                destinations > 0 ? source_of(destination) : MemorySource{}, sources, destinations};
    }
};

void init_member(Member* self, std::size_t rank, const Memory* source, const Memory* destination,
                 unsigned sources, unsigned destinations) {
    new (self) Member{rank, source, destination, sources, destinations};
}

void init_competition(RunningCompetition* self, Team& team,
                      const std::vector<const Member*>& members, std::size_t array_bytes,
                      std::string_view element, std::string_view pages) {
    CompetitionRequest request;
    for (const Member* member : members) request.members.push_back(member->request());
    request.array_bytes = array_bytes;
    request.element = element_type_from_string(element);
    request.pages = page_policy_from_string(pages);
    new (self) RunningCompetition(std::make_unique<Competition>(team, request, is_wished_to_stop),
                                  "Competition");
}

std::vector<ActiveMember> members_of(const ActiveWork& active) {
    std::vector<ActiveMember> members;
    for (const auto& [member, work] : active) members.push_back({member, work});
    return members;
}

CompetitionSlice run_competition(RunningCompetition& self, const ActiveWork& active,
                                 std::size_t iteration_bytes, double duration_ns,
                                 std::size_t iterations, std::size_t lead_in_iterations,
                                 bool pingpong) {
    const CompetitionTiming timing{.iteration_bytes = iteration_bytes,
                                   .lead_in_iterations = lead_in_iterations,
                                   .duration_ns = duration_ns,
                                   .iterations = iterations,
                                   .pingpong = pingpong};
    return self.with(
        [&](Competition& competition) { return competition.run(members_of(active), timing); });
}

CompetitionSlice run_probed(RunningCompetition& self, const ActiveWork& active,
                            std::size_t iteration_bytes, Closable<ChaseRing>& ring,
                            std::size_t hops, std::size_t warm_hops, std::size_t iterations,
                            std::size_t timed_loads, std::size_t lead_in_iterations,
                            bool pingpong) {
    const CompetitionTiming timing{.iteration_bytes = iteration_bytes,
                                   .lead_in_iterations = lead_in_iterations,
                                   .pingpong = pingpong};
    const ProbeWalk walk{hops, warm_hops, iterations, timed_loads};
    return self.with([&](Competition& competition) {
        return ring.with([&](ChaseRing& walked) {
            return competition.run_probed(members_of(active), timing, walked, walk);
        });
    });
}

std::pair<unsigned, unsigned> arrays_needed(const Work& work) {
    const ArrayCounts counts = needs(work);
    return {counts.sources, counts.destinations};
}

Window window_ns(const CompetitionSlice& slice) {
    if (slice.window_begin >= slice.window_end) return std::nullopt;
    const Clock& clock = Clock::instance();
    return std::pair(clock.to_ns(slice.window_begin), clock.to_ns(slice.window_end));
}

void register_requests(nb::module_& module) {
    module.def("arrays_needed", &arrays_needed, "work"_a,
               "Source arrays it reads and destination arrays it writes, as a Member counts them.");
    final_class<Member>(module, "Member")
        .def("__init__", &init_member, "rank"_a, "source"_a = nb::none(),
             "destination"_a = nb::none(), "sources"_a = 1, "destinations"_a = 1,
             nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
             "Arrays of one thread of a team: so many (0 to 2; 0 or 1) in each memory.\n\n"
             "A thread may be several members and works as one of them at a time.");
    final_class<CompetitionSlice>(module, "CompetitionSlice")
        .def_prop_ro(
            "slice", [](const CompetitionSlice& s) -> const auto& { return s.slice; },
            "`read_bytes` and `write_bytes` are those of one iteration, write-allocate left out.")
        .def_prop_ro("window_ns", &window_ns,
                     "Begin and end of the time in which all that had work were at it; None: there "
                     "was none.")
        .def_prop_ro(
            "load_ns", [](const CompetitionSlice& s) -> const auto& { return s.load_ns; },
            "As a LoadedSlice's, where thread 0 probed.");
}

}  // namespace

void register_competition(nb::module_& module) {
    register_requests(module);
    final_class<RunningCompetition>(module, "Competition")
        .def("__init__", &init_competition, "team"_a, "members"_a, "array_bytes"_a,
             "element"_a = "double", "pages"_a = "auto", nb::keep_alive<1, 2>(), ReleaseGil(),
             "Each array of each member takes `array_bytes`, rounded down to whole 256 bytes.")
        .def_prop_ro("array_bytes", RunningCompetition::getter(&Competition::array_bytes))
        .def("run", &run_competition, "active"_a, "iteration_bytes"_a, "duration_ns"_a = 0.0,
             "iterations"_a = 0, "lead_in_iterations"_a = 1, "pingpong"_a = false, ReleaseGil(),
             "All work for `duration_ns`, or for so many iterations each, after which a thread "
             "sleeps.\n\n"
             "`active`: members by index, and what each does. `iteration_bytes`: a kernel's of "
             "each array it walks, traffic's of all its accesses; rounded to what the work can be "
             "cut into.")
        .def(
            "run_probed", &run_probed, "active"_a, "iteration_bytes"_a, "ring"_a, "hops"_a,
            "warm_hops"_a = 0, "iterations"_a = 1, "timed_loads"_a = 0, "lead_in_iterations"_a = 1,
            "pingpong"_a = false, ReleaseGil(),
            "Thread 0 walks the ring, `iterations` times `hops`; the others work until it is done.")
        .def("validate", RunningCompetition::method(&Competition::validate), ReleaseGil(),
             "Of each member that ever worked, each array: sources `s` and `t`, destination `d`.")
        .def("corrupt", RunningCompetition::method(&Competition::corrupt), "member"_a, "element"_a,
             ReleaseGil())
        .def("backing", RunningCompetition::method(&Competition::backing), ReleaseGil(),
             "Of each member: its sources', then its destination's.")
        .def("close", &RunningCompetition::close, ReleaseGil(),
             "Free the arrays now; later calls raise RuntimeError.");
}

}  // namespace memgauge::bindings
