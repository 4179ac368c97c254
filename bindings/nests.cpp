#include "memgauge/nests.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "buffer_view.hpp"
#include "closable.hpp"
#include "memgauge/blas.hpp"
#include "memory.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

// Looked at by memoryviews, which keep it.
class SharedNest : public LoopNest, public std::enable_shared_from_this<SharedNest> {
public:
    using LoopNest::LoopNest;
};
using Nest = Closable<SharedNest>;

void init_nest_spec(NestSpec* self, std::string_view kind, std::size_t m, std::size_t n,
                    std::size_t cap, std::size_t stride, std::size_t planes, std::size_t rows,
                    std::size_t cols, std::size_t x, std::size_t y, std::size_t tile,
                    bool store_prefetch, bool load_prefetch, std::size_t prefetch_lines,
                    std::size_t prefetch_far_lines) {
    const NestSpec spec{.kind = nest_kind_from_string(kind),
                        .shape = {.m = m,
                                  .n = n,
                                  .cap = cap,
                                  .stride = stride,
                                  .planes = planes,
                                  .rows = rows,
                                  .cols = cols,
                                  .x = x,
                                  .y = y,
                                  .tile = tile},
                        .store_prefetch = store_prefetch,
                        .load_prefetch = load_prefetch,
                        .prefetch_lines = prefetch_lines,
                        .prefetch_far_lines = prefetch_far_lines};
    static_cast<void>(arrays_of(spec));  // says what makes no sense
    new (self) NestSpec(spec);
}

std::string operand_of(const NestSpec& spec, const NestArray& array) {
    return "loop nest " + std::string(to_string(spec.kind)) + ", operand " + array.name;
}

void check_operand(const NestSpec& spec, const NestArray& array, const BufferView& view) {
    if (view.size() < array.bytes) {
        throw RequestError(operand_of(spec, array) + ": has " + std::to_string(view.size()) +
                           " bytes of " + std::to_string(array.bytes) + "; give a larger one");
    }
    if (!view.is_aligned(alignof(double))) {
        throw RequestError(operand_of(spec, array) +
                           ": does not begin at a multiple of 8 bytes; copy it");
    }
}

void check_overlap(const NestSpec& spec, const std::vector<NestArray>& arrays,
                   const std::vector<BufferView>& views) {
    for (std::size_t i = 0; i + 1 < views.size(); ++i) {
        if (!views[i].overlaps(views.back())) continue;
        throw RequestError(operand_of(spec, arrays[i]) +
                           ": overlaps what is written; give memory of its own");
    }
}

std::vector<BufferView> operands_of(const NestSpec& spec, const std::vector<Readable>& operands) {
    const std::vector<NestArray> arrays = arrays_of(spec);
    if (operands.size() != arrays.size()) {
        throw RequestError("loop nest " + std::string(to_string(spec.kind)) + " works on " +
                           std::to_string(arrays.size()) + " arrays, not on " +
                           std::to_string(operands.size()) + "; give one for each");
    }
    std::vector<BufferView> views;
    views.reserve(arrays.size());
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        views.emplace_back(operands[i], arrays[i].written, "operand " + arrays[i].name);
        check_operand(spec, arrays[i], views.back());
    }
    check_overlap(spec, arrays, views);
    return views;
}

void execute_nest(const NestSpec& spec, const std::vector<Readable>& operands) {
    const std::vector<BufferView> views = operands_of(spec, operands);
    std::vector<void*> addresses;
    for (const BufferView& view : views) addresses.push_back(view.data());
    const nb::gil_scoped_release released;
    execute(spec, addresses);
}

void init_nest(Nest* self, Team& team, const NestSpec& spec, std::size_t copies,
               std::string_view pages, const Memory* memory, std::shared_ptr<const Blas> blas) {
    new (self)
        Nest(std::make_unique<SharedNest>(team, spec, copies, page_policy_from_string(pages),
                                          source_of(memory), is_wished_to_stop, std::move(blas)),
             "LoopNest");
}

using DoublesView = nb::ndarray<nb::memview, double, nb::ndim<1>, nb::c_contig>;

DoublesView array(Nest& self, std::size_t rank, std::size_t copy, std::size_t index) {
    return self.look([&](const SharedNest& nest) {
        void* const begin = nest.array(rank, copy, index);
        const std::size_t doubles = arrays_of(nest.spec())[index].bytes / sizeof(double);
        using Kept = std::shared_ptr<const SharedNest>;
        auto kept = std::make_unique<Kept>(nest.shared_from_this());
        const nb::capsule owner(kept.get(),
                                [](void* held) noexcept { delete static_cast<Kept*>(held); });
        static_cast<void>(kept.release());
        return DoublesView(begin, {doubles}, owner);
    });
}

