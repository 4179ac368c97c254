#include "memgauge/team.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "memgauge/chase.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

using Nanoseconds = nb::typed<nb::list, std::int64_t>;

// Built at once: a slice may hold thousands of stamps, and Python asks for each edge once.
Nanoseconds stamps_ns(const ThreadSlice& slice, Ticks Stamp::* edge) {
    const Clock& clock = Clock::instance();
    nb::list list;
    for (const Stamp& stamp : slice.iterations) list.append(clock.to_ns(stamp.*edge));
    return nb::borrow<Nanoseconds>(list);
}

std::optional<double> taken(double pingpong_ns) {
    return pingpong_ns < 0.0 ? std::nullopt : std::optional(pingpong_ns);
}

std::optional<std::pair<Reading, Reading>> readings(const Team& team) {
    const auto& taken = team.readings();
    if (!taken) return std::nullopt;
    return std::pair(taken->before, taken->after);
}

void register_slice(nb::module_& module) {
    final_class<ThreadSlice>(module, "ThreadSlice",
                             "What one thread did; its lists are made anew at each access.")
        .def_ro("cpu", &ThreadSlice::cpu)
        .def_ro("involuntary_switches", &ThreadSlice::involuntary_switches)
        .def_ro("page_faults", &ThreadSlice::page_faults)
        .def_ro("read_bytes", &ThreadSlice::read_bytes,
                "Between the stamps, where the job counts its own work; else 0, as is the next.")
        .def_ro("write_bytes", &ThreadSlice::write_bytes)
        .def_prop_ro("begin_ns",
                     [](const ThreadSlice& slice) { return stamps_ns(slice, &Stamp::begin); })
        .def_prop_ro("end_ns",
                     [](const ThreadSlice& slice) { return stamps_ns(slice, &Stamp::end); });
    final_class<Slice>(module, "Slice")
        .def_prop_ro("threads", [](const Slice& slice) -> const auto& { return slice.threads; })
        .def_prop_ro("pingpong_ns", [](const Slice& slice) { return taken(slice.pingpong_ns); });
}

}  // namespace

void register_team(nb::module_& module) {
    register_slice(module);
    module.def("allowed_cpus", &allowed_cpus,
               "CPUs this process may run on (affinity mask, cgroup cpuset, online), ascending.");
    final_class<Team>(module, "Team")
        .def(nb::init<std::vector<int>>(), "cpus"_a, ReleaseGil(),
             "Raises RequestError: no CPU, one listed twice, or one not allowed to this process.")
        .def_prop_ro("cpus", &Team::cpus)
        .def(
            "read_with",
            [](Team& team, std::shared_ptr<Reader> reader) { team.read_with(std::move(reader)); },
            "reader"_a.none(),
            "Read counters around exactly the timed part of every later call that runs on this "
            "team.\n\n"
            "Read by the team's first working thread, all others waiting. None: no more.")
        .def_prop_ro(
            "readings", &readings,
            "Before and after the timed part of the last call; None: no reader, or no call yet.")
        .def("thread_ids", &Team::thread_ids, ReleaseGil(),
             "Kernel thread identifiers, in the order of `cpus`, for counters bound to a thread.")
        .def(
            "pingpong_ns", [](Team& team) { return taken(team.pingpong_ns()); }, ReleaseGil(),
            "Core-to-core latency, one way; None for one thread, or when a CPU was not to be had.")
        .def("core_cycles_per_ns", &core_cycles_per_ns, "rank"_a = 0, ReleaseGil());
}

}  // namespace memgauge::bindings
