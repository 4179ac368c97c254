#include "memgauge/gpu/nests.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <memory>
#include <new>

#include "gpu/gpu.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

using Nest = Closable<GpuNest>;

void init_nest(Nest* self, OpenGpu& gpu, const NestSpec& spec, std::size_t copies) {
    auto made = gpu.look([&](const Gpu& opened) {
        return std::make_unique<GpuNest>(opened, spec, copies, is_wished_to_stop);
    });
    new (self) Nest(std::move(made), "GpuNest");
}

}  // namespace

void register_gpu_nests(nb::module_& module) {
    final_class<Nest>(module, "GpuNest")
        .def("__init__", &init_nest, "gpu"_a, "spec"_a, "copies"_a = 1, ReleaseGil(),
             "Sets of a loop nest's arrays in device memory, used in turn.\n\n"
             "Raises RequestError: the device has not so much memory free, or stores are to be "
             "prefetched.")
        .def("run", Nest::method(&GpuNest::run), "repetitions"_a = 1, ReleaseGil(),
             "One thread's slice with a stamp for each execution, each on the next set.\n\n"
             "A device's thread for each trip of the innermost loop; of GEMV and GEMM, for each "
             "element of the result.")
        .def("validate", Nest::method(&GpuNest::validate), ReleaseGil(),
             "What was written, against what the arrays read were filled with; nothing before "
             "run().")
        .def("corrupt", Nest::method(&GpuNest::corrupt), "array"_a, "element"_a, ReleaseGil())
        .def("close", &Nest::close, ReleaseGil(),
             "Free the memory now; later calls raise RuntimeError.");
}

}  // namespace memgauge::bindings
