// Loop nests: the address stream that a model gets is that of the code that runs, arrays are
// filled, used in turn and checked.

#include "memgauge/nests.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "memgauge/counters/modelled.hpp"
#include "nests/address_stream.hpp"
#include "nests/contents.hpp"
#include "nests/running.hpp"
#include "refusal.hpp"
#include "slow.hpp"

using namespace memgauge;
using memgauge::test::refusal;
using memgauge::test::says;

namespace {

struct Seen {
    AccessKind kind;
    std::uint64_t address;
    std::uint32_t bytes;
    bool operator==(const Seen&) const = default;
};
using Record = std::vector<Seen>;

// Takes down what a cache model gets, one by one.
class RecordedModel {
public:
    explicit RecordedModel(unsigned cores = 1) : cores_(cores) {}

    void access(unsigned core, std::span<const CacheAccess> accesses) {
        for (const CacheAccess& access : accesses) {
            cores_.at(core).push_back({access.kind, access.address, access.bytes});
            order_.push_back(core);
            streams_ = std::max<unsigned>(streams_, access.stream + 1U);
        }
    }
    void walk(unsigned core, std::span<const StridedAccess> references, std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) step(core, references, i);
    }
    void walk(unsigned core, std::span<const StridedAccess> references,
              std::span<const std::int64_t> outer_strides, std::uint64_t outer, std::uint64_t count,
              std::span<const StridedAccess> after = {}) {
        std::vector<StridedAccess> moved(references.begin(), references.end());
        for (std::uint64_t i = 0; i < outer; ++i) {
            walk(core, moved, count);
            for (std::size_t r = 0; r < moved.size(); ++r) {
                moved[r].first.address += static_cast<std::uint64_t>(outer_strides[r]);
            }
            step(core, after, i);
        }
    }

    [[nodiscard]] const Record& seen(unsigned core = 0) const { return cores_.at(core); }
    [[nodiscard]] const std::vector<unsigned>& order() const { return order_; }
    [[nodiscard]] unsigned streams() const { return streams_; }

private:
    void step(unsigned core, std::span<const StridedAccess> references, std::uint64_t i) {
        for (const StridedAccess& reference : references) {
            CacheAccess moved = reference.first;
            moved.address += i * static_cast<std::uint64_t>(reference.stride);
            access(core, std::span(&moved, 1));
        }
    }

    std::vector<Record> cores_;
    std::vector<unsigned> order_;
    unsigned streams_ = 0;
};

// Counts the stores that a cache model gets, without a look at each.
class CountedModel {
public:
    void access(unsigned /*core*/, std::span<const CacheAccess> accesses) {
        for (const CacheAccess& access : accesses) add(access, 1);
    }
    void walk(unsigned /*core*/, std::span<const StridedAccess> references, std::uint64_t count) {
        for (const StridedAccess& reference : references) add(reference.first, count);
    }
    void walk(unsigned core, std::span<const StridedAccess> references,
              std::span<const std::int64_t> /*outer_strides*/, std::uint64_t outer,
              std::uint64_t count, std::span<const StridedAccess> after = {}) {
        walk(core, references, outer * count);
        walk(core, after, outer);
    }
    [[nodiscard]] std::uint64_t stores() const { return stores_; }

private:
    void add(const CacheAccess& access, std::uint64_t count) {
        if (access.kind == AccessKind::store) stores_ += count;
    }

    std::uint64_t stores_ = 0;
};

// Pointers for the running code that take down every element it accesses.
template <class Element>
struct WatchedElement {
    Record* record;
    std::uint64_t address;

    operator Element() const {  // NOLINT: as an element converts
        record->push_back({AccessKind::load, address, sizeof(Element)});
        return Element{};
    }
    void operator=(const Element&) const {  // NOLINT: as an element is assigned to
        record->push_back({AccessKind::store, address, sizeof(Element)});
    }
    // Read before it is written to, as `to = from` reads.
    void operator=(const WatchedElement& from) const {  // NOLINT
        *this = static_cast<Element>(from);
    }
};

template <class Element>
struct WatchedPointer {
    Record* record;
    std::uint64_t address;

    WatchedElement<Element> operator[](std::size_t i) const {
        return {record, address + i * sizeof(Element)};
    }
    WatchedPointer operator+(std::size_t i) const {
        return {record, address + i * sizeof(Element)};
    }
};

struct WatchedArrays {
    Record* record;
    std::vector<std::uint64_t> bases;

