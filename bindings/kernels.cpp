#include "memgauge/kernels.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "register.hpp"

namespace memgauge::bindings {
namespace {

// Loops that translate addresses are plain C++, for any processor.
Isa default_isa(Variant variant, Access access) {
    const bool has_vectors = variant == Variant::standard && access == Access::direct;
    return has_vectors ? standard_isa() : Isa::generic;
}

void init_kernel_spec(KernelSpec* self, std::string_view operation, std::string_view element,
                      std::string_view variant, std::optional<std::string_view> isa,
                      std::string_view store, unsigned unroll, unsigned streams,
                      std::size_t prefetch_near_bytes, std::size_t prefetch_far_bytes,
                      std::string_view access) {
    const Variant kind = variant_from_string(variant);
    const KernelSpec spec{
        .operation = operation_from_string(operation),
        .element = element_type_from_string(element),
        .variant = kind,
        .isa = isa ? isa_from_string(*isa) : default_isa(kind, access_from_string(access)),
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
    final_class<KernelSpec>(module, "KernelSpec")
        .def("__init__", &init_kernel_spec, "operation"_a, "element"_a = "double",
             "variant"_a = "standard", "isa"_a = nb::none(), "store"_a = "temporal", "unroll"_a = 1,
             "streams"_a = 1, "prefetch_near_bytes"_a = 0, "prefetch_far_bytes"_a = 0,
             "access"_a = "direct",
             "Raises RequestError when this machine cannot run it or no such kernel was "
             "compiled.\n\n"
             "Without `isa` a standard kernel is what gcc -march=native would make of its loop\n"
             "here, and any other is of generic instructions.")
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
        .def_prop_ro(
            "counted_read_bytes", [](const KernelSpec& s) { return traffic(s).counted_read; },
            "Bytes per element, as are the next two.")
        .def_prop_ro("counted_write_bytes",
                     [](const KernelSpec& s) { return traffic(s).counted_write; })
        .def_prop_ro("write_allocate_bytes",
                     [](const KernelSpec& s) { return traffic(s).write_allocate; });
    module.def("supported_isas", &isa_names, "Instruction sets, best for streaming first.");
    module.def("tuned_specs", &specs_by_name, "operation"_a, "element"_a = "double",
               "prefetch_bytes"_a = std::vector<NearAndFarBytes>{{0, 0}},
               "All tuned kernels that were compiled and can run here.\n\n"
               "They are listed at each near and far prefetch distance for which they were "
               "compiled; without any where `prefetch_bytes` is left out.");
    module.def("default_tuned_spec", &default_by_name, "operation"_a, "element"_a = "double",
               "The tuned spec to take where nothing was searched.");
    module.def("write_back_instruction", &write_back_instruction,
               "How flushed stores write a line back here, such as `clwb`.");
}

}  // namespace memgauge::bindings
