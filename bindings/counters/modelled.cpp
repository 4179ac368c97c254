#include "memgauge/counters/modelled.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <cstdint>

#include "register.hpp"

namespace memgauge::bindings {

void register_modelled(nb::module_& module) {
    final_class<ModelledSource, CounterSource>(
        module, "ModelledSource",
        "Slots 0 and 1: bytes read and written that kernels of this process are known to move.")
        .def(nb::init<>());
    module.def(
        "add_known_traffic",
        [](std::uint64_t read_bytes, std::uint64_t write_bytes) {
            KnownTraffic::instance().add(read_bytes, write_bytes);
        },
        "read_bytes"_a, "write_bytes"_a,
        "Book traffic that something else than a kernel of this module caused.");
}

}  // namespace memgauge::bindings