    template <class Element>
    [[nodiscard]] WatchedPointer<Element> in(std::size_t array, std::size_t offset) const {
        return {record, bases[array] + offset * sizeof(Element)};
    }
    template <class Element>
    [[nodiscard]] WatchedPointer<Element> out(std::size_t array, std::size_t offset) const {
        return in<Element>(array, offset);
    }
    template <class Element>
    static void prefetch_for_store(const WatchedPointer<Element>& to, std::size_t offset) {
        to.record->push_back(
            {AccessKind::store_prefetch, to.address + offset * sizeof(Element), 1});
    }
    // Alike to a model.
    template <class Element>
    static void prefetch_for_load(const WatchedPointer<Element>& from, std::size_t offset) {
        prefetch_for_store(from, offset);
    }
};

std::vector<std::uint64_t> some_bases(const NestSpec& spec, std::uint64_t first = 1U << 20) {
    std::vector<std::uint64_t> bases;
    for (const NestArray& array : arrays_of(spec)) {
        bases.push_back(first);
        first += (array.bytes + 4095) / 4096 * 4096 + (std::uint64_t{1} << 24);
    }
    return bases;
}

Record accessed_by_running(const NestSpec& spec, const std::vector<std::uint64_t>& bases) {
    Record record;
    const nests::Nest nest = nests::describe(spec);
    const WatchedArrays arrays{&record, bases};
    const auto never = [] { return false; };
    nest.prefetches_more() ? nests::run_prefetching(nest, arrays, never)
                           : nests::run(nest, arrays, never);
    return record;
}

NestSpec reals(NestKind kind, std::size_t m, std::size_t n) {
    NestSpec spec;
    spec.kind = kind;
    spec.shape.n = n;
    if (kind == NestKind::gemv || kind == NestKind::transpose) spec.shape.m = m;
    if (kind == NestKind::strided_copy) spec.shape.stride = m;
    return spec;
}

bool is_second(NestKind kind) {
    return kind == NestKind::s2cf || kind == NestKind::s2pf;
}

NestSpec complexes(NestKind kind, std::size_t p, std::size_t r, std::size_t c) {
    NestSpec spec;
    spec.kind = kind;
    spec.shape.planes = p;
    spec.shape.rows = r;
    spec.shape.cols = c;
    if (is_second(kind)) {
        spec.shape.y = 3;
        spec.shape.x = c;
        (kind == NestKind::s2cf ? spec.shape.cols : spec.shape.planes) = 0;
    }
    return spec;
}

bool takes_tiles(NestKind kind) {
    return kind == NestKind::s1cf || kind == NestKind::s1pf || kind == NestKind::transpose;
}

// Every kind in shapes that fill lines and such that do not, capped, tiled, with prefetches.
std::vector<NestSpec> many_specs() {
    std::vector<NestSpec> specs;
    const std::size_t shapes[][3] = {{1, 1, 1}, {2, 3, 5}, {4, 8, 16}, {7, 5, 3}, {3, 17, 9}};
    for (const NestKind kind : nest_kinds()) {
        for (const auto& [p, r, c] : shapes) {
            NestSpec spec =
                kind >= NestKind::s1cf_first ? complexes(kind, p, r, c) : reals(kind, p, r);
            specs.push_back(spec);
            if (kind == NestKind::gemv) {
                spec.shape.cap = 2;
                specs.push_back(spec);
            }
            for (const std::size_t tile : {1U, 2U, 4U, 100U}) {
                if (!takes_tiles(kind)) break;
                spec.shape.tile = tile;
                specs.push_back(spec);
            }
        }
    }
    const std::size_t plain = specs.size();
    for (std::size_t i = 0; i < plain; ++i) {
        specs.push_back(specs[i]);
        specs.back().store_prefetch = true;
        specs.push_back(specs[i]);
        specs.back().load_prefetch = true;
        specs.push_back(specs.back());
        specs.back().store_prefetch = true;
        specs.back().prefetch_lines = 3;
        specs.back().prefetch_far_lines = i % 2 == 0 ? 0 : 10;
    }
    if (!memgauge::test::is_slow) return specs;
    // Of each kind, each shape and each way of prefetching: 7 divides no number of these in a row.
    std::vector<NestSpec> some;
    for (std::size_t i = 0; i < specs.size(); i += 7) some.push_back(specs[i]);
    return some;
}

