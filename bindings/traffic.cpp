#include "memgauge/traffic.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include "closable.hpp"
#include "memory.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

using RunningTraffic = Closable<Traffic>;

void init_traffic_spec(TrafficSpec* self, unsigned reads, unsigned writes, std::string_view store,
                       std::string_view order, std::uint32_t delay) {
    const TrafficSpec spec{.reads = reads,
                           .writes = writes,
                           .store = store_kind_from_string(store),
                           .order = traffic_order_from_string(order),
                           .delay = delay};
    check(spec);
    new (self) TrafficSpec(spec);
}

void init_traffic(RunningTraffic* self, Team& team, std::size_t bytes, std::size_t first_rank,
                  std::string_view pages, const Memory* memory) {
    const TrafficRequest request{.bytes = bytes,
                                 .first_rank = first_rank,
                                 .pages = page_policy_from_string(pages),
                                 .memory = source_of(memory)};
    new (self)
        RunningTraffic(std::make_unique<Traffic>(team, request, is_wished_to_stop), "Traffic");
}

LoadedSlice run_loaded(RunningTraffic& self, const TrafficSpec& spec, Closable<ChaseRing>& ring,
                       std::size_t hops, std::size_t warm_hops, std::size_t iterations,
                       std::size_t timed_loads, std::size_t lead_in_bytes, bool pingpong) {
    return self.with([&](Traffic& traffic) {
        return ring.with([&](ChaseRing& walked) {
            return traffic.run_loaded(spec, walked, hops, warm_hops, iterations, timed_loads,
                                      lead_in_bytes, pingpong);
        });
    });
}

void register_traffic_spec(nb::module_& module) {
    final_class<TrafficSpec>(module, "TrafficSpec")
        .def("__init__", &init_traffic_spec, "reads"_a = 1, "writes"_a = 0, "store"_a = "temporal",
             "order"_a = "sequential", "delay"_a = 0,
             "Raises RequestError when this machine cannot do it.")
        .def_ro("reads", &TrafficSpec::reads)
        .def_ro("writes", &TrafficSpec::writes)
        .def_prop_ro("store", [](const TrafficSpec& s) { return to_string(s.store); })
        .def_prop_ro("order", [](const TrafficSpec& s) { return to_string(s.order); })
        .def_ro("delay", &TrafficSpec::delay)
        .def_prop_ro(
            "write_allocate_bytes",
            [](const TrafficSpec& s) { return line_traffic(s).write_allocate_bytes; },
            "Bytes read beside each line written because a temporal store reads its line first.")
        .def_prop_ro("line_bytes", [](const TrafficSpec& s) { return line_traffic(s).line_bytes; });
}

}  // namespace

void register_traffic(nb::module_& module) {
    register_traffic_spec(module);
    final_class<LoadedSlice>(module, "LoadedSlice")
        .def_prop_ro("slice", [](const LoadedSlice& l) -> const auto& { return l.slice; })
        .def_prop_ro(
            "load_ns", [](const LoadedSlice& l) -> const auto& { return l.load_ns; },
            "Loads timed one by one: ns with the clock's own cost, and how many, ascending.");
    final_class<RunningTraffic>(module, "Traffic")
        .def("__init__", &init_traffic, "team"_a, "bytes"_a, "first_rank"_a = 0, "pages"_a = "auto",
             "memory"_a = nb::none(), nb::keep_alive<1, 2>(), ReleaseGil(),
             "Each generating thread reads from `bytes` of memory and writes to as many others.")
        .def("run", RunningTraffic::method(&Traffic::run), "spec"_a, "bytes"_a,
             "lead_in_bytes"_a = 0, "pingpong"_a = false, ReleaseGil())
        .def("run_loaded", &run_loaded, "spec"_a, "ring"_a, "hops"_a, "warm_hops"_a = 0,
             "iterations"_a = 1, "timed_loads"_a = 0, "lead_in_bytes"_a = 0, "pingpong"_a = false,
             ReleaseGil(),
             "Thread 0 probes, the others generate: `first_rank` is 1, the ring is of the team.")
        .def("validate", RunningTraffic::method(&Traffic::validate), ReleaseGil())
        .def("corrupt", RunningTraffic::method(&Traffic::corrupt), "element"_a, ReleaseGil())
        .def("backing", RunningTraffic::method(&Traffic::backing), ReleaseGil())
        .def("close", &RunningTraffic::close, ReleaseGil(),
             "Free the memory now; later calls raise RuntimeError.");
    module.def("pause_ns", &pause_ns, "team"_a, "units"_a, "rank"_a = 0, ReleaseGil(),
               "Time of a pause of so many units.");
}

}  // namespace memgauge::bindings
