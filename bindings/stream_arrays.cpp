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
    new (self)
        Arrays(std::make_unique<StreamArrays>(team, request, is_wished_to_stop), "StreamArrays");
}

Slice run_arrays(Arrays& self, const KernelSpec& spec, std::size_t first_block, std::size_t blocks,
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

}  // namespace

void register_stream_arrays(nb::module_& module) {
    final_class<ArrayValidation>(module, "ArrayValidation")
        .def_ro("array", &ArrayValidation::array)
        .def_ro("average_relative_error", &ArrayValidation::average_relative_error)
        .def_ro("epsilon", &ArrayValidation::epsilon)
        .def_ro("elements", &ArrayValidation::elements)
        .def_ro("failed_elements", &ArrayValidation::failed_elements)
        .def_ro("first_failed", &ArrayValidation::first_failed,
                "Index; means nothing when no element failed.")
        .def_ro("passed", &ArrayValidation::passed);
    final_class<Arrays>(module, "StreamArrays")
        .def("__init__", &init_arrays, "team"_a, "elements"_a, "element"_a = "double",
             "pages"_a = "auto", "memory"_a = nb::none(), "offset_bytes"_a = 0, "blocks"_a = 1,
             nb::keep_alive<1, 2>(), ReleaseGil())
        .def_prop_ro("elements", Arrays::getter(&StreamArrays::elements))
        .def_prop_ro("elements_per_block", Arrays::getter(&StreamArrays::elements_per_block))
        .def("run", &run_arrays, "spec"_a, "first_block"_a = 0, "blocks"_a = 1,
             "lead_in_blocks"_a = 0, "iterations"_a = 1, "prefix_elements"_a = 0, "repeats"_a = 1,
             "pingpong"_a = false, ReleaseGil())
        .def("validate", Arrays::method(&StreamArrays::validate), ReleaseGil())
        .def("backing", Arrays::method(&StreamArrays::backing), ReleaseGil())
        .def("corrupt", Arrays::method(&StreamArrays::corrupt), "array"_a, "element"_a,
             ReleaseGil())
        .def("close", &Arrays::close, ReleaseGil(),
             "Free the arrays now; later calls raise RuntimeError.");
}

}  // namespace memgauge::bindings