std::string name_of(const NestSpec& spec) {
    const NestShape& s = spec.shape;
    std::string name(to_string(spec.kind));
    for (const std::size_t extent : {s.m, s.n, s.cap, s.stride, s.planes, s.rows, s.cols, s.tile}) {
        name += " " + std::to_string(extent);
    }
    return name + (spec.store_prefetch ? " stores prefetched" : "") +
           (spec.load_prefetch ? " loads prefetched" : "") + " " +
           std::to_string(spec.prefetch_lines) + " " + std::to_string(spec.prefetch_far_lines);
}

std::size_t count_of(const Record& record, AccessKind kind) {
    return static_cast<std::size_t>(
        std::ranges::count_if(record, [kind](const Seen& seen) { return seen.kind == kind; }));
}

Team one_thread() {
    return Team({allowed_cpus().front()});
}

std::vector<int> some_cpus() {
    const std::vector<int> cpus = allowed_cpus();
    if (cpus.size() == 1) return cpus;
    return {cpus[0], cpus[1]};
}

LoopNest nest_of(Team& team, const NestSpec& spec, std::size_t copies = 1) {
    return LoopNest(team, spec, copies, PagePolicy::automatic, {});
}

}  // namespace

TEST_CASE("a model gets every access of the running code, in its order") {
    for (const NestSpec& spec : many_specs()) {
        INFO(name_of(spec));
        const std::vector<std::uint64_t> bases = some_bases(spec);
        RecordedModel model;
        nests::stream_addresses(nests::describe(spec), bases, 0, model);
        const Record ran = accessed_by_running(spec, bases);
        CHECK(model.seen() == ran);
        const std::size_t prefetched =
            spec.load_prefetch ? bases.size() : (spec.store_prefetch ? 1 : 0);
        CHECK(model.streams() == bases.size() + prefetched);
    }
}

TEST_CASE("loops that go on where the inner one ended run as one") {
    const auto trips = [](const NestSpec& spec) {
        return nests::as_run(nests::describe(spec)).parts[0].trips;
    };
    using Trips = std::array<std::size_t, 4>;
    NestSpec spec = complexes(NestKind::s1cf_first, 2, 3, 5);
    CHECK(trips(spec) == Trips{1, 1, 1, 30});
    spec.store_prefetch = true;  // begins anew with each row
    CHECK(trips(spec) == Trips{1, 2, 3, 5});
    CHECK(trips(complexes(NestKind::s1cf_second, 2, 3, 5)) == Trips{1, 1, 5, 6});
    CHECK(trips(complexes(NestKind::s1cf, 2, 3, 5)) == Trips{1, 1, 6, 5});
    CHECK(trips(complexes(NestKind::s2cf, 2, 4, 5)) == Trips{1, 10, 3, 4});
    CHECK(trips(complexes(NestKind::s1cf, 1, 1, 1)) == Trips{1, 1, 1, 1});
    CHECK(trips(reals(NestKind::gemm, 0, 7)) == Trips{1, 7, 7, 7});
}

TEST_CASE("every trip loads what it needs, and all of what is written is stored once") {
    for (const NestSpec& spec : many_specs()) {
        INFO(name_of(spec));
        const std::vector<NestArray> arrays = arrays_of(spec);
        const Record ran = accessed_by_running(spec, some_bases(spec));
        CHECK(count_of(ran, AccessKind::load) == trips_of(spec) * (arrays.size() - 1));
        const std::size_t between =
            spec.kind == NestKind::strided_copy ? spec.shape.stride - 1 : 0;  // left alone
        const std::size_t elements = arrays.back().bytes / arrays.back().element_bytes;
        const std::size_t written = (elements + between) / (between + 1);
        CHECK(count_of(ran, AccessKind::store) == written);
        std::vector<std::uint64_t> stored;
        for (const Seen& seen : ran) {
            if (seen.kind == AccessKind::store) stored.push_back(seen.address);
        }
        std::ranges::sort(stored);
        CHECK(std::ranges::adjacent_find(stored) == stored.end());
        CHECK(stored.front() == some_bases(spec).back());
        CHECK(stored.back() == stored.front() + arrays.back().bytes - arrays.back().element_bytes);
    }
}

