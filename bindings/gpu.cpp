#include "gpu.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memgauge/gpu/driver.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

void init_gpu(OpenGpu* self, const GpuDriver& driver, int index, const std::string& compiler) {
    new (self) OpenGpu(std::make_unique<Gpu>(driver, index, compiler), "Gpu");
}

void read_with(OpenGpu& self, std::shared_ptr<Reader> reader) {
    self.with([&](Gpu& gpu) { gpu.read_with(std::move(reader)); });
}

std::optional<std::pair<Reading, Reading>> readings(OpenGpu& self) {
    return self.look([](const Gpu& gpu) -> std::optional<std::pair<Reading, Reading>> {
        const auto& taken = gpu.readings();
        if (!taken) return std::nullopt;
        return std::pair(taken->before, taken->after);
    });
}

void init_spec(GpuKernelSpec* self, std::string_view operation, std::string_view element,
               std::string_view variant, unsigned vector_bytes, unsigned unroll,
               std::string_view hint, unsigned threads_per_block,
               unsigned blocks_per_multiprocessor) {
    new (self) GpuKernelSpec(checked({.operation = operation_from_string(operation),
                                      .element = element_type_from_string(element),
                                      .variant = variant_from_string(variant),
                                      .vector_bytes = vector_bytes,
                                      .unroll = unroll,
                                      .hint = gpu_hint_from_string(hint),
                                      .threads_per_block = threads_per_block,
                                      .blocks_per_multiprocessor = blocks_per_multiprocessor}));
}

void register_devices(nb::module_& module) {
    nb::class_<GpuFacts>(module, "GpuFacts", nb::is_final())
        .def_ro("index", &GpuFacts::index)
        .def_ro("name", &GpuFacts::name)
        .def_ro("uuid", &GpuFacts::uuid)
        .def_ro("bus_id", &GpuFacts::bus_id)
        .def_prop_ro("compute", &GpuFacts::compute)
        .def_ro("multiprocessors", &GpuFacts::multiprocessors)
        .def_ro("memory_bytes", &GpuFacts::memory_bytes)
        .def_ro("l2_bytes", &GpuFacts::l2_bytes)
        .def_ro("memory_clock_khz", &GpuFacts::memory_clock_khz)
        .def_ro("bus_bits", &GpuFacts::bus_bits)
        .def_ro("clock_khz", &GpuFacts::clock_khz)
        .def_ro("ecc", &GpuFacts::ecc)
        .def_ro("integrated", &GpuFacts::integrated)
        .def_ro("copy_engines", &GpuFacts::copy_engines)
        .def_ro("mig", &GpuFacts::mig)
        .def_ro("error", &GpuFacts::error);
    nb::class_<GpuDriver>(module, "GpuDriver", nb::is_final())
        .def(nb::init<const std::string&>(), nb::arg("file") = "libcuda.so.1", ReleaseGil())
        .def_prop_ro("version", &GpuDriver::version)
        .def_prop_ro("devices", &GpuDriver::devices);
}

void register_gpu_itself(nb::module_& module) {
    nb::class_<OpenGpu>(module, "Gpu", nb::is_final())
        .def("__init__", &init_gpu, nb::arg("driver"), nb::arg("index"), nb::arg("compiler"),
             ReleaseGil())
        .def_prop_ro(
            "facts",
            [](OpenGpu& self) { return self.look([](const Gpu& gpu) { return gpu.facts(); }); })
        .def_prop_ro("free_bytes",
                     [](OpenGpu& self) {
                         return self.look([](const Gpu& gpu) { return gpu.free_bytes(); });
                     })
        .def_prop_ro("compiler_version",
                     [](OpenGpu& self) {
                         return self.look([](const Gpu& gpu) { return gpu.compiler_version(); });
                     })
        .def_prop_ro("clock_error_ns",
                     [](OpenGpu& self) {
                         return self.look([](const Gpu& gpu) { return gpu.clock_error_ns(); });
                     })
        .def("peers",
             [](OpenGpu& self) { return self.look([](const Gpu& gpu) { return gpu.peers(); }); })
        .def("read_with", &read_with, nb::arg("reader").none())
        .def_prop_ro("readings", &readings)
        .def("close", &OpenGpu::close, ReleaseGil());
}

void register_specs(nb::module_& module) {
    nb::class_<GpuKernelSpec>(module, "GpuKernelSpec", nb::is_final())
        .def("__init__", &init_spec, nb::arg("operation"), nb::arg("element") = "double",
             nb::arg("variant") = "standard", nb::kw_only(), nb::arg("vector_bytes") = 0,
             nb::arg("unroll") = 1, nb::arg("hint") = "default", nb::arg("threads_per_block") = 256,
             nb::arg("blocks_per_multiprocessor") = 0)
        .def_prop_ro("operation", [](const GpuKernelSpec& s) { return to_string(s.operation); })
        .def_prop_ro("element", [](const GpuKernelSpec& s) { return to_string(s.element); })
        .def_prop_ro("variant", [](const GpuKernelSpec& s) { return to_string(s.variant); })
        .def_ro("vector_bytes", &GpuKernelSpec::vector_bytes)
        .def_ro("unroll", &GpuKernelSpec::unroll)
        .def_prop_ro("hint", [](const GpuKernelSpec& s) { return to_string(s.hint); })
        .def_ro("threads_per_block", &GpuKernelSpec::threads_per_block)
        .def_ro("blocks_per_multiprocessor", &GpuKernelSpec::blocks_per_multiprocessor)
        .def_prop_ro("counted_read_bytes",
                     [](const GpuKernelSpec& s) { return traffic(s).counted_read; })
        .def_prop_ro("counted_write_bytes",
                     [](const GpuKernelSpec& s) { return traffic(s).counted_write; })
        .def_prop_ro("write_allocate_bytes",
                     [](const GpuKernelSpec& s) { return traffic(s).write_allocate; });
    module.def(
        "gpu_tuned_specs",
        [](std::string_view operation, std::string_view element) {
            return gpu_tuned_specs(operation_from_string(operation),
                                   element_type_from_string(element));
        },
        nb::arg("operation"), nb::arg("element") = "double");
    module.def(
        "gpu_default_tuned_spec",
        [](std::string_view operation, std::string_view element) {
            return gpu_default_tuned_spec(operation_from_string(operation),
                                          element_type_from_string(element));
        },
        nb::arg("operation"), nb::arg("element") = "double");
}

}  // namespace

void register_gpu(nb::module_& module) {
    register_devices(module);
    register_gpu_itself(module);
    register_specs(module);
}

}  // namespace memgauge::bindings
