#include "memgauge/areas.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <optional>
#include <string>

#include "memory.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

Memory in(std::shared_ptr<MemoryArea> area) {
    return Memory(MemorySource{{}, {}, std::move(area)});
}

Memory open_file(int descriptor, std::string path, std::size_t bytes, std::size_t reserved_bytes) {
    return in(open_file_area({descriptor, std::move(path), bytes, reserved_bytes}));
}

Memory open_devdax(int descriptor, std::string path, std::size_t bytes, std::size_t page_bytes,
                   std::size_t reserved_bytes, std::optional<int> node) {
    return in(
        open_devdax_area({descriptor, std::move(path), bytes, page_bytes, reserved_bytes, node}));
}

}  // namespace

void register_areas(nb::module_& module) {
    module.def("open_file_area", &open_file, "descriptor"_a, "path"_a, "bytes"_a,
               "reserved_bytes"_a = 0, ReleaseGil(),
               "Memory in an open file, but for its first `reserved_bytes`; `path` names it in "
               "messages.\n\n"
               "Raises RequestError: its file system is full, says how much is left.");
    module.def("open_devdax_area", &open_devdax, "descriptor"_a, "path"_a, "bytes"_a,
               "page_bytes"_a, "reserved_bytes"_a = 0, "node"_a = nb::none(), ReleaseGil(),
               "Memory of an open device of so many bytes, mapped in pages of one size.");
    module.def(
        "open_shm_area", [] { return in(open_shm_area()); }, "Shared memory without a name.");
    module.def(
        "file_system_of", &file_system_of, "descriptor"_a,
        "Name of the kind of file system that an open file is in; empty where it is not known.");
}

}  // namespace memgauge::bindings
