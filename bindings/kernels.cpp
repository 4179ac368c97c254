#include "memgauge/kernels.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

void init_spec(KernelSpec* self, std::string_view operation, std::string_view element,
               std::string_view variant, std::string_view isa, std::string_view store,
               unsigned unroll, unsigned streams, std::size_t prefetch_near_bytes,
               std::size_t prefetch_far_bytes, std::string_view access) {
    const KernelSpec spec{.operation = operation_from_string(operation),
                          .element = element_type_from_string(element),
                          .variant = variant_from_string(variant),
                          .isa = isa_from_string(isa),
                          .store = store_kind_from_string(store),
                          .unroll = unroll,
                          .streams = streams,
                          .prefetch_near_bytes = prefetch_near_bytes,
                          .prefetch_far_bytes = prefetch_far_bytes,
                          .access = access_from_string(access)};
    static_cast<void>(find_kernel(spec));  // throws when it cannot run here
    new (self) KernelSpec(spec);
}

std::vector<std::string> isa_names() {
    std::vector<std::string> names;
    for (const Isa isa : supported_isas()) names.emplace_back(to_string(isa));
    return names;
}

using NearAndFarBytes = std::pair<std::size_t, std::size_t>;

std::vector<KernelSpec> specs_by_name(std::string_view operation, std::string_view element,
                                      const std::vector<NearAndFarBytes>& prefetch_bytes) {
    std::vector<PrefetchDistances> distances;
    for (const auto& [near, far] : prefetch_bytes) distances.push_back({near, far});
    return tuned_specs(operation_from_string(operation), element_type_from_string(element),
                       distances);
}

KernelSpec default_by_name(std::string_view operation, std::string_view element) {
    return default_tuned_spec(operation_from_string(operation), element_type_from_string(element));
}

}  // namespace

void register_kernels(nb::module_& module) {
    nb::class_<KernelSpec>(module, "KernelSpec", nb::is_final())
        .def("__init__", &init_spec, nb::arg("operation"), nb::arg("element") = "double",
             nb::arg("variant") = "standard", nb::arg("isa") = "generic",
             nb::arg("store") = "temporal", nb::arg("unroll") = 1, nb::arg("streams") = 1,
             nb::arg("prefetch_near_bytes") = 0, nb::arg("prefetch_far_bytes") = 0,
             nb::arg("access") = "direct")
        .def_prop_ro("operation", [](const KernelSpec& s) { return to_string(s.operation); })
        .def_prop_ro("element", [](const KernelSpec& s) { return to_string(s.element); })
        .def_prop_ro("variant", [](const KernelSpec& s) { return to_string(s.variant); })
        .def_prop_ro("isa", [](const KernelSpec& s) { return to_string(s.isa); })
        .def_prop_ro("store", [](const KernelSpec& s) { return to_string(s.store); })
        .def_ro("unroll", &KernelSpec::unroll)
        .def_ro("streams", &KernelSpec::streams)
        .def_ro("prefetch_near_bytes", &KernelSpec::prefetch_near_bytes)
        .def_ro("prefetch_far_bytes", &KernelSpec::prefetch_far_bytes)
        .def_prop_ro("access", [](const KernelSpec& s) { return to_string(s.access); })
        .def_prop_ro("counted_read_bytes",
                     [](const KernelSpec& s) { return traffic(s).counted_read; })
        .def_prop_ro("counted_write_bytes",
                     [](const KernelSpec& s) { return traffic(s).counted_write; })
        .def_prop_ro("write_allocate_bytes",
                     [](const KernelSpec& s) { return traffic(s).write_allocate; });
    module.def("supported_isas", &isa_names);
    module.def("tuned_specs", &specs_by_name, nb::arg("operation"), nb::arg("element") = "double",
               nb::arg("prefetch_bytes") = std::vector<NearAndFarBytes>{{0, 0}});
    module.def("default_tuned_spec", &default_by_name, nb::arg("operation"),
               nb::arg("element") = "double");
    module.def("write_back_instruction", &write_back_instruction);
}

}  // namespace memgauge::bindings
