#include "memgauge/shared_lines.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "closable.hpp"
#include "memory.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

using Lines = Closable<SharedLines>;

void init_lines(Lines* self, Team& team, std::size_t home_rank, const Memory* memory) {
    new (self)
        Lines(std::make_unique<SharedLines>(team, home_rank, source_of(memory), is_wished_to_stop),
              "SharedLines");
}

Slice contend(Lines& self, const std::vector<std::size_t>& ranks, std::string_view how,
              std::uint32_t operations) {
    const Contention contention = contention_from_string(how);
    return self.with(
        [&](SharedLines& lines) { return lines.contend(ranks, contention, operations); });
}

}  // namespace

void register_shared_lines(nb::module_& module) {
    final_class<HandoverSlices>(module, "HandoverSlices",
                                "What two threads did with one line, by stores and by swaps.")
        .def_prop_ro("store", [](const HandoverSlices& s) -> const auto& { return s.store; })
        .def_prop_ro("compare_and_swap",
                     [](const HandoverSlices& s) -> const auto& { return s.compare_and_swap; });
    final_class<Lines>(module, "SharedLines",
                       "Cache lines that threads of a team hand to each other, or contend for.")
        .def("__init__", &init_lines, "team"_a, "home_rank"_a, "memory"_a = nb::none(),
             nb::keep_alive<1, 2>(), ReleaseGil(),
             "The lines are touched by thread `home_rank`. Raises RequestError: no such thread.")
        .def("hand_over", Lines::method(&SharedLines::hand_over), "a"_a, "b"_a, "batches"_a,
             "batch_round_trips"_a, ReleaseGil(),
             "Each thread's stamps are of all timed batches together; none: a CPU was not to be "
             "had. `pingpong_ns` of both slices is that of the stores, by a low quantile over "
             "batches.")
        .def("contend", &contend, "ranks"_a, "how"_a, "operations"_a, ReleaseGil(),
             "All at once, by `fetch-add` or `compare-and-swap`, until they have done "
             "`operations` together; of fetch-add each thread does one more.")
        .def("backing", Lines::method(&SharedLines::backing), ReleaseGil())
        .def("close", &Lines::close, ReleaseGil(),
             "Free the memory now; later calls raise RuntimeError.");
}

}  // namespace memgauge::bindings
