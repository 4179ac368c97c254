#include "memgauge/counters/lane.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "register.hpp"

namespace memgauge::bindings {
namespace {

void init_lane(Lane* self, std::shared_ptr<Reader> reader, std::string path,
               std::int64_t interval_ns, std::string name, std::optional<int> cpu) {
    new (self) Lane(LaneRequest{.reader = std::move(reader),
                                .path = std::move(path),
                                .interval_ns = interval_ns,
                                .cpu = cpu,
                                .name = std::move(name)});
}

std::optional<std::string> error(const LaneState& state) {
    if (state.error_number == 0) return std::nullopt;
    return std::generic_category().message(state.error_number);
}

}  // namespace

void register_counters_lane(nb::module_& module) {
    final_class<LaneState>(
        module, "LaneState",
        "How far a lane is: samples taken, instants missed, samples lost, and what it cost.")
        .def_ro("samples", &LaneState::samples)
        .def_ro("missed", &LaneState::missed)
        .def_ro("dropped", &LaneState::dropped)
        .def_ro("bytes", &LaneState::bytes)
        .def_ro("cpu_ns", &LaneState::cpu_ns)
        .def_ro("longest_read_ns", &LaneState::longest_read_ns)
        .def_prop_ro("error", &error);
    final_class<Lane>(module, "Lane")
        .def("__init__", &init_lane, "reader"_a, "path"_a, "interval_ns"_a, "name"_a = "",
             "cpu"_a = nb::none(), ReleaseGil(),
             "Sample into a new file until stopped, in threads of its own.")
        .def("stop", &Lane::stop, ReleaseGil(), "Take a last sample and close the file.")
        .def("state", &Lane::state, ReleaseGil())
        .def("latest", &Lane::latest, ReleaseGil());
}

}  // namespace memgauge::bindings
