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

#include "memgauge/counters/lane.hpp"
#include "register.hpp"

namespace nb = nanobind;

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
    nb::class_<LaneState>(module, "LaneState", nb::is_final())
        .def_ro("samples", &LaneState::samples)
        .def_ro("missed", &LaneState::missed)
        .def_ro("dropped", &LaneState::dropped)
        .def_ro("bytes", &LaneState::bytes)
        .def_ro("cpu_ns", &LaneState::cpu_ns)
        .def_ro("longest_read_ns", &LaneState::longest_read_ns)
        .def_prop_ro("error", &error);
    nb::class_<Lane>(module, "Lane", nb::is_final())
        .def("__init__", &init_lane, nb::arg("reader"), nb::arg("path"), nb::arg("interval_ns"),
             nb::arg("name") = "", nb::arg("cpu") = nb::none(), ReleaseGil())
        .def("stop", &Lane::stop, ReleaseGil())
        .def("state", &Lane::state, ReleaseGil())
        .def("latest", &Lane::latest, ReleaseGil());
}

}  // namespace memgauge::bindings