TEST_CASE("stores are prefetched once a line, eight lines ahead, or one by one where far apart") {
    NestSpec spec = reals(NestKind::copy, 0, 64);
    spec.store_prefetch = true;
    const std::vector<std::uint64_t> bases = some_bases(spec);
    std::vector<std::uint64_t> prefetched;
    for (const Seen& seen : accessed_by_running(spec, bases)) {
        if (seen.kind == AccessKind::store_prefetch) prefetched.push_back(seen.address - bases[1]);
    }
    CHECK(prefetched == std::vector<std::uint64_t>{512, 576, 640, 704, 768, 832, 896, 960});

    spec = reals(NestKind::strided_copy, 9, 5);
    spec.store_prefetch = true;
    const Record far = accessed_by_running(spec, bases);
    REQUIRE(count_of(far, AccessKind::store_prefetch) == 5);
    CHECK(far[0] == Seen{AccessKind::store_prefetch, bases[1] + 8 * 9 * 8, 1});
    CHECK(far[2] == Seen{AccessKind::store, bases[1], 8});
}

TEST_CASE("loads are prefetched as stores are, all of a group before its trips") {
    NestSpec spec = complexes(NestKind::s1cf_second, 2, 8, 1024);  // reads each 1024th, in rows
    spec.load_prefetch = true;
    const std::vector<std::uint64_t> bases = some_bases(spec);
    const Record loads_only = accessed_by_running(spec, bases);
    CHECK(loads_only[0] == Seen{AccessKind::store_prefetch, bases[0] + 8 * 1024 * 16, 1});
    CHECK(loads_only[1] == Seen{AccessKind::load, bases[0], 16});
    CHECK(loads_only[2] == Seen{AccessKind::store, bases[1], 16});
    CHECK(loads_only[3] == Seen{AccessKind::store_prefetch, bases[0] + 9 * 1024 * 16, 1});

    spec.store_prefetch = true;  // a line of which is filled by four trips
    spec.prefetch_far_lines = 64;
    const Record both = accessed_by_running(spec, bases);
    for (std::size_t trip = 0; trip < 4; ++trip) {
        const std::uint64_t near = bases[0] + (trip + 8) * 1024 * 16;
        CHECK(both[2 * trip] == Seen{AccessKind::store_prefetch, near, 1});
        CHECK(both[2 * trip + 1] ==
              Seen{AccessKind::store_prefetch, near + std::uint64_t{56} * 1024 * 16, 1});
    }
    CHECK(both[8] == Seen{AccessKind::store_prefetch, bases[1] + 8 * 64, 1});
    CHECK(both[9] == Seen{AccessKind::store_prefetch, bases[1] + 64 * 64, 1});
    CHECK(both[10] == Seen{AccessKind::load, bases[0], 16});
}

TEST_CASE("distances of prefetch that make no sense are refused") {
    NestSpec spec = reals(NestKind::copy, 0, 8);
    spec.prefetch_lines = 0;
    CHECK_THROWS_AS(static_cast<void>(arrays_of(spec)), RequestError);
    spec.prefetch_lines = 8;
    spec.prefetch_far_lines = 8;
    CHECK_THROWS_AS(static_cast<void>(arrays_of(spec)), RequestError);
    spec.prefetch_far_lines = 9;
    CHECK_NOTHROW(static_cast<void>(arrays_of(spec)));
}

TEST_CASE("a sum stays in a register: two loads a trip, and one store when it is done") {
    const Record ran = accessed_by_running(reals(NestKind::gemm, 0, 3), {0x1000, 0x2000, 0x3000});
    const Record first{{AccessKind::load, 0x1000, 8}, {AccessKind::load, 0x2000, 8},
                       {AccessKind::load, 0x1008, 8}, {AccessKind::load, 0x2018, 8},
                       {AccessKind::load, 0x1010, 8}, {AccessKind::load, 0x2030, 8},
                       {AccessKind::store, 0x3000, 8}};
    CHECK(std::equal(first.begin(), first.end(), ran.begin()));
    CHECK(ran.size() == 9 * first.size());
}

