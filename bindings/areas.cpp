#include "memgauge/areas.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <optional>
#include <string>

#include "memory.hpp"
#include "register.hpp"

namespace nb = nanobind;

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
    module.def("open_file_area", &open_file, nb::arg("descriptor"), nb::arg("path"),
               nb::arg("bytes"), nb::arg("reserved_bytes") = 0, ReleaseGil());
    module.def("open_devdax_area", &open_devdax, nb::arg("descriptor"), nb::arg("path"),
               nb::arg("bytes"), nb::arg("page_bytes"), nb::arg("reserved_bytes") = 0,
               nb::arg("node") = nb::none(), ReleaseGil());
    module.def("open_shm_area", [] { return in(open_shm_area()); });
    module.def("file_system_of", &file_system_of, nb::arg("descriptor"));
}

}  // namespace memgauge::bindings
