#include "memgauge/buffer.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include "register.hpp"

namespace memgauge::bindings {

void register_buffer(nb::module_& module) {
    final_class<Backing>(module, "Backing")
        .def_ro("mapped_bytes", &Backing::mapped_bytes)
        .def_ro("resident_bytes", &Backing::resident_bytes)
        .def_ro("huge_bytes", &Backing::huge_bytes)
        .def_ro("base_page_bytes", &Backing::base_page_bytes)
        .def_ro("huge_page_bytes", &Backing::huge_page_bytes)
        .def_ro("node", &Backing::node)
        .def_ro("share_on_node", &Backing::share_on_node)
        .def_ro("nodes", &Backing::nodes,
                "Nodes that hold some of the sampled pages, ascending, and their shares.");
    module.def("base_page_bytes", [] { return sysconf(_SC_PAGESIZE); });
}

}  // namespace memgauge::bindings