std::uintptr_t address(Nest& self, std::size_t rank, std::size_t copy, std::size_t index) {
    return self.look([&](const SharedNest& nest) {
        return reinterpret_cast<std::uintptr_t>(nest.array(rank, copy, index));
    });
}

void simulate_nest(const NestSpec& spec, const std::vector<std::vector<std::uint64_t>>& bases,
                   CacheModel& model) {
    simulate_batched(spec, bases, model, is_wished_to_stop);
}

std::vector<std::string_view> kind_names() {
    std::vector<std::string_view> names;
    for (const NestKind kind : nest_kinds()) names.push_back(to_string(kind));
    return names;
}

void register_nest_spec(nb::module_& module) {
    final_class<NestArray>(module, "NestArray")
        .def_ro("name", &NestArray::name)
        .def_ro("bytes", &NestArray::bytes)
        .def_ro("element_bytes", &NestArray::element_bytes)
        .def_ro("read", &NestArray::read)
        .def_ro("written", &NestArray::written);
    final_class<NestSpec>(module, "NestSpec",
                          "A loop nest of so many elements; RequestError where they make no sense.")
        .def("__init__", &init_nest_spec, "kind"_a, nb::kw_only(), "m"_a = 0, "n"_a = 0,
             "cap"_a = 0, "stride"_a = 0, "planes"_a = 0, "rows"_a = 0, "cols"_a = 0, "x"_a = 0,
             "y"_a = 0, "tile"_a = 0, "store_prefetch"_a = false, "load_prefetch"_a = false,
             "prefetch_lines"_a = prefetch_lines_ahead, "prefetch_far_lines"_a = 0,
             "Prefetches are so many lines of 64 bytes ahead; far: a second one each, 0 for none.")
        .def_prop_ro("arrays", &arrays_of, "In the order of operands.")
        .def_prop_ro("trips", &trips_of, "Of the innermost loop.");
}

void register_loop_nest(nb::module_& module) {
    final_class<NestValidation>(module, "NestValidation")
        .def_ro("array", &NestValidation::array)
        .def_ro("average_relative_error", &NestValidation::average_relative_error)
        .def_ro("epsilon", &NestValidation::epsilon)
        .def_ro("elements", &NestValidation::elements)
        .def_ro("failed_elements", &NestValidation::failed_elements)
        .def_ro("first_failed", &NestValidation::first_failed)
        .def_ro("passed", &NestValidation::passed);
    final_class<Nest>(module, "LoopNest")
        .def("__init__", &init_nest, "team"_a, "spec"_a, "copies"_a = 1, nb::kw_only(),
             "pages"_a = "auto", "memory"_a = nb::none(), "blas"_a = nb::none(),
             nb::keep_alive<1, 2>(), ReleaseGil())
        .def("run", Nest::method(&LoopNest::run), "repetitions"_a = 1, ReleaseGil(),
             "Every thread executes it so often, each stamped, on its sets of arrays in turn.")
        .def("validate", Nest::method(&LoopNest::validate), ReleaseGil(),
             "Of each array written, in the sets used: compared with what it must hold.\n\n"
             "Nothing before the first run. Of GEMM sums of rows are compared, not elements.")
        .def("array", &array, "rank"_a, "copy"_a, "index"_a,
             nb::sig("def array(self, rank: int, copy: int, index: int) -> memoryview"),
             "Of one set, as doubles; of complex ones real and imaginary parts in turn.\n\n"
             "Outlives close().")
        .def("address", &address, "rank"_a, "copy"_a, "index"_a, "Where it begins.")
        .def("corrupt", Nest::method(&LoopNest::corrupt), "rank"_a, "array"_a, "element"_a,
             ReleaseGil())
        .def("backing", Nest::method(&LoopNest::backing), ReleaseGil())
        .def("close", &Nest::close, ReleaseGil(),
             "Free the arrays now; later calls raise RuntimeError.");
}

}  // namespace

void register_nests(nb::module_& module) {
    module.attr("NEST_KINDS") = kind_names();
    register_nest_spec(module);
    register_loop_nest(module);
    module.def("simulate_nest", &simulate_nest, "spec"_a, "bases"_a, "model"_a, ReleaseGil(),
               "One execution by each core on arrays of its own that begin at `bases[core]`.");
    module.def("trips_simulated", &trips_simulated, "spec"_a, "model"_a,
               "Of the spec's trips, those that at least are simulated, for one core; the others "
               "are counted as repeating them.");
    module.def("execute_nest", &execute_nest, "spec"_a, "operands"_a,
               "One execution on buffers of the caller, in this thread.\n\n"
               "Raises RequestError: a buffer is too small, not contiguous, or to be written and "
               "read-only.");
}

}  // namespace memgauge::bindings
