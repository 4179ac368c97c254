#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
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

std::optional<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> count(const ThreadUse& use,
                                                                             std::size_t event) {
    const auto& found = use.counts.at(event);
    if (!found) return std::nullopt;
    return std::tuple(found->value, found->enabled_ns, found->running_ns);
}

std::shared_ptr<CounterSource> open_tree(int pid, std::string procfs,
                                         std::uint64_t discovery_interval_ns,
                                         std::size_t max_processes, std::size_t max_threads,
                                         bool switches, std::shared_ptr<ThreadLedger> ledger) {
    return open_process_tree({.pid = pid,
                              .procfs = std::move(procfs),
                              .discovery_interval_ns = discovery_interval_ns,
                              .max_processes = max_processes,
                              .max_threads = max_threads,
                              .switches = switches,
                              .ledger = std::move(ledger)});
}

}  // namespace

void register_counters_processes(nb::module_& module) {
    const ProcessTreeRequest usual;
    module.attr("MOST_THREAD_EVENTS") = most_thread_events;
    nb::class_<ThreadUse>(module, "ThreadUse", "What one thread used, as last read.")
        .def_ro("pid", &ThreadUse::pid)
        .def_ro("tid", &ThreadUse::tid)
        .def_prop_ro(
            "name",
            [](const ThreadUse& use) {
                return nb::bytes(use.name.data(), std::strlen(use.name.data()));
            },
            "In the kernel's escapes.")
        .def_ro("cpu_ns", &ThreadUse::cpu_ns)
        .def_ro("run_delay_ns", &ThreadUse::run_delay_ns,
                "Time for which it could have run and waited for a processor.")
        .def_ro("voluntary_switches", &ThreadUse::voluntary_switches)
        .def_ro("involuntary_switches", &ThreadUse::involuntary_switches)
        .def("count", &count, "event"_a,
             "Value, ns enabled and ns running of the event at this place of the ledger's, since "
             "the thread was found; None: it could not be opened or read.");
    nb::class_<ThreadLedger>(module, "ThreadLedger",
                             "Every thread of a process tree that was seen, as last read.")
        .def(nb::init<std::vector<PerfEvent>>(), "events"_a = std::vector<PerfEvent>{},
             "`events`: counted for each thread.")
        .def("threads", &ThreadLedger::threads, "In the order in which they were found.")
        .def_prop_ro("left_out", &ThreadLedger::left_out, "Threads that there was no room for.")
        .def_prop_ro(
            "first_peak_bytes", &ThreadLedger::first_peak_bytes,
            "Largest resident size of the root while it stayed what it was first; 0: none.")
        .def_prop_ro("later_peak_bytes", &ThreadLedger::later_peak_bytes,
                     "Of any other process, and of the root since; 0: none.");
    module.def("process_tree_slots", &slots, "Names of the slots of `open_process_tree`.");
    module.def(
        "open_process_tree", &open_tree, "pid"_a, "procfs"_a = usual.procfs,
        "discovery_interval_ns"_a = usual.discovery_interval_ns,
        "max_processes"_a = usual.max_processes, "max_threads"_a = usual.max_threads,
        "switches"_a = usual.switches, "ledger"_a = nb::none(), ReleaseGil(),
        "Sums over a process and all its descendants; see memgauge/counters/process_tree.hpp.\n\n"
        "Raises CounterRefused with `error_number`.");
}

}  // namespace memgauge::bindings
