// What the cache model counts where the answer is known by thought.

#include "memgauge/cache_model.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "refusal.hpp"

namespace memgauge {
namespace {

using test::refusal;
using test::says;

constexpr std::uint64_t base = 1ull << 30;

CacheLevel level(std::string name, std::size_t bytes, std::size_t ways) {
    CacheLevel made;
    made.name = std::move(name);
    made.bytes = bytes;
    made.ways = ways;
    return made;
}

CacheMachine machine(std::vector<CacheLevel> levels) {
    CacheMachine made;
    made.name = "test";
    made.levels = std::move(levels);
    return made;
}

// One set of so many ways.
CacheMachine one_set(std::size_t ways, Replacement replacement = Replacement::lru) {
    CacheLevel only = level("L1", 64 * ways, ways);
    only.replacement = replacement;
    return machine({only});
}

CacheMachine power9() {
    CacheMachine made =
        machine({level("L1", 32 << 10, 8), level("L2", 512 << 10, 8), level("L3", 10 << 20, 20)});
    made.line_bytes = 128;
    made.store_streams.lines = 2;
    return made;
}

StridedAccess reference(std::uint64_t address, std::int64_t stride, AccessKind kind,
                        std::uint8_t stream, std::uint32_t bytes = 8) {
    return {.first = {.address = address, .bytes = bytes, .kind = kind, .stream = stream},
            .stride = stride};
}

void touch(CacheModel& model, std::vector<std::uint64_t> lines, AccessKind kind = AccessKind::load,
           unsigned core = 0) {
    for (const std::uint64_t line : lines) {
        const CacheAccess access{.address = line * 64, .bytes = 8, .kind = kind};
        model.access(core, {&access, 1});
    }
}

std::uint64_t misses_of(CacheModel& model, std::size_t of_level = 0) {
    return model.counts().levels[of_level].misses;
}

}  // namespace

TEST_CASE("a stream of loads reads each sector once") {
    CacheModel model(machine({level("L1", 4096, 4), level("L2", 32768, 8)}));
    const StridedAccess loads = reference(base, 8, AccessKind::load, 3);
    model.walk(0, {&loads, 1}, 8 * 1000);
    const CacheCounts counts = model.counts();
    CHECK(counts.loads == 8000);
    CHECK(counts.levels[0].hits == 7000);
    CHECK(counts.levels[0].misses == 1000);
    CHECK(counts.levels[1].hits == 0);
    CHECK(counts.load_read_bytes == 64'000);
    CHECK(counts.stream_read_bytes[3] == 64'000);
    CHECK(counts.write_bytes() == 0);
}

TEST_CASE("a stream of stores is read and written") {
    CacheModel model(machine({level("L1", 4096, 4), level("L2", 32768, 8)}));
    const StridedAccess stores = reference(base, 8, AccessKind::store, 0);
    model.walk(0, {&stores, 1}, 8 * 1000);
    model.write_back_all();
    const CacheCounts counts = model.counts();
    CHECK(counts.stores == 8000);
    CHECK(counts.allocate_read_bytes == 64'000);
    CHECK(counts.read_bytes() == 64'000);
    CHECK(counts.write_back_bytes == 64'000);
    model.write_back_all();
    CHECK(model.counts().write_back_bytes == 64'000);
}

TEST_CASE(
    "a stride of more than a line misses each time, of a line's part as often as it crosses") {
    for (const std::int64_t stride : {16, 64, 200, 4096}) {
        CAPTURE(stride);
        CacheModel model(machine({level("L1", 4096, 4)}));
        const StridedAccess loads = reference(base, stride, AccessKind::load, 0);
        model.walk(0, {&loads, 1}, 640);
        const auto bytes = static_cast<std::uint64_t>(stride);
        CHECK(misses_of(model) == (bytes < 64 ? 640 * bytes / 64 : 640));
    }
}

TEST_CASE("an access that reaches over a border is two pieces") {
    CacheModel model(machine({level("L1", 4096, 4)}));
    const CacheAccess access{.address = base + 60, .bytes = 8};
    model.access(0, {&access, 1});
    CHECK(model.counts().loads == 2);
    CHECK(misses_of(model) == 2);
}

TEST_CASE("lru keeps as many lines as ways and nothing of one more") {
    CacheModel fits(one_set(4));
    for (int pass = 0; pass < 5; ++pass) touch(fits, {1, 2, 3, 4});
    CHECK(misses_of(fits) == 4);
    CacheModel thrashes(one_set(4));
    for (int pass = 0; pass < 5; ++pass) touch(thrashes, {1, 2, 3, 4, 5});
    CHECK(misses_of(thrashes) == 25);
}

TEST_CASE("lru evicts what was used longest ago, however many ways there are") {
    for (const std::size_t ways : {2u, 3u, 8u, 16u, 20u, 32u, 33u, 100u}) {
        CAPTURE(ways);
        CacheModel model(one_set(ways));
        for (std::uint64_t line = 1; line <= ways; ++line) touch(model, {line});
        touch(model, {1, 1000});  // 2 goes
        model.reset_counts();
        touch(model, {1});
        CHECK(misses_of(model) == 0);
        touch(model, {2});
        CHECK(misses_of(model) == 1);
    }
}

TEST_CASE("tree-plru follows its nodes") {
    CacheModel model(one_set(4, Replacement::tree_plru));
    touch(model, {1, 2, 3, 4});  // ways 0 to 3; all nodes point to the lower half again
    touch(model, {1});           // away from way 0: the upper half, of which way 2 is next
    touch(model, {5});           // takes the place of 3
    model.reset_counts();
    touch(model, {1, 2, 4, 5});
    CHECK(misses_of(model) == 0);
    touch(model, {3});
    CHECK(misses_of(model) == 1);
}

TEST_CASE("sectors are read one by one and written one by one") {
    CacheMachine m = machine({level("L1", 4096, 4)});
    m.line_bytes = 128;
    CacheModel model(m);
    touch(model, {0});
    CHECK(model.counts().load_read_bytes == 64);
    touch(model, {1});  // the other half of the line that is there
    CHECK(model.counts().load_read_bytes == 128);
    CHECK(misses_of(model) == 2);
    touch(model, {1}, AccessKind::store);
    model.write_back_all();
    CHECK(model.counts().write_back_bytes == 64);
}

TEST_CASE("a victim of an inclusive level leaves the levels in front too") {
    CacheLevel last = level("L2", 64 * 2, 2);
    CacheMachine m = machine({level("L1", 64 * 4, 4), last});
    CacheModel independent(m);
    touch(independent, {1, 2, 3, 1});
    CHECK(misses_of(independent) == 3);
    m.levels[1].inclusion = Inclusion::inclusive;
    CacheModel inclusive(m);
    touch(inclusive, {1, 2, 3, 1});
    CHECK(misses_of(inclusive) == 4);
}

TEST_CASE("the first line of all leaves an inclusive level as any other") {
    CacheMachine m = machine({level("L1", 256, 4), level("L2", 128, 2)});
    m.levels[1].inclusion = Inclusion::inclusive;
    CacheModel model(m);
    touch(model, {0, 1, 2, 0});
    CHECK(misses_of(model) == 4);
}

TEST_CASE("changes of level 1 leave with the inclusive level's victim") {
    CacheMachine m = machine({level("L1", 64 * 4, 4), level("L2", 64 * 2, 2)});
    m.levels[1].inclusion = Inclusion::inclusive;
    CacheModel model(m);
    touch(model, {1}, AccessKind::store);
    touch(model, {2, 3});
    const CacheCounts counts = model.counts();
    CHECK(counts.write_back_bytes == 64);
    CHECK(counts.levels[0].write_backs == 0);
    CHECK(counts.levels[1].write_backs == 1);
}

TEST_CASE("an exclusive level adds its ways to those in front") {
    CacheMachine m = machine({level("L1", 64 * 4, 4), level("L2", 64 * 4, 4)});
    const auto second_pass = [&](Inclusion inclusion) {
        m.levels[1].inclusion = inclusion;
        CacheModel model(m);
        touch(model, {1, 2, 3, 4, 5, 6, 7, 8});
        model.reset_counts();
        touch(model, {1, 2, 3, 4, 5, 6, 7, 8});
        return model.counts().load_read_bytes / 64;
    };
    CHECK(second_pass(Inclusion::exclusive) == 0);
    CHECK(second_pass(Inclusion::non_inclusive) == 8);
}

TEST_CASE("instances of idle cores hold what leaves the own one") {
    CacheMachine m = power9();
    m.levels[1].cores = m.levels[2].cores = 2;
    m.levels[2].borrows_idle = true;
    m.idle_cores = 21;
    CacheModel model(m);
    REQUIRE(model.levels().size() == 4);
    CHECK(model.levels()[3].name == "L3 borrowed");
    CHECK(model.levels()[3].bytes == std::size_t{100} << 20);
    CHECK(model.levels()[3].inclusion == Inclusion::exclusive);
    const StridedAccess loads = reference(base, 64, AccessKind::load, 0);
    constexpr std::uint64_t sectors = (std::uint64_t{100} << 20) / 64;
    model.walk(0, {&loads, 1}, sectors);
    model.reset_counts();
    model.walk(0, {&loads, 1}, sectors);
    CHECK(model.counts().read_bytes() == 0);
    m.idle_cores = 0;
    CHECK(CacheModel(m).levels().size() == 3);
}

TEST_CASE("a long stream of stores goes past the caches") {
    CacheModel model(power9());
    const StridedAccess stores = reference(base, 8, AccessKind::store, 0);
    model.walk(0, {&stores, 1}, 16 * 100);
    model.write_back_all();
    const CacheCounts counts = model.counts();
    CHECK(counts.allocate_read_bytes == 2 * 128);  // until it is known
    CHECK(counts.bypass_write_bytes == 98 * 128);
    CHECK(counts.write_bytes() == 100 * 128);
}

TEST_CASE("stores with much between them, or apart, are loaded") {
    CacheModel sparse(power9());
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const StridedAccess loop[] = {reference(base, 8, AccessKind::load, 0)};
        sparse.walk(0, loop, 20);
        const StridedAccess store[] = {reference(2 * base + 8 * i, 8, AccessKind::store, 1)};
        sparse.walk(0, store, 1);
    }
    CHECK(sparse.counts().bypass_write_bytes == 0);
    CacheModel apart(power9());
    const StridedAccess stores = reference(base, 16, AccessKind::store, 0);
    apart.walk(0, {&stores, 1}, 1000);
    CHECK(apart.counts().bypass_write_bytes == 0);
}

TEST_CASE("no store goes past the caches beside a strided stream") {
    CacheModel model(power9());
    const StridedAccess loop[] = {reference(base, 4096, AccessKind::load, 0, 16),
                                  reference(4 * base, 16, AccessKind::store, 1, 16)};
    model.walk(0, loop, 8 * 100);
    const CacheCounts counts = model.counts();
    CHECK(counts.bypass_write_bytes == 0);
    CHECK(counts.allocate_read_bytes == 100 * 128);
}

TEST_CASE("what a store prefetch brought is not written past the caches") {
    CacheModel model(power9());
    const StridedAccess loop[] = {reference(base + 256, 8, AccessKind::store_prefetch, 0),
                                  reference(base, 8, AccessKind::store, 0)};
    model.walk(0, loop, 16 * 100);
    model.write_back_all();
    const CacheCounts counts = model.counts();
    CHECK(counts.bypass_write_bytes == 0);
    CHECK(counts.software_prefetch_read_bytes == 100 * 128);
    CHECK(counts.write_back_bytes == 100 * 128);
}

TEST_CASE("the next line is prefetched within 4 KiB, to level 2") {
    CacheMachine m = machine({level("L1", 4096, 4), level("L2", 32768, 8)});
    m.prefetchers.next_line = true;
    CacheModel model(m);
    const StridedAccess loads = reference(base, 64, AccessKind::load, 0);
    model.walk(0, {&loads, 1}, 128);
    const CacheCounts counts = model.counts();
    CHECK(counts.levels[0].misses == 128);
    CHECK(counts.levels[1].misses == 2);  // the first of each 4 KiB
    CHECK(counts.load_read_bytes == 2 * 64);
    CHECK(counts.hardware_prefetch_read_bytes == 126 * 64);
}

TEST_CASE("the third equal step sets off the stride prefetcher") {
    CacheMachine m = machine({level("L1", 4096, 4), level("L2", 32768, 8)});
    m.prefetchers.stride = true;
    m.prefetchers.stride_ahead = 2;
    CacheModel model(m);
    const StridedAccess loads = reference(base, 128, AccessKind::load, 0);
    model.walk(0, {&loads, 1}, 32);
    // Accesses 0 to 3 see three steps; 5, 6, ... 31 are prefetched, at most what is in the page.
    const CacheCounts counts = model.counts();
    CHECK(counts.hardware_prefetch_read_bytes == 27 * 64);
    CHECK(counts.load_read_bytes == 5 * 64);
}

TEST_CASE("what the stride prefetcher would read below address 0 is left out") {
    CacheMachine m = machine({level("L1", 4096, 4)});
    m.line_bytes = 8;
    m.sector_bytes = 1;
    m.prefetchers.stride = true;
    m.prefetchers.stride_ahead = 2;
    CacheModel model(m);
    const StridedAccess loads = reference(64, -12, AccessKind::load, 0);
    model.walk(0, {&loads, 1}, 6);
    // Accesses at 28, 16 and 4 see three steps: the bytes from 4 on are read ahead, and none of
    // those from -8 and from -20 on.
    const CacheCounts counts = model.counts();
    CHECK(counts.hardware_prefetch_read_bytes == 8);
    CHECK(counts.load_read_bytes == 5 * 8);
}

TEST_CASE("a prefetch farther away than addresses reach is not one nearby") {
    CacheMachine m = machine({level("L1", 4096, 4)});
    m.prefetchers.stride = true;
    constexpr std::int64_t step = 6871528256;
    m.prefetchers.stride_ahead = 2684518405;  // steps that add up to 2^64 + 64
    CacheModel model(m);
    const StridedAccess loads = reference(base, step, AccessKind::load, 0);
    model.walk(0, {&loads, 1}, 8);
    CHECK(model.counts().hardware_prefetch_read_bytes == 0);
}

TEST_CASE("cores write back for each other and take lines from each other") {
    CacheMachine m = machine({level("L1", 4096, 4), level("L2", 32768, 8)});
    m.levels[1].cores = 0;
    m.cores = 2;
    CacheModel model(m);
    touch(model, {7}, AccessKind::store, 0);
    touch(model, {7}, AccessKind::load, 1);  // from level 2, where core 0's change is now
    CHECK(model.counts().levels[1].hits == 1);
    CHECK(model.counts().read_bytes() == 64);
    touch(model, {7}, AccessKind::load, 0);  // still there
    CHECK(model.counts().levels[0].hits == 1);
    touch(model, {7}, AccessKind::store, 1);
    touch(model, {7}, AccessKind::load, 0);  // taken
    CHECK(model.counts().levels[0].misses == 3);
    model.write_back_all();
    CHECK(model.counts().write_back_bytes == 64);
}

TEST_CASE("cores without a level in common meet in memory") {
    CacheMachine m = machine({level("L1", 4096, 4)});
    m.cores = 2;
    CacheModel model(m);
    touch(model, {7}, AccessKind::store, 0);
    touch(model, {7}, AccessKind::load, 1);
    CHECK(model.counts().write_back_bytes == 64);
    CHECK(model.counts().read_bytes() == 128);
}

TEST_CASE("a product of matrices that fits reads each matrix once") {
    constexpr std::int64_t n = 64;
    CacheModel model(power9());
    for (std::int64_t i = 0; i < n; ++i) {
        const auto row = base + static_cast<std::uint64_t>(i * n * 8);
        const StridedAccess loop[] = {reference(row, 8, AccessKind::load, 0),
                                      reference(2 * base, n * 8, AccessKind::load, 1)};
        const std::int64_t outer[] = {0, 8};
        const StridedAccess sum[] = {reference(row + 2 * base, 8, AccessKind::store, 2)};
        model.walk(0, loop, outer, n, n, sum);
    }
    model.write_back_all();
    const CacheCounts counts = model.counts();
    CHECK(counts.read_bytes() == 3 * n * n * 8);
    CHECK(counts.stream_read_bytes[2] == n * n * 8);
    CHECK(counts.write_bytes() == n * n * 8);
}

TEST_CASE("clear forgets, a reset of counts does not") {
    CacheModel model(machine({level("L1", 4096, 4)}));
    touch(model, {1});
    model.reset_counts();
    touch(model, {1});
    CHECK(misses_of(model) == 0);
    model.clear();
    CHECK(model.counts().loads == 0);
    touch(model, {1});
    CHECK(misses_of(model) == 1);
}

TEST_CASE("machines that make no sense are refused with a reason") {
    const auto why = [](const auto& change) {
        CacheMachine m = machine({level("L1", 4096, 4), level("L2", 32768, 8)});
        change(m);
        return refusal([&] { const CacheModel model(m); });
    };
    CHECK(says(why([](auto& m) { m.levels.clear(); }), "cache model of test: no levels"));
    CHECK(says(why([](auto& m) { m.line_bytes = 96; }), "lines of 96 bytes; give a power of two"));
    CHECK(says(why([](auto& m) { m.sector_bytes = 128; }), "sectors of 128 bytes"));
    CHECK(says(why([](auto& m) { m.sector_bytes = 4; }), "sectors of 4 bytes"));
    CHECK(says(why([](auto& m) { m.levels[1].bytes = 1000; }), "level L2: 1000 bytes"));
    CHECK(says(why([](auto& m) {
                   m.levels[1].inclusion = Inclusion::exclusive,
                   m.levels[0].inclusion = Inclusion::inclusive;
               }),
               "level L1: nothing in front"));
    CHECK(says(why([](auto& m) { m.levels[0].cores = 2; }), "level L2: shared by 1 cores"));
    CHECK(says(why([](auto& m) { m.cores = 0; }), "0 cores"));
    CHECK(says(why([](auto& m) { m.store_streams.streams = 17; }), "17 store streams"));
    CHECK(says(why([](auto& m) {
                   m.levels[0].ways = 3;
                   m.levels[0].bytes = 64 * 3;
                   m.levels[0].replacement = Replacement::tree_plru;
               }),
               "3 ways; tree-plru wants"));
    CHECK(says(why([](auto& m) {
                   m.levels[1].cores = 0;
                   m.levels[1].borrows_idle = true;
               }),
               "so that none is idle"));
}

TEST_CASE("threads that do not part the sets are refused") {
    CacheMachine m = machine({level("L1", 4096, 4), level("L2", 64 * 8 * 6, 8)});
    CHECK(says(refusal([&] { const CacheModel model(m, 0); }), "0 threads"));
    CHECK(says(refusal([&] { const CacheModel model(m, 4); }),
               "level L2: 6 sets do not part over 4 threads"));
    m.prefetchers.next_line = true;
    CHECK(says(refusal([&] { const CacheModel model(m, 2); }), "next-line prefetcher"));
}

TEST_CASE("accesses that make no sense are refused before anything is done") {
    CacheModel model(machine({level("L1", 4096, 4)}));
    const auto why = [&](CacheAccess access, unsigned core = 0) {
        const CacheAccess both[] = {{.address = base}, access};
        return refusal([&] { model.access(core, both); });
    };
    CHECK(says(why({.address = base, .bytes = 0}), "an access of 0 bytes"));
    CHECK(says(why({.address = (1ull << 48) - 4}), "ends beyond 2^48"));
    CHECK(says(why({.address = ~0ull}), "ends beyond 2^48"));
    CHECK(says(why({.address = base, .stream = 16}), "access stream 16"));
    CHECK(says(why({.address = base}, 1), "core 1 of 1"));
    CHECK(model.counts().loads == 0);
    const StridedAccess back = reference(1024, -8, AccessKind::load, 0);
    CHECK(says(refusal([&] { model.walk(0, {&back, 1}, 1000); }), "goes below address 0"));
    const std::int64_t strides[] = {1, 2};
    CHECK(says(refusal([&] { model.walk(0, {&back, 1}, strides, 1, 1); }),
               "2 outer strides for 1 references"));
    model.walk(0, {&back, 1}, 0);
    CHECK(model.counts().loads == 0);
}

TEST_CASE("addresses in more areas than lines have numbers are refused") {
    CacheMachine m = machine({level("L1", 4096, 4)});
    CacheModel model(m);
    const StridedAccess far = reference(0, 1 << 28, AccessKind::load, 0);
    CHECK(says(refusal([&] { model.walk(0, {&far, 1}, 2000); }), "511 areas of 256 MiB"));
    model.clear();
    model.walk(0, {&far, 1}, 511);
    CHECK(misses_of(model) == 511);
}

TEST_CASE("what fails in another thread is told with the counts") {
    CacheModel model(machine({level("L1", 4096, 4)}), 2);
    const StridedAccess far = reference(64, 1 << 28, AccessKind::load, 0);
    model.walk(0, {&far, 1}, 2000);  // odd lines, which are those of the second thread
    CHECK(says(refusal([&] { static_cast<void>(model.counts()); }), "areas of 256 MiB"));
    model.clear();
    touch(model, {1});
    CHECK(misses_of(model) == 1);
}

}  // namespace memgauge
