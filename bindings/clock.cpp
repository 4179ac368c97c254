#include "memgauge/clock.hpp"

#include <nanobind/stl/string_view.h>

#include "register.hpp"

namespace memgauge::bindings {

void register_clock(nb::module_& module) {
    final_class<ClockInfo>(module, "ClockInfo")
        .def_prop_ro("source", [](const ClockInfo& info) { return to_string(info.source); })
        .def_ro("ns_per_tick", &ClockInfo::ns_per_tick)
        .def_ro("cost_ns", &ClockInfo::cost_ns)
        .def_ro("resolution_ns", &ClockInfo::resolution_ns)
        .def_ro("calibration_error_ppm", &ClockInfo::calibration_error_ppm)
        .def_ro("epoch_raw_ns", &ClockInfo::epoch_raw_ns);
    module.def("clock_info", [] { return Clock::instance().info(); }, ReleaseGil());
    module.def(
        "clock_now_ns",
        [] {
            const Clock& clock = Clock::instance();
            return clock.to_ns(clock.now());
        },
        ReleaseGil(), "Nanoseconds on the clock of all stamps.");
}

}  // namespace memgauge::bindings
