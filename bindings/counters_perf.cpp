#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "memgauge/counters/perf.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

void init_event(PerfEvent* self, std::uint32_t pmu_type, std::uint64_t config,
                std::uint64_t config1, std::uint64_t config2, std::uint64_t config3,
                bool exclude_user, bool exclude_kernel, bool exclude_hv, bool exclude_guest) {
    new (self) PerfEvent{.type = pmu_type,
                         .config = config,
                         .config1 = config1,
                         .config2 = config2,
                         .config3 = config3,
                         .exclude_user = exclude_user,
                         .exclude_kernel = exclude_kernel,
                         .exclude_hv = exclude_hv,
                         .exclude_guest = exclude_guest};
}

std::shared_ptr<CounterSource> open_group(const std::vector<PerfEvent>& events, int pid, int cpu,
                                          bool inherit) {
    return open_perf_group(events, {.pid = pid, .cpu = cpu, .inherit = inherit});
}

std::shared_ptr<CounterSource> open_single(const PerfEvent& event, int pid, int cpu, bool inherit) {
    return open_perf_single(event, {.pid = pid, .cpu = cpu, .inherit = inherit});
}

int refusal(const PerfEvent& event, int pid, int cpu, bool inherit) {
    return perf_refusal(event, {.pid = pid, .cpu = cpu, .inherit = inherit});
}

}  // namespace

void register_counters_perf(nb::module_& module) {
    nb::class_<PerfEvent>(module, "PerfEvent", nb::is_final())
        .def("__init__", &init_event, nb::arg("pmu_type"), nb::arg("config"),
             nb::arg("config1") = 0, nb::arg("config2") = 0, nb::arg("config3") = 0,
             nb::arg("exclude_user") = false, nb::arg("exclude_kernel") = false,
             nb::arg("exclude_hv") = false, nb::arg("exclude_guest") = false);
    module.def("open_perf_group", &open_group, nb::arg("events"), nb::arg("pid") = -1,
               nb::arg("cpu") = -1, nb::arg("inherit") = false, ReleaseGil());
    module.def("open_perf_single", &open_single, nb::arg("event"), nb::arg("pid") = -1,
               nb::arg("cpu") = -1, nb::arg("inherit") = false, ReleaseGil());
    module.def("perf_refusal", &refusal, nb::arg("event"), nb::arg("pid") = -1, nb::arg("cpu") = -1,
               nb::arg("inherit") = false, ReleaseGil());
}

}  // namespace memgauge::bindings
