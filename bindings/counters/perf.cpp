#include "memgauge/counters/perf.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "register.hpp"

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
    final_class<PerfEvent>(
        module, "PerfEvent",
        "An event as the kernel's perf_event_attr has it; uncore PMUs refuse the exclude bits.")
        .def("__init__", &init_event, "pmu_type"_a, "config"_a, "config1"_a = 0, "config2"_a = 0,
             "config3"_a = 0, "exclude_user"_a = false, "exclude_kernel"_a = false,
             "exclude_hv"_a = false, "exclude_guest"_a = false);
    module.def("open_perf_group", &open_group, "events"_a, "pid"_a = -1, "cpu"_a = -1,
               "inherit"_a = false, ReleaseGil(),
               "One group; slots: enabled ns, running ns, then the value of each event.\n\n"
               "Raises CounterRefused with `error_number` and `event_index`; its message says "
               "neither reason nor remedy. Some PMUs refuse groups: open their events one by one.");
    module.def("open_perf_single", &open_single, "event"_a, "pid"_a = -1, "cpu"_a = -1,
               "inherit"_a = false, ReleaseGil(),
               "One event; slots: enabled ns, running ns, value. Raises CounterRefused as above.");
    module.def("perf_refusal", &refusal, "event"_a, "pid"_a = -1, "cpu"_a = -1, "inherit"_a = false,
               ReleaseGil(), "0 where the event can be opened now, else the errno.");
}

}  // namespace memgauge::bindings
