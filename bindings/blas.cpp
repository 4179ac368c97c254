#include "memgauge/blas.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string_view>

#include "register.hpp"

namespace memgauge::bindings {

void register_blas(nb::module_& module) {
    final_class<Blas>(module, "Blas",
                      "A BLAS library, loaded and limited to the thread that calls it.\n\n"
                      "RequestError: it cannot be loaded, is no BLAS, or starts threads.")
        .def(nb::init<std::string_view>(), "name"_a, ReleaseGil())
        .def_static("names", &Blas::names, "Those known by a name; others by a file or path.")
        .def_prop_ro("name", &Blas::name)
        .def_prop_ro("vendor", &Blas::vendor, "By the functions that it has; empty: not known.")
        .def_prop_ro("version", &Blas::version, "In its own words; empty: it does not tell.")
        .def_prop_ro("file", &Blas::file, "What was loaded, links followed.")
        .def_prop_ro("threads", &Blas::threads,
                     "Of a call, as it reports them; 0: it does not tell, and started none.");
}

}  // namespace memgauge::bindings
