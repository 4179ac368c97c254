#include "memgauge/stream_arrays.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

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

using Arrays = Closable<StreamArrays>;

void init_arrays(Arrays* self, Team& team, std::size_t elements, std::string_view element,
                 std::string_view pages, const Memory* memory, std::size_t offset_bytes,
                 std::size_t blocks) {
    const ArraysRequest request{.element = element_type_from_string(element),
                                .elements = elements,
                                .pages = page_policy_from_string(pages),
                                .memory = source_of(memory),
                                .offset_bytes = offset_bytes,
                                .blocks = blocks};
    new (self) Arrays(std::make_unique<StreamArrays>(team, request, signal_raised), "StreamArrays");
}

Slice run(Arrays& self, const KernelSpec& spec, std::size_t first_block, std::size_t blocks,
          std::size_t lead_in_blocks, std::size_t iterations, std::size_t prefix_elements,
          std::size_t repeats, bool pingpong) {
    const SliceRequest request{.first_block = first_block,
                               .blocks = blocks,
                               .lead_in_blocks = lead_in_blocks,
                               .iterations = iterations,
                               .prefix_elements = prefix_elements,
                               .repeats = repeats,
                               .pingpong = pingpong};
    return self.with([&](StreamArrays& arrays) { return arrays.run(spec, request); });
}

auto validate(Arrays& self) {
    return self.with([](StreamArrays& arrays) { return arrays.validate(signal_raised); });
}

auto backing(Arrays& self) {
    return self.with([](const StreamArrays& arrays) { return arrays.backing(); });
}

void corrupt(Arrays& self, char array, std::size_t element) {
    self.with([&](StreamArrays& arrays) { arrays.corrupt(array, element); });
}

std::size_t elements(Arrays& self) {
    return self.look([](const StreamArrays& arrays) { return arrays.elements(); });
}

std::size_t elements_per_block(Arrays& self) {
    return self.look([](const StreamArrays& arrays) { return arrays.elements_per_block(); });
}

}  // namespace

void register_stream_arrays(nb::module_& module) {
    nb::class_<ArrayValidation>(module, "ArrayValidation", nb::is_final())
        .def_ro("array", &ArrayValidation::array)
        .def_ro("average_relative_error", &ArrayValidation::average_relative_error)
        .def_ro("epsilon", &ArrayValidation::epsilon)
        .def_ro("elements", &ArrayValidation::elements)
        .def_ro("failed_elements", &ArrayValidation::failed_elements)
        .def_ro("first_failed", &ArrayValidation::first_failed)
        .def_ro("passed", &ArrayValidation::passed);
    nb::class_<Arrays>(module, "StreamArrays", nb::is_final())
        .def("__init__", &init_arrays, nb::arg("team"), nb::arg("elements"),
             nb::arg("element") = "double", nb::arg("pages") = "auto",
             nb::arg("memory") = nb::none(), nb::arg("offset_bytes") = 0, nb::arg("blocks") = 1,
             nb::keep_alive<1, 2>(), ReleaseGil())
        .def_prop_ro("elements", &elements)
        .def_prop_ro("elements_per_block", &elements_per_block)
        .def("run", &run, nb::arg("spec"), nb::arg("first_block") = 0, nb::arg("blocks") = 1,
             nb::arg("lead_in_blocks") = 0, nb::arg("iterations") = 1,
             nb::arg("prefix_elements") = 0, nb::arg("repeats") = 1, nb::arg("pingpong") = false,
             ReleaseGil())
        .def("validate", &validate, ReleaseGil())
        .def("backing", &backing, ReleaseGil())
        .def("corrupt", &corrupt, nb::arg("array"), nb::arg("element"), ReleaseGil())
        .def("close", &Arrays::close, ReleaseGil());
}

}  // namespace memgauge::bindings
