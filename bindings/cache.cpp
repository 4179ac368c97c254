#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "buffer_view.hpp"
#include "memgauge/cache_model.hpp"
#include "memgauge/names.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

constexpr Names<2> replacements{"lru", "tree-plru"};
constexpr Names<3> inclusions{"non-inclusive", "inclusive", "exclusive"};
constexpr Names<3> kinds{"load", "store", "store-prefetch"};

void init_level(CacheLevel* self, std::string name, std::size_t bytes, std::size_t ways,
                unsigned cores, std::string_view replacement, std::string_view inclusion,
                bool borrows_idle) {
    new (self)
        CacheLevel{.name = std::move(name),
                   .bytes = bytes,
                   .ways = ways,
                   .cores = cores,
                   .replacement = value_of<Replacement>(replacements, "replacement", replacement),
                   .inclusion = value_of<Inclusion>(inclusions, "inclusion", inclusion),
                   .borrows_idle = borrows_idle};
}

void init_machine(CacheMachine* self, std::string name, std::vector<CacheLevel> levels,
                  std::size_t line_bytes, std::size_t sector_bytes, unsigned cores,
                  unsigned idle_cores, unsigned store_lines, unsigned store_streams,
                  unsigned store_gap, unsigned strided_steps, unsigned strided_window,
                  bool next_line, bool stride, unsigned stride_ahead) {
    new (self) CacheMachine{
        .name = std::move(name),
        .line_bytes = line_bytes,
        .sector_bytes = sector_bytes,
        .levels = std::move(levels),
        .cores = cores,
        .idle_cores = idle_cores,
        .store_streams = {.lines = store_lines,
                          .streams = store_streams,
                          .gap = store_gap,
                          .strided = strided_steps,
                          .window = strided_window},
        .prefetchers = {.next_line = next_line, .stride = stride, .stride_ahead = stride_ahead}};
}

// A batch at a time, so that records of Python's become accesses without all of them at once.
constexpr std::size_t batch = 4096;

template <class Make>
void in_batches(CacheModel& model, unsigned core, std::size_t count, const Make& make) {
    const nb::gil_scoped_release released;
    std::vector<CacheAccess> accesses;
    for (std::size_t begin = 0; begin < count; begin += batch) {
        accesses.clear();
        for (std::size_t i = begin; i < count && i < begin + batch; ++i) {
            accesses.push_back(make(i));
        }
        model.access(core, accesses);
    }
}

void check_records(const BufferView& view, std::size_t bytes, const std::string& what) {
    if (view.size() % bytes != 0) {
        throw RequestError(what + ": " + std::to_string(view.size()) +
                           " bytes are no multiple of " + std::to_string(bytes) +
                           "; give whole records");
    }
}

std::uint8_t stream_number(unsigned stream) {
    if (stream >= most_streams) {
        throw RequestError("access stream " + std::to_string(stream) +
                           " does not exist; give 0 to " + std::to_string(most_streams - 1));
    }
    return static_cast<std::uint8_t>(stream);
}

void access(CacheModel& self, const Readable& addresses, unsigned core, std::uint32_t bytes,
            std::string_view kind, unsigned stream) {
    const BufferView view(addresses, false, "addresses of accesses");
    check_records(view, sizeof(std::uint64_t), "addresses of accesses");
    CacheAccess access{.bytes = bytes,
                       .kind = value_of<AccessKind>(kinds, "kind of access", kind),
                       .stream = stream_number(stream)};
    const auto* const from = static_cast<const std::byte*>(view.data());
    in_batches(self, core, view.size() / sizeof(std::uint64_t), [&](std::size_t i) {
        std::memcpy(&access.address, from + i * sizeof(std::uint64_t), sizeof(std::uint64_t));
        return access;
    });
}

struct Record {
    std::uint64_t address;
    std::uint32_t bytes;
    std::uint8_t kind;
    std::uint8_t stream;
    std::uint16_t padding;
};
static_assert(sizeof(Record) == 16);

CacheAccess access_of(const Record& record) {
    if (record.kind > static_cast<std::uint8_t>(AccessKind::store_prefetch)) {
        throw RequestError("trace: kind " + std::to_string(record.kind) +
                           " does not exist; 0 is load, 1 store, 2 store prefetch");
    }
    return {record.address, record.bytes, static_cast<AccessKind>(record.kind), record.stream};
}

void trace(CacheModel& self, const Readable& records, unsigned core) {
    const BufferView view(records, false, "records of a trace");
    check_records(view, sizeof(Record), "records of a trace");
    const auto* const from = static_cast<const std::byte*>(view.data());
    in_batches(self, core, view.size() / sizeof(Record), [&](std::size_t i) {
        Record record{};
        std::memcpy(&record, from + i * sizeof(Record), sizeof(Record));
        return access_of(record);
    });
}

using Reference = std::tuple<std::uint64_t, std::int64_t, std::uint32_t, std::string>;

