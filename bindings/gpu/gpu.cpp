#include "gpu/gpu.hpp"

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

namespace memgauge::bindings {
namespace {

void init_gpu(OpenGpu* self, const GpuDriver& driver, int index, const std::string& compiler) {
    new (self) OpenGpu(std::make_unique<Gpu>(driver, index, compiler), "Gpu");
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
    final_class<GpuFacts>(module, "GpuFacts",
                          "A GPU as the driver describes it; None: not reported.")
        .def_ro("index", &GpuFacts::index,
                "As the driver numbers the devices it shows: CUDA_VISIBLE_DEVICES is heeded.")
        .def_ro("name", &GpuFacts::name)
        .def_ro("uuid", &GpuFacts::uuid)
        .def_ro("bus_id", &GpuFacts::bus_id, "Such as 0000:3b:00.0, in lower case as sysfs has it.")
        .def_prop_ro("compute", &GpuFacts::compute, "Compute capability, such as 9.0.")
        .def_ro("multiprocessors", &GpuFacts::multiprocessors)
        .def_ro("memory_bytes", &GpuFacts::memory_bytes)
        .def_ro("l2_bytes", &GpuFacts::l2_bytes)
        .def_ro("memory_clock_khz", &GpuFacts::memory_clock_khz)
        .def_ro("bus_bits", &GpuFacts::bus_bits)
        .def_ro("clock_khz", &GpuFacts::clock_khz)
        .def_ro("ecc", &GpuFacts::ecc)
        .def_ro("integrated", &GpuFacts::integrated)
        .def_ro("copy_engines", &GpuFacts::copy_engines)
        .def_ro("mig", &GpuFacts::mig, "It is an instance of a partitioned GPU.")
        .def_ro("error", &GpuFacts::error, "Why it cannot be used; empty: it can.");
    final_class<GpuDriver>(module, "GpuDriver")
        .def(nb::init<const std::string&>(), "file"_a = "libcuda.so.1", ReleaseGil(),
             "Load the CUDA driver's library and start it, which can take a second.\n\n"
             "Raises RequestError: it is not there, is something else, or finds no GPU.")
        .def_prop_ro("version", &GpuDriver::version, "Of the CUDA it runs, such as 13.0.")
        .def_prop_ro("devices", &GpuDriver::devices);
}

void register_gpu_itself(nb::module_& module) {
    final_class<OpenGpu>(module, "Gpu")
        .def("__init__", &init_gpu, "driver"_a, "index"_a, "compiler"_a, ReleaseGil(),
             "Retain the device's primary context; `compiler`: the file of NVRTC, loaded at "
             "once.\n\n"
             "Raises RequestError: no such device, one that is not to be had, or no NVRTC.")
        .def_prop_ro("facts", OpenGpu::getter(&Gpu::facts))
        .def_prop_ro("free_bytes", OpenGpu::getter(&Gpu::free_bytes), "Of its memory, now.")
        .def_prop_ro("compiler_version", OpenGpu::getter(&Gpu::compiler_version))
        .def_prop_ro(
            "clock_error_ns", OpenGpu::getter(&Gpu::clock_error_ns),
            "How far the last times put on the run's clock may all be shifted; None: none were "
            "yet.\n\n"
            "Half of the time in which the host bracketed an event of the device. Durations are "
            "the device's own and not touched by it.")
        .def("peers", OpenGpu::getter(&Gpu::peers),
             "Other devices whose memory it can reach directly.")
        .def("read_with", OpenGpu::method(&Gpu::read_with), "reader"_a.none(),
             "Read counters around exactly the timed part of every later run on this GPU, as a "
             "Team's.\n\n"
             "The device is idle at both readings. None: no more.")
        .def_prop_ro(
            "readings", &readings,
            "Before and after the timed part of the last run; None: no reader, or no run yet.")
        .def("close", &OpenGpu::close, ReleaseGil(),
             "Let go of it; what was made on it stays usable until it is closed itself.");
}

void register_specs(nb::module_& module) {
    final_class<GpuKernelSpec>(module, "GpuKernelSpec")
        .def("__init__", &init_spec, "operation"_a, "element"_a = "double",
             "variant"_a = "standard", nb::kw_only(), "vector_bytes"_a = 0, "unroll"_a = 1,
             "hint"_a = "default", "threads_per_block"_a = 256, "blocks_per_multiprocessor"_a = 0,
             "A STREAM kernel for a GPU; RequestError where there is no such one.\n\n"
             "standard: one element per thread, as simple GPU STREAMs have it. tuned: vectors of "
             "16 bytes, `unroll` (1, 2, 4 or 8) loaded before any is stored, by so many blocks "
             "that go on through the arrays, or (0) one block for each tile. `vector_bytes` 0: "
             "what the variant has. `hint`: default, streaming (evicted first) or no-allocate (L1 "
             "passed by).")
        .def_prop_ro("operation", [](const GpuKernelSpec& s) { return to_string(s.operation); })
        .def_prop_ro("element", [](const GpuKernelSpec& s) { return to_string(s.element); })
        .def_prop_ro("variant", [](const GpuKernelSpec& s) { return to_string(s.variant); })
        .def_ro("vector_bytes", &GpuKernelSpec::vector_bytes)
        .def_ro("unroll", &GpuKernelSpec::unroll)
        .def_prop_ro("hint", [](const GpuKernelSpec& s) { return to_string(s.hint); })
        .def_ro("threads_per_block", &GpuKernelSpec::threads_per_block)
        .def_ro("blocks_per_multiprocessor", &GpuKernelSpec::blocks_per_multiprocessor)
        .def_prop_ro(
            "counted_read_bytes", [](const GpuKernelSpec& s) { return traffic(s).counted_read; },
            "Bytes per element, as are the next two.")
        .def_prop_ro("counted_write_bytes",
                     [](const GpuKernelSpec& s) { return traffic(s).counted_write; })
        .def_prop_ro(
            "write_allocate_bytes",
            [](const GpuKernelSpec& s) { return traffic(s).write_allocate; },
            "0: a GPU's L2 takes whole sectors that are written without reading them.");
    module.def(
        "gpu_tuned_specs",
        [](std::string_view operation, std::string_view element) {
            return gpu_tuned_specs(operation_from_string(operation),
                                   element_type_from_string(element));
        },
        "operation"_a, "element"_a = "double", "What a search tries.");
    module.def(
        "gpu_default_tuned_spec",
        [](std::string_view operation, std::string_view element) {
            return gpu_default_tuned_spec(operation_from_string(operation),
                                          element_type_from_string(element));
        },
        "operation"_a, "element"_a = "double",
        "The tuned spec to take where nothing was searched.");
}

}  // namespace

void register_gpu(nb::module_& module) {
    register_devices(module);
    register_gpu_itself(module);
    register_specs(module);
}

}  // namespace memgauge::bindings
