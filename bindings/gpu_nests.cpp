#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <memory>
#include <new>

#include "gpu.hpp"
#include "memgauge/gpu/nests.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

using Nest = Closable<GpuNest>;

void init_nest(Nest* self, OpenGpu& gpu, const NestSpec& spec, std::size_t copies) {
    auto made = gpu.look([&](const Gpu& opened) {
        return std::make_unique<GpuNest>(opened, spec, copies, signal_raised);
    });
    new (self) Nest(std::move(made), "GpuNest");
}

Slice run(Nest& self, std::size_t repetitions) {
    return self.with([&](GpuNest& nest) { return nest.run(repetitions, signal_raised); });
}

auto validate(Nest& self) {
    return self.with([](GpuNest& nest) { return nest.validate(signal_raised); });
}

void corrupt(Nest& self, std::size_t array, std::size_t element) {
    self.with([&](GpuNest& nest) { nest.corrupt(array, element); });
}

}  // namespace

void register_gpu_nests(nb::module_& module) {
    nb::class_<Nest>(module, "GpuNest", nb::is_final())
        .def("__init__", &init_nest, nb::arg("gpu"), nb::arg("spec"), nb::arg("copies") = 1,
             ReleaseGil())
        .def("run", &run, nb::arg("repetitions") = 1, ReleaseGil())
        .def("validate", &validate, ReleaseGil())
        .def("corrupt", &corrupt, nb::arg("array"), nb::arg("element"), ReleaseGil())
        .def("close", &Nest::close, ReleaseGil());
}

}  // namespace memgauge::bindings
