#include "memory.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <new>
#include <optional>
#include <vector>

#include "memgauge/error.hpp"
#include "register.hpp"

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
    final_class<AreaFacts>(
        module, "AreaFacts",
        "What an area of memory is, as the kernel reports it; None: not reported.")
        .def_ro("kind", &AreaFacts::kind)
        .def_ro("path", &AreaFacts::path)
        .def_ro("file_system", &AreaFacts::file_system)
        .def_ro("dax", &AreaFacts::dax)
        .def_ro("map_sync", &AreaFacts::map_sync)
        .def_ro("node", &AreaFacts::node)
        .def_ro("page_bytes", &AreaFacts::page_bytes);
    final_class<Memory>(
        module, "Memory",
        "Where buffers get their pages: ordinary memory by NUMA policy, or an opened area.")
        .def("__init__", &init_memory, "nodes"_a = nb::none(), "weights"_a = nb::none(),
             "None: first touch. One node: bound to it. Several: pages in turn, by weight.")
        .def_prop_ro("nodes", [](const Memory& self) { return self.source().nodes; })
        .def_prop_ro("weights", [](const Memory& self) { return self.source().weights; })
        .def_prop_ro("facts", &facts, "Of the area; None: it is ordinary memory.")
        .def("close", &Memory::close, ReleaseGil(),
             "Let go of the area; later uses raise RuntimeError.");
}

}  // namespace memgauge::bindings
