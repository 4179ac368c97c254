#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/gpu.hpp"
#include "memgauge/gpu/stream_arrays.hpp"
#include "memgauge/gpu/traffic.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

using Arrays = Closable<GpuStreamArrays>;
using Running = Closable<GpuTraffic>;

void init_arrays(Arrays* self, OpenGpu& gpu, std::size_t elements, std::string_view element) {
    auto made = gpu.look([&](const Gpu& opened) {
        return std::make_unique<GpuStreamArrays>(
            opened, elements, element_type_from_string(element), is_wished_to_stop);
    });
    new (self) Arrays(std::move(made), "GpuStreamArrays");
}

Slice run_kernel(Arrays& self, const GpuKernelSpec& spec, std::size_t lead_in_bytes,
                 std::size_t iterations, std::size_t prefix_elements, std::size_t repeats) {
    const GpuSliceRequest request{.lead_in_bytes = lead_in_bytes,
                                  .iterations = iterations,
                                  .prefix_elements = prefix_elements,
                                  .repeats = repeats};
    return self.with(
        [&](GpuStreamArrays& arrays) { return arrays.run(spec, request, is_wished_to_stop); });
}

void init_traffic(Running* self, OpenGpu& gpu, std::size_t bytes) {
    auto made = gpu.look([&](const Gpu& opened) {
        return std::make_unique<GpuTraffic>(opened, bytes, is_wished_to_stop);
    });
    new (self) Running(std::move(made), "GpuTraffic");
}

Slice run_traffic(Running& self, unsigned reads, unsigned writes, std::size_t bytes,
                  std::string_view hint, std::size_t lead_in_bytes, std::size_t iterations) {
    const GpuTrafficRequest request{.reads = reads,
                                    .writes = writes,
                                    .bytes = bytes,
                                    .hint = gpu_hint_from_string(hint),
                                    .lead_in_bytes = lead_in_bytes,
                                    .iterations = iterations};
    return self.with([&](GpuTraffic& traffic) { return traffic.run(request, is_wished_to_stop); });
}

}  // namespace

void register_gpu_arrays(nb::module_& module) {
    final_class<Arrays>(module, "GpuStreamArrays")
        .def("__init__", &init_arrays, "gpu"_a, "elements"_a, "element"_a = "double", ReleaseGil(),
             "Arrays a, b and c in device memory, filled; each of `elements`, rounded up to whole "
             "32.\n\n"
             "Raises RequestError: the device has not so much memory free.")
        .def_prop_ro("elements", Arrays::getter(&GpuStreamArrays::elements))
        .def("prepare", Arrays::method(&GpuStreamArrays::prepare), "specs"_a, ReleaseGil(),
             "Compile all these in one go, for the life of the GPU; run() does what was not.")
        .def("run", &run_kernel, "spec"_a, nb::kw_only(), "lead_in_bytes"_a = 0, "iterations"_a = 1,
             "prefix_elements"_a = 0, "repeats"_a = 1, ReleaseGil(),
             "One thread's slice with a stamp for each iteration: one launch over the whole "
             "arrays.\n\n"
             "`lead_in_bytes`: untimed before, the same kernel over so much of the end of each "
             "array. `prefix_elements` (read only; whole 32): walk just those, L1 passed by, "
             "`repeats` times within each launch; once untimed before. Bytes are not counted in "
             "the slice.")
        .def("corrupt", Arrays::method(&GpuStreamArrays::corrupt), "array"_a, "element"_a,
             ReleaseGil())
        .def("validate", Arrays::method(&GpuStreamArrays::validate), ReleaseGil(),
             "Of a, b and c: every element compared, on the device.")
        .def("close", &Arrays::close, ReleaseGil(),
             "Free the arrays now; later calls raise RuntimeError.");

    final_class<Running>(module, "GpuTraffic")
        .def("__init__", &init_traffic, "gpu"_a, "bytes"_a, ReleaseGil(),
             "Memory to read from, and as much to write to; each rounded up to whole 1 MiB.")
        .def_prop_ro("bytes", Running::getter(&GpuTraffic::bytes),
                     "Of what is read from, and of what is written to.")
        .def("prepare", Running::method(&GpuTraffic::prepare), "mixes"_a, ReleaseGil(),
             "Compile kernels for all these (reads, writes) in one go.")
        .def(
            "run", &run_traffic, "reads"_a, "writes"_a, nb::kw_only(), "bytes"_a,
            "hint"_a = "default", "lead_in_bytes"_a = 0, "iterations"_a = 1, ReleaseGil(),
            "Loads and stores of 16 bytes in the ratio asked for, going on from where it was.\n\n"
            "`bytes`: of all accesses of one iteration, rounded up to whole steps of whole blocks. "
            "`read_bytes` and `write_bytes` of the slice are exact, of all iterations together.")
        .def("corrupt", Running::method(&GpuTraffic::corrupt), "element"_a, ReleaseGil())
        .def("validate", Running::method(&GpuTraffic::validate), ReleaseGil(),
             "Every 16 bytes written to hold what the last store there put: array `w`.")
        .def("close", &Running::close, ReleaseGil(),
             "Free the memory now; later calls raise RuntimeError.");
}

}  // namespace memgauge::bindings
