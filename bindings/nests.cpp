#include "memgauge/nests.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "buffer_view.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

void init_spec(NestSpec* self, std::string_view kind, std::size_t m, std::size_t n, std::size_t cap,
               std::size_t stride, std::size_t planes, std::size_t rows, std::size_t cols,
               std::size_t x, std::size_t y, std::size_t tile, bool store_prefetch) {
    const NestSpec spec{.kind = nest_kind_from_string(kind),
                        .shape = {.m = m,
                                  .n = n,
                                  .cap = cap,
                                  .stride = stride,
                                  .planes = planes,
                                  .rows = rows,
                                  .cols = cols,
                                  .x = x,
                                  .y = y,
                                  .tile = tile},
                        .store_prefetch = store_prefetch};
    static_cast<void>(arrays_of(spec));  // says what makes no sense
    new (self) NestSpec(spec);
}

void check_operand(const NestArray& array, const BufferView& view, const std::string& what) {
    if (view.size() < array.bytes) {
        throw RequestError(what + ": has " + std::to_string(view.size()) + " bytes of " +
                           std::to_string(array.bytes) + "; give a larger one");
    }
    if (!view.is_aligned(alignof(double))) {
        throw RequestError(what + ": does not begin at a multiple of 8 bytes; copy it");
    }
}

std::vector<BufferView> operands_of(const NestSpec& spec, const std::vector<nb::object>& operands) {
    const std::vector<NestArray> arrays = arrays_of(spec);
    const std::string nest = "loop nest " + std::string(to_string(spec.kind));
    if (operands.size() != arrays.size()) {
        throw RequestError(nest + " works on " + std::to_string(arrays.size()) +
                           " arrays, not on " + std::to_string(operands.size()) +
                           "; give one for each");
    }
    std::vector<BufferView> views;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const std::string what = nest + ", operand " + arrays[i].name;
        views.emplace_back(operands[i], arrays[i].written, what);
        check_operand(arrays[i], views.back(), what);
    }
    for (std::size_t i = 0; i + 1 < views.size(); ++i) {
        if (views[i].overlaps(views.back())) {
            throw RequestError(nest + ": what is written overlaps operand " + arrays[i].name +
                               "; give memory of its own");
        }
    }
    return views;
}

void execute_nest(const NestSpec& spec, const std::vector<nb::object>& operands) {
    const std::vector<BufferView> views = operands_of(spec, operands);
    std::vector<void*> addresses;
    for (const BufferView& view : views) addresses.push_back(view.data());
    const nb::gil_scoped_release released;
    execute(spec, addresses);
}

std::vector<std::string_view> kind_names() {
    std::vector<std::string_view> names;
    for (const NestKind kind : nest_kinds()) names.push_back(to_string(kind));
    return names;
}

void register_spec(nb::module_& module) {
    nb::class_<NestArray>(module, "NestArray", nb::is_final())
        .def_ro("name", &NestArray::name)
        .def_ro("bytes", &NestArray::bytes)
        .def_ro("element_bytes", &NestArray::element_bytes)
        .def_ro("read", &NestArray::read)
        .def_ro("written", &NestArray::written);
    nb::class_<NestSpec>(module, "NestSpec", nb::is_final())
        .def("__init__", &init_spec, nb::arg("kind"), nb::kw_only(), nb::arg("m") = 0,
             nb::arg("n") = 0, nb::arg("cap") = 0, nb::arg("stride") = 0, nb::arg("planes") = 0,
             nb::arg("rows") = 0, nb::arg("cols") = 0, nb::arg("x") = 0, nb::arg("y") = 0,
             nb::arg("tile") = 0, nb::arg("store_prefetch") = false)
        .def_prop_ro("arrays", &arrays_of)
        .def_prop_ro("trips", &trips_of);
}

}  // namespace

void register_nests(nb::module_& module) {
    module.attr("NEST_KINDS") = kind_names();
    register_spec(module);
    module.def("execute_nest", &execute_nest, nb::arg("spec"), nb::arg("operands"));
}

}  // namespace memgauge::bindings
