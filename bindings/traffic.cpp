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

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

using Running = Closable<Traffic>;

void init_spec(TrafficSpec* self, unsigned reads, unsigned writes, std::string_view store,
               std::string_view order, std::uint32_t delay) {
    const TrafficSpec spec{.reads = reads,
                           .writes = writes,
                           .store = store_kind_from_string(store),
                           .order = traffic_order_from_string(order),
                           .delay = delay};
    check(spec);
    new (self) TrafficSpec(spec);
}

void init_traffic(Running* self, Team& team, std::size_t bytes, std::size_t first_rank,
                  std::string_view pages, const Memory* memory) {
    const TrafficRequest request{.bytes = bytes,
                                 .first_rank = first_rank,
                                 .pages = page_policy_from_string(pages),
                                 .memory = source_of(memory)};
    new (self) Running(std::make_unique<Traffic>(team, request, signal_raised), "Traffic");
}

Slice run(Running& self, const TrafficSpec& spec, std::size_t bytes, std::size_t lead_in_bytes,
          bool pingpong) {
    return self.with(
        [&](Traffic& traffic) { return traffic.run(spec, bytes, lead_in_bytes, pingpong); });
}

LoadedSlice run_loaded(Running& self, const TrafficSpec& spec, Closable<ChaseRing>& ring,
                       std::size_t hops, std::size_t warm_hops, std::size_t iterations,
                       std::size_t timed_loads, std::size_t lead_in_bytes, bool pingpong) {
    return self.with([&](Traffic& traffic) {
        return ring.with([&](ChaseRing& walked) {
            return traffic.run_loaded(spec, walked, hops, warm_hops, iterations, timed_loads,
                                      lead_in_bytes, pingpong);
        });
    });
}

auto validate(Running& self) {
    return self.with([](Traffic& traffic) { return traffic.validate(signal_raised); });
}

void corrupt(Running& self, std::size_t element) {
    self.with([&](Traffic& traffic) { traffic.corrupt(element); });
}

auto backing(Running& self) {
    return self.with([](const Traffic& traffic) { return traffic.backing(); });
}

void register_spec(nb::module_& module) {
    nb::class_<TrafficSpec>(module, "TrafficSpec", nb::is_final())
        .def("__init__", &init_spec, nb::arg("reads") = 1, nb::arg("writes") = 0,
             nb::arg("store") = "temporal", nb::arg("order") = "sequential", nb::arg("delay") = 0)
        .def_ro("reads", &TrafficSpec::reads)
        .def_ro("writes", &TrafficSpec::writes)
        .def_prop_ro("store", [](const TrafficSpec& s) { return to_string(s.store); })
        .def_prop_ro("order", [](const TrafficSpec& s) { return to_string(s.order); })
        .def_ro("delay", &TrafficSpec::delay)
        .def_prop_ro("write_allocate_bytes",
                     [](const TrafficSpec& s) { return line_traffic(s).write_allocate_bytes; })
        .def_prop_ro("line_bytes", [](const TrafficSpec& s) { return line_traffic(s).line_bytes; });
}

}  // namespace

void register_traffic(nb::module_& module) {
    register_spec(module);
    nb::class_<LoadedSlice>(module, "LoadedSlice", nb::is_final())
        .def_prop_ro("slice", [](const LoadedSlice& l) -> const auto& { return l.slice; })
        .def_prop_ro("load_ns", [](const LoadedSlice& l) -> const auto& { return l.load_ns; });
    nb::class_<Running>(module, "Traffic", nb::is_final())
        .def("__init__", &init_traffic, nb::arg("team"), nb::arg("bytes"),
             nb::arg("first_rank") = 0, nb::arg("pages") = "auto", nb::arg("memory") = nb::none(),
             nb::keep_alive<1, 2>(), ReleaseGil())
        .def("run", &run, nb::arg("spec"), nb::arg("bytes"), nb::arg("lead_in_bytes") = 0,
             nb::arg("pingpong") = false, ReleaseGil())
        .def("run_loaded", &run_loaded, nb::arg("spec"), nb::arg("ring"), nb::arg("hops"),
             nb::arg("warm_hops") = 0, nb::arg("iterations") = 1, nb::arg("timed_loads") = 0,
             nb::arg("lead_in_bytes") = 0, nb::arg("pingpong") = false, ReleaseGil())
        .def("validate", &validate, ReleaseGil())
        .def("corrupt", &corrupt, nb::arg("element"), ReleaseGil())
        .def("backing", &backing, ReleaseGil())
        .def("close", &Running::close, ReleaseGil());
    module.def("pause_ns", &pause_ns, nb::arg("team"), nb::arg("units"), nb::arg("rank") = 0,
               ReleaseGil());
}

}  // namespace memgauge::bindings
