#include "memgauge/accesses.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include "closable.hpp"
#include "memory.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

using Accesses = Closable<AccessBuffer>;

void init_accesses(Accesses* self, Team& team, std::size_t bytes, std::string_view pages,
                   const Memory* memory) {
    new (self) Accesses(std::make_unique<AccessBuffer>(team, bytes, page_policy_from_string(pages),
                                                       source_of(memory), is_wished_to_stop),
                        "AccessBuffer");
}

Slice run_accesses(Accesses& self, std::string_view kind, std::string_view order,
                   std::size_t access_bytes, std::size_t stride_bytes, std::size_t slots,
                   std::size_t accesses, std::size_t warm_accesses, std::size_t iterations,
                   std::size_t spread_lines, bool flush) {
    const AccessPattern pattern{.kind = pattern_kind_from_string(kind),
                                .order = access_order_from_string(order),
                                .access_bytes = access_bytes,
                                .stride_bytes = stride_bytes,
                                .slots = slots,
                                .spread_lines = spread_lines};
    return self.with([&](AccessBuffer& buffer) {
        return buffer.run(pattern, accesses, warm_accesses, iterations, flush);
    });
}

}  // namespace

void register_accesses(nb::module_& module) {
    final_class<Accesses>(module, "AccessBuffer")
        .def("__init__", &init_accesses, "team"_a, "bytes"_a, "pages"_a = "auto",
             "memory"_a = nb::none(), nb::keep_alive<1, 2>(), ReleaseGil())
        .def_prop_ro("bytes", Accesses::getter(&AccessBuffer::bytes))
        .def("run", &run_accesses, "kind"_a, "order"_a, "access_bytes"_a, "stride_bytes"_a,
             "slots"_a, "accesses"_a, "warm_accesses"_a = 0, "iterations"_a = 1,
             "spread_lines"_a = 1, "flush"_a = false, ReleaseGil())
        .def("backing", Accesses::method(&AccessBuffer::backing), ReleaseGil())
        .def("close", &Accesses::close, ReleaseGil(),
             "Free the memory now; later calls raise RuntimeError.");
}

}  // namespace memgauge::bindings
