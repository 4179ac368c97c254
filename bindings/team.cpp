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

namespace nb = nanobind;

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
    nb::class_<ThreadSlice>(module, "ThreadSlice", nb::is_final())
        .def_ro("cpu", &ThreadSlice::cpu)
        .def_ro("involuntary_switches", &ThreadSlice::involuntary_switches)
        .def_ro("page_faults", &ThreadSlice::page_faults)
        .def_ro("read_bytes", &ThreadSlice::read_bytes)
        .def_ro("write_bytes", &ThreadSlice::write_bytes)
        .def_prop_ro("begin_ns",
                     [](const ThreadSlice& slice) { return stamps_ns(slice, &Stamp::begin); })
        .def_prop_ro("end_ns",
                     [](const ThreadSlice& slice) { return stamps_ns(slice, &Stamp::end); });
    nb::class_<Slice>(module, "Slice", nb::is_final())
        .def_prop_ro("threads", [](const Slice& slice) -> const auto& { return slice.threads; })
        .def_prop_ro("pingpong_ns", [](const Slice& slice) { return taken(slice.pingpong_ns); });
}

}  // namespace

void register_team(nb::module_& module) {
    register_slice(module);
    module.def("allowed_cpus", &allowed_cpus);
    nb::class_<Team>(module, "Team", nb::is_final())
        .def(nb::init<std::vector<int>>(), nb::arg("cpus"), ReleaseGil())
        .def_prop_ro("cpus", &Team::cpus)
        .def(
            "read_with",
            [](Team& team, std::shared_ptr<Reader> reader) { team.read_with(std::move(reader)); },
            nb::arg("reader").none())
        .def_prop_ro("readings", &readings)
        .def("thread_ids", &Team::thread_ids, ReleaseGil())
        .def(
            "pingpong_ns", [](Team& team) { return taken(team.pingpong_ns()); }, ReleaseGil())
        .def("core_cycles_per_ns", &core_cycles_per_ns, nb::arg("rank") = 0, ReleaseGil());
}

}  // namespace memgauge::bindings
