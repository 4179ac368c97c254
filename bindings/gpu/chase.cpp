#include "memgauge/gpu/chase.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "gpu/gpu.hpp"
#include "register.hpp"

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
        return std::make_unique<GpuChase>(opened, request, is_wished_to_stop);
    });
    new (self) Chase(std::move(made), "GpuChase");
}

GpuWalk run_chase(Chase& self, std::size_t hops, std::size_t warm_hops, std::size_t iterations,
                  unsigned sweeps) {
    return self.with([&](GpuChase& chase) {
        return chase.run(hops, warm_hops, iterations, sweeps, is_wished_to_stop);
    });
}

}  // namespace

void register_gpu_chase(nb::module_& module) {
    final_class<GpuWalk>(module, "GpuWalk")
        .def_prop_ro(
            "slice", [](const GpuWalk& walk) -> const auto& { return walk.slice; },
            "Stamps by the device's %globaltimer inside the kernel, on the run's clock.")
        .def_ro("cycles", &GpuWalk::cycles, "Of the multiprocessor's clock, for each iteration.")
        .def_ro("cycles_per_ns", &GpuWalk::cycles_per_ns,
                "Its frequency meanwhile; None: too short a time for the timer's resolution.")
        .def_ro("timer_resolution_ns", &GpuWalk::timer_resolution_ns);
    final_class<Chase>(module, "GpuChase")
        .def("__init__", &init_chase, "gpu"_a, "bytes"_a, "node_bytes"_a = 128, nb::kw_only(),
             "through"_a = "l1", "order"_a = "random", "block_bytes"_a = 0, "seed"_a = 1,
             ReleaseGil(),
             "A ring of dependent loads in device memory, walked by one thread.\n\n"
             "`through`: l1 (L1, then L2) or l2 (L1 passed by). `order`: random, stride, or "
             "block-random: all nodes of one block of `block_bytes`, then of another, so that TLB "
             "misses become rare.")
        .def_prop_ro("nodes", Chase::getter(&GpuChase::nodes))
        .def("run", &run_chase, "hops"_a, "warm_hops"_a = 0, "iterations"_a = 1, "sweeps"_a = 0,
             ReleaseGil(),
             "`iterations` stamped walks of `hops` each, within one launch, after `warm_hops`.\n\n"
             "It goes on from where the last walk ended. `sweeps`: untimed before, so often all "
             "multiprocessors read the whole ring, L1 passed by: into the L2 at the speed of "
             "bandwidth.")
        .def("is_single_cycle", Chase::method(&GpuChase::is_single_cycle), ReleaseGil(),
             "Walks the ring once: whether every node is visited exactly once.")
        .def("close", &Chase::close, ReleaseGil(),
             "Free the ring now; later calls raise RuntimeError.");
}

}  // namespace memgauge::bindings