std::vector<StridedAccess> strided(const std::vector<Reference>& references,
                                   std::size_t first_stream) {
    std::vector<StridedAccess> made;
    for (const auto& [address, stride, bytes, kind] : references) {
        const auto stream = static_cast<unsigned>(first_stream + made.size());
        made.push_back({.first = {.address = address,
                                  .bytes = bytes,
                                  .kind = value_of<AccessKind>(kinds, "kind of access", kind),
                                  .stream = stream_number(stream)},
                        .stride = stride});
    }
    return made;
}

void walk(CacheModel& self, const std::vector<Reference>& references, std::uint64_t count,
          unsigned core, const std::optional<std::vector<std::int64_t>>& outer_strides,
          std::uint64_t outer, const std::vector<Reference>& after) {
    const std::vector<StridedAccess> inner = strided(references, 0);
    const std::vector<StridedAccess> behind = strided(after, references.size());
    const nb::gil_scoped_release released;
    self.walk(core, inner, outer_strides.value_or(std::vector<std::int64_t>{}), outer, count,
              behind);
}

std::vector<std::string> level_names(const CacheModel& self) {
    std::vector<std::string> names;
    for (const CacheLevel& level : self.levels()) names.push_back(level.name);
    return names;
}

void register_machine(nb::module_& module) {
    final_class<CacheLevel>(module, "CacheLevel")
        .def("__init__", &init_level, nb::kw_only(), "name"_a, "bytes"_a, "ways"_a, "cores"_a = 1,
             "replacement"_a = "lru", "inclusion"_a = "non-inclusive", "borrows_idle"_a = false);
    final_class<CacheMachine>(module, "CacheMachine")
        .def("__init__", &init_machine, nb::kw_only(), "name"_a, "levels"_a, "line_bytes"_a = 64,
             "sector_bytes"_a = 64, "cores"_a = 1, "idle_cores"_a = 0, "store_lines"_a = 0,
             "store_streams"_a = 4, "store_gap"_a = 16, "strided_steps"_a = 8,
             "strided_window"_a = 64, "next_line"_a = false, "stride"_a = false,
             "stride_ahead"_a = 4);
}

void register_counts(nb::module_& module) {
    final_class<LevelCounts>(module, "LevelCounts")
        .def_ro("hits", &LevelCounts::hits)
        .def_ro("misses", &LevelCounts::misses)
        .def_ro("write_backs", &LevelCounts::write_backs);
    final_class<CacheCounts>(module, "CacheCounts")
        .def_ro("loads", &CacheCounts::loads)
        .def_ro("stores", &CacheCounts::stores)
        .def_ro("store_prefetches", &CacheCounts::store_prefetches)
        .def_ro("levels", &CacheCounts::levels)
        .def_ro("load_read_bytes", &CacheCounts::load_read_bytes)
        .def_ro("allocate_read_bytes", &CacheCounts::allocate_read_bytes)
        .def_ro("software_prefetch_read_bytes", &CacheCounts::software_prefetch_read_bytes)
        .def_ro("hardware_prefetch_read_bytes", &CacheCounts::hardware_prefetch_read_bytes)
        .def_ro("stream_read_bytes", &CacheCounts::stream_read_bytes)
        .def_ro("write_back_bytes", &CacheCounts::write_back_bytes)
        .def_ro("bypass_write_bytes", &CacheCounts::bypass_write_bytes)
        .def_prop_ro("read_bytes", &CacheCounts::read_bytes)
        .def_prop_ro("write_bytes", &CacheCounts::write_bytes);
}

}  // namespace

void register_cache(nb::module_& module) {
    register_machine(module);
    register_counts(module);
    final_class<CacheModel>(module, "CacheModel")
        .def(nb::init<CacheMachine, unsigned>(), "machine"_a, "threads"_a = 1,
             "Caches that hold nothing.\n\n"
             "Raises RequestError: a machine that makes no sense, or whose sets do not part over "
             "threads.")
        .def("access", &access, "addresses"_a, nb::kw_only(), "core"_a = 0, "bytes"_a = 8,
             "kind"_a = "load", "stream"_a = 0,
             "Accesses of one kind at addresses in unsigned 64-bit integers.")
        .def("trace", &trace, "records"_a, nb::kw_only(), "core"_a = 0,
             "Accesses of any kind, 16 bytes each.\n\n"
             "Address (u64), bytes (u32), kind (u8: 0 load, 1 store, 2 store prefetch), stream "
             "(u8), and two bytes of padding, in the machine's byte order.")
        .def("walk", &walk, "references"_a, "count"_a, nb::kw_only(), "core"_a = 0,
             "outer_strides"_a = nb::none(), "outer"_a = 1, "after"_a = std::vector<Reference>{},
             "Loops over references of (address, stride, bytes, kind); streams are their "
             "positions.\n\n"
             "After each inner loop those of `after` make one access each, in streams that go on "
             "behind.")
        .def("write_back_all", &CacheModel::write_back_all, ReleaseGil())
        .def("counts", &CacheModel::counts, ReleaseGil())
        .def("reset_counts", &CacheModel::reset_counts, ReleaseGil())
        .def("clear", &CacheModel::clear, ReleaseGil())
        .def_prop_ro(
            "level_names", &level_names,
            "Of what `counts` has in `levels`: borrowed instances are a level of their own.");
}

}  // namespace memgauge::bindings
