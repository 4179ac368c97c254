#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu.hpp"
#include "memgauge/gpu/stream_arrays.hpp"
#include "memgauge/gpu/traffic.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

using Arrays = Closable<GpuStreamArrays>;
using Running = Closable<GpuTraffic>;
using Mixes = std::vector<std::pair<unsigned, unsigned>>;

void init_arrays(Arrays* self, OpenGpu& gpu, std::size_t elements, std::string_view element) {
    auto made = gpu.look([&](const Gpu& opened) {
        return std::make_unique<GpuStreamArrays>(opened, elements,
                                                 element_type_from_string(element), signal_raised);
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
        [&](GpuStreamArrays& arrays) { return arrays.run(spec, request, signal_raised); });
}

void init_traffic(Running* self, OpenGpu& gpu, std::size_t bytes) {
    auto made = gpu.look([&](const Gpu& opened) {
        return std::make_unique<GpuTraffic>(opened, bytes, signal_raised);
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
    return self.with([&](GpuTraffic& traffic) { return traffic.run(request, signal_raised); });
}

// What arrays and traffic have alike.
template <class Native, class Class>
void register_checks(Class& made) {
    made.def(
            "validate",
            [](Closable<Native>& self) {
                return self.with([](Native& native) { return native.validate(signal_raised); });
            },
            ReleaseGil())
        .def("close", &Closable<Native>::close, ReleaseGil());
}

}  // namespace

void register_gpu_arrays(nb::module_& module) {
    nb::class_<Arrays> arrays(module, "GpuStreamArrays", nb::is_final());
    arrays
        .def("__init__", &init_arrays, nb::arg("gpu"), nb::arg("elements"),
             nb::arg("element") = "double", ReleaseGil())
        .def_prop_ro("elements",
                     [](Arrays& self) {
                         return self.look([](const GpuStreamArrays& a) { return a.elements(); });
                     })
        .def(
            "prepare",
            [](Arrays& self, const std::vector<GpuKernelSpec>& specs) {
                self.with([&](GpuStreamArrays& a) { a.prepare(specs); });
            },
            nb::arg("specs"), ReleaseGil())
        .def("run", &run_kernel, nb::arg("spec"), nb::kw_only(), nb::arg("lead_in_bytes") = 0,
             nb::arg("iterations") = 1, nb::arg("prefix_elements") = 0, nb::arg("repeats") = 1,
             ReleaseGil())
        .def(
            "corrupt",
            [](Arrays& self, char array, std::size_t element) {
                self.with([&](GpuStreamArrays& a) { a.corrupt(array, element); });
            },
            nb::arg("array"), nb::arg("element"), ReleaseGil());
    register_checks<GpuStreamArrays>(arrays);

    nb::class_<Running> traffic(module, "GpuTraffic", nb::is_final());
    traffic.def("__init__", &init_traffic, nb::arg("gpu"), nb::arg("bytes"), ReleaseGil())
        .def_prop_ro(
            "bytes",
            [](Running& self) { return self.look([](const GpuTraffic& t) { return t.bytes(); }); })
        .def(
            "prepare",
            [](Running& self, const Mixes& mixes) {
                self.with([&](GpuTraffic& t) { t.prepare(mixes); });
            },
            nb::arg("mixes"), ReleaseGil())
        .def("run", &run_traffic, nb::arg("reads"), nb::arg("writes"), nb::kw_only(),
             nb::arg("bytes"), nb::arg("hint") = "default", nb::arg("lead_in_bytes") = 0,
             nb::arg("iterations") = 1, ReleaseGil())
        .def(
            "corrupt",
            [](Running& self, std::size_t element) {
                self.with([&](GpuTraffic& t) { t.corrupt(element); });
            },
            nb::arg("element"), ReleaseGil());
    register_checks<GpuTraffic>(traffic);
}

}  // namespace memgauge::bindings
