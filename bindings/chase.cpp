#include "memgauge/chase.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include "closable.hpp"
#include "memory.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

using Ring = Closable<ChaseRing>;

void init_ring(Ring* self, Team& team, std::size_t bytes, std::size_t node_bytes,
               std::size_t block_bytes, std::string_view order, std::string_view pages,
               const Memory* memory, std::uint64_t seed, Team* linkers) {
    const ChaseRequest request{.bytes = bytes,
                               .node_bytes = node_bytes,
                               .block_bytes = block_bytes,
                               .order = chase_order_from_string(order),
                               .pages = page_policy_from_string(pages),
                               .memory = source_of(memory),
                               .seed = seed};
    new (self)
        Ring(std::make_unique<ChaseRing>(team, request, is_wished_to_stop, linkers), "ChaseRing");
}

}  // namespace

void register_chase(nb::module_& module) {
    final_class<Ring>(module, "ChaseRing")
        .def("__init__", &init_ring, "team"_a, "bytes"_a, "node_bytes"_a = 64, "block_bytes"_a = 0,
             "order"_a = "random", "pages"_a = "auto", "memory"_a = nb::none(), "seed"_a = 1,
             "linkers"_a = nb::none(), nb::keep_alive<1, 2>(), ReleaseGil())
        .def_prop_ro("nodes", Ring::getter(&ChaseRing::nodes))
        .def("run", Ring::method(&ChaseRing::run), "hops"_a, "warm_hops"_a = 0, "iterations"_a = 1,
             "sweeps"_a = 0, ReleaseGil())
        .def("is_single_cycle", Ring::method(&ChaseRing::is_single_cycle), ReleaseGil())
        .def("backing", Ring::method(&ChaseRing::backing), ReleaseGil())
        .def("close", &Ring::close, ReleaseGil(),
             "Free the ring now; later calls raise RuntimeError.");
}

}  // namespace memgauge::bindings
