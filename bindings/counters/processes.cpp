#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "memgauge/counters/process_tree.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

std::vector<std::string> slots() {
    std::vector<std::string> names;
    for (std::size_t slot = 0; slot < process_figures; ++slot) {
        names.emplace_back(to_string(static_cast<ProcessFigure>(slot)));
    }
    return names;
}

std::shared_ptr<CounterSource> open_tree(int pid, std::string procfs,
                                         std::uint64_t discovery_interval_ns,
                                         std::size_t max_processes, std::size_t max_threads,
                                         bool switches) {
    return open_process_tree({.pid = pid,
                              .procfs = std::move(procfs),
                              .discovery_interval_ns = discovery_interval_ns,
                              .max_processes = max_processes,
                              .max_threads = max_threads,
                              .switches = switches});
}

}  // namespace

void register_counters_processes(nb::module_& module) {
    const ProcessTreeRequest usual;
    module.def("process_tree_slots", &slots, "Names of the slots of `open_process_tree`.");
    module.def(
        "open_process_tree", &open_tree, "pid"_a, "procfs"_a = usual.procfs,
        "discovery_interval_ns"_a = usual.discovery_interval_ns,
        "max_processes"_a = usual.max_processes, "max_threads"_a = usual.max_threads,
        "switches"_a = usual.switches, ReleaseGil(),
        "Sums over a process and all its descendants; see memgauge/counters/process_tree.hpp.\n\n"
        "Raises CounterRefused with `error_number`.");
}

}  // namespace memgauge::bindings
