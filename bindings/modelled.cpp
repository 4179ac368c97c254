#include "memgauge/counters/modelled.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <cstdint>

#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {

void register_modelled(nb::module_& module) {
    nb::class_<ModelledSource, CounterSource>(module, "ModelledSource", nb::is_final())
        .def(nb::init<>());
    module.def(
        "add_known_traffic",
        [](std::uint64_t read_bytes, std::uint64_t write_bytes) {
            KnownTraffic::instance().add(read_bytes, write_bytes);
        },
        nb::arg("read_bytes"), nb::arg("write_bytes"));
}

}  // namespace memgauge::bindings
