#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "gpu.hpp"
#include "memgauge/gpu/chase.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

using Chase = Closable<GpuChase>;

void init_chase(Chase* self, OpenGpu& gpu, std::size_t bytes, std::size_t node_bytes,
                std::string_view through, std::string_view order, std::size_t block_bytes,
                std::uint64_t seed) {
    const GpuChaseRequest request{.bytes = bytes,
                                  .node_bytes = node_bytes,
                                  .through = gpu_through_from_string(through),
                                  .block_bytes = block_bytes,
                                  .order = chase_order_from_string(order),
                                  .seed = seed};
    auto made = gpu.look([&](const Gpu& opened) {
        return std::make_unique<GpuChase>(opened, request, signal_raised);
    });
    new (self) Chase(std::move(made), "GpuChase");
}

GpuWalk run(Chase& self, std::size_t hops, std::size_t warm_hops, std::size_t iterations,
            unsigned sweeps) {
    return self.with([&](GpuChase& chase) {
        return chase.run(hops, warm_hops, iterations, sweeps, signal_raised);
    });
}

}  // namespace

void register_gpu_chase(nb::module_& module) {
    nb::class_<GpuWalk>(module, "GpuWalk", nb::is_final())
        .def_prop_ro("slice", [](const GpuWalk& walk) -> const auto& { return walk.slice; })
        .def_ro("cycles", &GpuWalk::cycles)
        .def_ro("cycles_per_ns", &GpuWalk::cycles_per_ns)
        .def_ro("timer_resolution_ns", &GpuWalk::timer_resolution_ns);
    nb::class_<Chase>(module, "GpuChase", nb::is_final())
        .def("__init__", &init_chase, nb::arg("gpu"), nb::arg("bytes"), nb::arg("node_bytes") = 128,
             nb::kw_only(), nb::arg("through") = "l1", nb::arg("order") = "random",
             nb::arg("block_bytes") = 0, nb::arg("seed") = 1, ReleaseGil())
        .def_prop_ro("nodes",
                     [](Chase& self) {
                         return self.look([](const GpuChase& chase) { return chase.nodes(); });
                     })
        .def("run", &run, nb::arg("hops"), nb::arg("warm_hops") = 0, nb::arg("iterations") = 1,
             nb::arg("sweeps") = 0, ReleaseGil())
        .def(
            "is_single_cycle",
            [](Chase& self) {
                return self.with(
                    [](GpuChase& chase) { return chase.is_single_cycle(signal_raised); });
            },
            ReleaseGil())
        .def("close", &Chase::close, ReleaseGil());
}

}  // namespace memgauge::bindings
