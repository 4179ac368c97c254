#include "memgauge/pmemobj.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <string>

#include "memory.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

Memory open_pool(int descriptor, std::string path, bool create) {
    return Memory(MemorySource{{}, {}, open_pool_area({descriptor, std::move(path), create})});
}

}  // namespace

void register_pmemobj(nb::module_& module) {
    module.def("open_pool_area", &open_pool, nb::arg("descriptor"), nb::arg("path"),
               nb::arg("create") = false, ReleaseGil());
    module.def("layout_of_pool", &layout_of_pool, nb::arg("descriptor"));
    module.def("pool_bytes", &pool_bytes, nb::arg("bytes"));
    module.attr("POOL_LAYOUT") = pool_layout;
}

}  // namespace memgauge::bindings