TEST_CASE("cores in a batch take turns after each innermost loop, each with all of its own") {
    for (const NestSpec& spec : many_specs()) {
        INFO(name_of(spec));
        const std::vector<std::vector<std::uint64_t>> bases{some_bases(spec),
                                                            some_bases(spec, 1U << 30)};
        RecordedModel model(2);
        nests::tell_batched(nests::describe(spec), bases, model);
        for (const unsigned core : {0U, 1U}) {
            CHECK(model.seen(core) == accessed_by_running(spec, bases[core]));
        }
    }
    RecordedModel model(2);
    const NestSpec spec = reals(NestKind::gemv, 2, 1);
    nests::tell_batched(nests::describe(spec),
                        std::vector{some_bases(spec), some_bases(spec, 1U << 30)}, model);
    CHECK(model.order() == std::vector<unsigned>{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
}

TEST_CASE("a long walk is cut up, passed on whole, and left when that is wished") {
    NestSpec spec = reals(NestKind::copy, 0, (std::size_t{1} << 21) + 5);
    for (const bool store_prefetch : {false, true}) {
        spec.store_prefetch = store_prefetch;
        CountedModel model;
        unsigned asked = 0;
        nests::stream_addresses(nests::describe(spec), some_bases(spec), 0, model, [&asked] {
            ++asked;
            return false;
        });
        CHECK(model.stores() == spec.shape.n);
        CHECK(asked >= 2);
        CountedModel left;
        CHECK_THROWS_AS(nests::stream_addresses(nests::describe(spec), some_bases(spec), 0, left,
                                                [] { return true; }),
                        Interrupted);
        CHECK(left.stores() < model.stores());
    }
}

TEST_CASE("names of kinds are read back, and an unknown one is refused with the choices") {
    for (const NestKind kind : nest_kinds()) {
        CHECK(nest_kind_from_string(to_string(kind)) == kind);
    }
    const std::string message = refusal([] { nest_kind_from_string("gemmm"); });
    CHECK(says(message, "unknown loop nest 'gemmm'; choose among gemv, gemm, copy"));
}

TEST_CASE("extents that make no sense are refused in one line") {
    CHECK(says(refusal([] { arrays_of({}); }), "loop nest gemm: n of 0 is nothing to do; give n"));
    NestSpec spec = reals(NestKind::copy, 0, 4);
    spec.shape.tile = 2;
    CHECK(says(refusal([&] { arrays_of(spec); }), "tile of 2 is no extent of it"));
    spec = reals(NestKind::strided_copy, std::size_t{1} << 40, 1000);
    CHECK(says(refusal([&] { arrays_of(spec); }), "more than 2^48 bytes"));
    spec = reals(NestKind::gemv, std::size_t{1} << 40, std::size_t{1} << 40);
    CHECK(says(refusal([&] { trips_of(spec); }), "more than 2^58 trips"));
    CHECK(says(refusal([] { execute(reals(NestKind::copy, 0, 4), {}); }),
               "works on 2 arrays, not on 0"));
}

TEST_CASE("what a team ran passes its check, and what was never run is not looked at") {
    Team team(some_cpus());
    for (const NestSpec& spec : many_specs()) {
        INFO(name_of(spec));
        LoopNest nest = nest_of(team, spec, 3);
        CHECK(nest.validate().empty());
        const Slice slice = nest.run(2);
        REQUIRE(slice.threads.size() == team.size());
        for (const ThreadSlice& thread : slice.threads) CHECK(thread.iterations.size() == 2);
        const std::vector<NestValidation> found = nest.validate();
        REQUIRE(found.size() == 1);
        CHECK(found[0].passed);
        CHECK(found[0].array == arrays_of(spec).back().name);
        CHECK(found[0].elements > 0);
        CHECK(found[0].elements % (2 * team.size()) == 0);
        CHECK(found[0].average_relative_error <= found[0].epsilon);
        CHECK(nest.backing().size() == team.size());
    }
}

TEST_CASE("one wrong element written fails the check, which says where") {
    Team team = one_thread();
    for (const NestSpec& spec : many_specs()) {
        INFO(name_of(spec));
        LoopNest nest = nest_of(team, spec);
        nest.run(1);
        const std::size_t last = arrays_of(spec).size() - 1;
        nest.corrupt(0, last, 0);
        const NestValidation found = nest.validate().front();
        CHECK_FALSE(found.passed);
        CHECK(found.failed_elements == 1);
        CHECK(found.first_failed == 0);
        nest.run(1);  // stores it anew
        CHECK(nest.validate().front().passed);
    }
}

TEST_CASE("a wrong element read is noticed in what is made of it") {
    Team team = one_thread();
    for (const NestSpec& spec : many_specs()) {
        INFO(name_of(spec));
        LoopNest nest = nest_of(team, spec);
        nest.corrupt(0, 0, 0);
        nest.run(1);
        CHECK_FALSE(nest.validate().front().passed);
    }
}

TEST_CASE("a row of a large product that is wrong anywhere is found") {
    Team team = one_thread();
    LoopNest nest = nest_of(team, reals(NestKind::gemm, 0, 67));
    nest.run(1);
    nest.corrupt(0, 2, 67 * 40 + 66);
    const NestValidation found = nest.validate().front();
    CHECK(found.elements == 67);
    CHECK(found.failed_elements == 1);
    CHECK(found.first_failed == 40);
}

TEST_CASE("copies are used in turn, across runs") {
    Team team = one_thread();
    const NestSpec spec = reals(NestKind::copy, 0, 8);
    LoopNest nest = nest_of(team, spec, 3);
    const auto is_written = [&](std::size_t copy) {
        return *static_cast<const double*>(nest.array(0, copy, 1)) == nests::content(0, 0);
    };
    CHECK_FALSE((is_written(0) || is_written(1) || is_written(2)));
    nest.run(2);
    CHECK((is_written(0) && is_written(1) && !is_written(2)));
    CHECK(nest.validate().front().elements == 16);
    nest.corrupt(0, 1, 3);
    nest.run(1);
    CHECK(is_written(2));
    CHECK_FALSE(nest.validate().front().passed);
    nest.run(1);  // the first again
    CHECK(nest.validate().front().passed);
}

TEST_CASE("arrays hold numbers between 1 and 2, no two neighbours alike, none where another is") {
    Team team = one_thread();
    const NestSpec spec = reals(NestKind::add, 0, 1000);
    LoopNest nest = nest_of(team, spec, 2);
    const double* previous_end = nullptr;
    for (const std::size_t copy : {0U, 1U}) {
        for (const std::size_t array : {0U, 1U, 2U}) {
            const auto* const begin = static_cast<const double*>(nest.array(0, copy, array));
            CHECK(reinterpret_cast<std::uintptr_t>(begin) % 128 == 0);
            CHECK(begin >= previous_end);
            previous_end = begin + 1000;
            CHECK(std::all_of(begin, previous_end, [](double v) { return v >= 1.0 && v < 2.0; }));
            CHECK(std::adjacent_find(begin, previous_end) == previous_end);
            CHECK(*begin == nests::content(array, 0));
        }
    }
}

TEST_CASE("what is run is booked as known traffic: each array once, and write-allocate") {
    Team team(some_cpus());
    const KnownTraffic& known = KnownTraffic::instance();
    const auto booked = [&](const NestSpec& spec) {
        LoopNest nest = nest_of(team, spec, 2);
        const std::uint64_t read = known.read_bytes();
        const std::uint64_t written = known.write_bytes();
        nest.run(3);
        const std::uint64_t times = 3 * team.size();
        return std::pair{(known.read_bytes() - read) / times,
                         (known.write_bytes() - written) / times};
    };
    using Bytes = std::pair<std::uint64_t, std::uint64_t>;
    NestSpec capped = reals(NestKind::gemv, 10, 6);
    CHECK(booked(capped) == Bytes{8 * (60 + 6 + 10), 8 * 10});
    capped.shape.cap = 3;
    CHECK(booked(capped) == Bytes{8 * (60 + 6 + 10), 8 * 10});
    CHECK(booked(reals(NestKind::strided_copy, 16, 7)) == Bytes{2 * 7 * 64, 7 * 64});
    CHECK(booked(reals(NestKind::add, 0, 7)) == Bytes{3 * 7 * 8, 7 * 8});
}

TEST_CASE("arrays, elements and copies that are not there are refused") {
    Team team = one_thread();
    const NestSpec spec = reals(NestKind::copy, 0, 8);
    CHECK(says(refusal([&] { nest_of(team, spec, 0); }), "0 copies of its arrays"));
    CHECK(says(refusal([&] { nest_of(team, spec, std::size_t{1} << 60); }), "give fewer"));
    LoopNest nest = nest_of(team, spec, 2);
    CHECK(
        says(refusal([&] { static_cast<void>(nest.array(0, 2, 0)); }),
             "no array 0 in set 2 of thread 0: there are 2 arrays in each of 2 sets of 1 threads"));
    CHECK(says(refusal([&] { nest.corrupt(0, 1, 8); }), "no element 8 in array c to corrupt"));
}

TEST_CASE("a wish to stop ends a run between two outer trips") {
    Team team = one_thread();
    LoopNest nest = nest_of(team, reals(NestKind::gemm, 0, 400));
    CHECK_THROWS_AS(nest.run(100000, [] { return true; }), Interrupted);
}
