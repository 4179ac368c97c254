#include "memory.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <new>
#include <optional>
#include <vector>

#include "memgauge/error.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

void init_memory(Memory* self, std::optional<std::vector<int>> nodes,
                 std::optional<std::vector<unsigned>> weights) {
    new (self) Memory(MemorySource{std::move(nodes).value_or(std::vector<int>{}),
                                   std::move(weights).value_or(std::vector<unsigned>{}), nullptr});
}

std::optional<AreaFacts> facts(const Memory& self) {
    const MemorySource& source = self.source();
    return source.area ? std::optional<AreaFacts>(source.area->facts()) : std::nullopt;
}

}  // namespace

void register_memory(nb::module_& module) {
    nb::class_<AreaFacts>(module, "AreaFacts", nb::is_final())
        .def_ro("kind", &AreaFacts::kind)
        .def_ro("path", &AreaFacts::path)
        .def_ro("file_system", &AreaFacts::file_system)
        .def_ro("dax", &AreaFacts::dax)
        .def_ro("map_sync", &AreaFacts::map_sync)
        .def_ro("node", &AreaFacts::node)
        .def_ro("page_bytes", &AreaFacts::page_bytes);
    nb::class_<Memory>(module, "Memory", nb::is_final())
        .def("__init__", &init_memory, nb::arg("nodes") = nb::none(),
             nb::arg("weights") = nb::none())
        .def_prop_ro("nodes", [](const Memory& self) { return self.source().nodes; })
        .def_prop_ro("weights", [](const Memory& self) { return self.source().weights; })
        .def_prop_ro("facts", &facts)
        .def("close", &Memory::close, ReleaseGil());
}

}  // namespace memgauge::bindings
