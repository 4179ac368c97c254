#include "memgauge/pmemobj.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <string>

#include "memory.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

Memory open_pool(int descriptor, std::string path, bool create) {
    return Memory(MemorySource{{}, {}, open_pool_area({descriptor, std::move(path), create})});
}

}  // namespace

void register_pmemobj(nb::module_& module) {
    module.def("open_pool_area", &open_pool, "descriptor"_a, "path"_a, "create"_a = false,
               ReleaseGil(),
               "Memory in a pool of libpmemobj in an open file; `path` names it in messages.\n\n"
               "`create`: made of a file that is all zeros, as large as that.\n\n"
               "Raises RequestError: the library is not installed; another process has the pool; "
               "it is of another layout, damaged or no pool.");
    module.def("layout_of_pool", &layout_of_pool, "descriptor"_a,
               "Of the pool that an open file holds; None: it is no pool of libpmemobj, or cannot "
               "be read.");
    module.def("pool_bytes", &pool_bytes, "bytes"_a,
               "How large to make a pool for buffers of so many bytes in all.");
    module.attr("POOL_LAYOUT") = pool_layout;
}

}  // namespace memgauge::bindings
