// Loops of which passes over the same sectors are counted and not simulated count what their
// accesses count one by one, and leave the caches and the store streams as those leave them.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cache/cache_loops.hpp"
#include "cache/cache_traces.hpp"
#include "cache/loops/repeats.hpp"
#include "memgauge/cache_model.hpp"

namespace memgauge {
namespace {

using namespace test;

CacheMachine random_machine(Dice& dice, unsigned parts) {
    CacheMachine machine;
    machine.name = "random";
    machine.line_bytes = dice.one_of<std::size_t>({64, 128, 128});
    machine.sector_bytes = machine.line_bytes / dice.one_of<std::size_t>({1, 1, 2, 2, 4});
    const std::size_t levels = 1 + dice.below(3);
    for (std::size_t l = 0; l < levels; ++l) {
        CacheLevel level;
        level.name = "L" + std::to_string(l + 1);
        level.ways = dice.one_of<std::size_t>({1, 2, 3, 4, 8, 20, 40});
        const std::size_t sets = parts * dice.one_of<std::size_t>({1, 2, 2, 3, 4}) << 2 * l;
        level.bytes = sets * level.ways * machine.line_bytes;
        if (l > 0) {
            level.inclusion = dice.one_of({Inclusion::non_inclusive, Inclusion::non_inclusive,
                                           Inclusion::inclusive, Inclusion::exclusive});
        }
        machine.levels.push_back(level);
    }
    if (dice.one_in(2)) {
        machine.store_streams = random_store_streams(dice);
    }
    return machine;
}

CacheAccess random_first(Dice& dice, std::uint8_t stream) {
    CacheAccess first;
    first.address = (1u << 28) + 65'536 + dice.below(8) * 4096 + dice.below(32) * 8;
    first.bytes = dice.one_of({8u, 8u, 8u, 4u, 16u});
    first.kind = random_kind(dice);
    first.stream = stream;
    if (dice.one_in(12)) first.address += 3;  // reaches over borders
    if (dice.one_in(20)) first.bytes = 200;
    return first;
}

// Passes that may repeat, and at times such as may not.
Loop random_loop(Dice& dice) {
    Loop loop;
    const std::size_t references = 1 + dice.below(3);
    for (std::size_t r = 0; r < references; ++r) {
        const auto stream = static_cast<std::uint8_t>(dice.one_in(10) ? 0 : r);
        const bool stays = dice.one_in(3);
        const auto stride =
            stays ? dice.one_of<std::int64_t>({8, 8, -8, 16, 24, 0, 64, 128, -1000})
                  : dice.one_of<std::int64_t>({64, 128, 128, 256, 640, -128, -1024, 0, 72});
        loop.references.push_back({random_first(dice, stream), stride});
        loop.outer_strides.push_back(
            stays ? 0 : dice.one_of<std::int64_t>({8, 8, 8, -8, 4, 2, 3, 16, -5, 64}));
    }
    if (dice.one_in(2)) {
        const auto stride = dice.one_of<std::int64_t>({8, 8, -8, 2, 0, 16, 64});
        loop.after.push_back({random_first(dice, 7), stride});
        if (!dice.one_in(3)) loop.after.back().first.kind = AccessKind::store;
    }
    if (dice.one_in(6)) loop.after.push_back({random_first(dice, 8), 8});
    loop.outer = 1 + dice.below(60);
    loop.count = dice.one_in(6) ? 1 + dice.below(20) : 60 + dice.below(60);
    return loop;
}

// Where the loop was and where it goes on.
std::vector<CacheAccess> random_accesses(Dice& dice, const Loop& loop) {
    std::vector<CacheAccess> accesses(dice.below(200));
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        const StridedAccess& some =
            dice.one_in(3) && !loop.after.empty() ? loop.after.front() : loop.references.front();
        const std::uint64_t moved =
            static_cast<std::uint64_t>(some.stride) * dice.below(loop.count + 2);
        accesses[i].address = some.first.address + moved + 8 * dice.below(loop.outer);
        accesses[i].kind = random_kind(dice);
        accesses[i].stream = static_cast<std::uint8_t>(dice.below(3));
        // Stores that may continue one of the loop's streams.
        if (i < 8 && !loop.after.empty()) {
            const StridedAccess& one = loop.after.front();
            accesses[i].kind = AccessKind::store;
            accesses[i].address =
                one.first.address + (loop.outer + i) * static_cast<std::uint64_t>(one.stride);
        }
    }
    return accesses;
}

// c[i][j] = sum of a[i][k] b[k][j] for one i.
Loop product_row(std::int64_t n, std::int64_t i) {
    constexpr std::uint64_t base = 1u << 28;
    const auto matrix = static_cast<std::uint64_t>(8 * n * n);
    const auto row = static_cast<std::uint64_t>(8 * n * i);
    Loop loop;
    loop.references = {{{base + row, 8, AccessKind::load, 0}, 8},
                       {{base + matrix, 8, AccessKind::load, 1}, 8 * n}};
    loop.outer_strides = {0, 8};
    loop.after = {{{base + 2 * matrix + row, 8, AccessKind::store, 2}, 8}};
    loop.outer = loop.count = static_cast<std::uint64_t>(n);
    return loop;
}

CacheMachine three_levels() {
    CacheMachine machine;
    machine.name = "three levels";
    machine.line_bytes = 128;
    machine.sector_bytes = 64;
    machine.levels = {{.name = "L1", .bytes = 8192, .ways = 8},
                      {.name = "L2", .bytes = 32768, .ways = 8},
                      {.name = "L3", .bytes = 655'360, .ways = 20}};
    machine.store_streams.lines = 2;
    return machine;
}

// Passes of some rows of a matrix product, of which so many were skipped.
std::uint64_t skipped_of_product(const CacheMachine& machine, std::int64_t n, std::int64_t rows,
                                 unsigned parts = 1) {
    Both both(machine, parts);
    for (std::int64_t i = 0; i < rows; ++i) {
        both.walk(product_row(n, i));
        CHECK(both.agree());
    }
    both.write_back_all();
    CHECK(both.agree());
    return both.skipped();
}

}  // namespace

TEST_CASE("random loops around loops count what their accesses count, and so does what follows") {
    constexpr std::uint64_t traces = test::is_slow ? 30 : 1500;
    const Tried tried = try_loops(traces, random_machine, random_loop, random_accesses);
    MESSAGE(tried.skipped << " of " << tried.loops);
    CHECK(tried.skipped > tried.loops / 10);
}

TEST_CASE("most passes of a matrix product are skipped") {
    CacheMachine machine = three_levels();
    const std::int64_t rows = 4;
    for (const std::int64_t n : {128, 144, 160}) {
        if (test::is_slow && n != 144) continue;
        const auto passes = static_cast<std::uint64_t>(n * rows);
        CAPTURE(n);
        CHECK(skipped_of_product(machine, n, rows) > passes / 2);
        CHECK(skipped_of_product(machine, n, rows, 2) > passes / 2);
    }
    machine.store_streams.lines = 0;
    CHECK(skipped_of_product(machine, 144, rows) > 144 * 2);
    machine.sector_bytes = 128;
    CHECK(skipped_of_product(machine, 144, rows) > 144 * 2);
    // More ways and sectors than pack.
    machine.levels.back().ways = 40;
    machine.sector_bytes = 32;
    CHECK(skipped_of_product(machine, 128, rows) > 0);
}

TEST_CASE("passes are skipped in front of levels of all kinds") {
    CacheMachine machine = three_levels();
    for (const Inclusion inclusion : {Inclusion::inclusive, Inclusion::exclusive}) {
        machine.levels[2].inclusion = inclusion;
        CHECK(skipped_of_product(machine, 144, 4) > 144);
    }
}

TEST_CASE("stores that go on from pass to pass are simulated") {
    // a[i][j] of a column, all stores of one stream.
    Loop loop;
    loop.references = {{{1u << 28, 8, AccessKind::store, 0}, 64}};
    loop.references.front().first.bytes = 64;
    loop.outer_strides = {0};
    loop.outer = 50;
    loop.count = 100;
    CacheMachine machine = three_levels();
    machine.store_streams.strided = 0;
    Both both(machine);
    both.walk(loop);
    CHECK(both.agree());
    CHECK(both.counts().bypass_write_bytes > 0);
    CHECK(both.skipped() == 0);
    machine.store_streams.lines = 0;
    Both without(machine);
    without.walk(loop);
    CHECK(without.agree());
    CHECK(without.skipped() > 30);
}

TEST_CASE("what follows finds the store streams as the passes left them") {
    // Backward over a line, so that the last store is where it begins.
    Loop loop = product_row(128, 0);
    loop.outer = 16;
    for (StridedAccess* const one : {&loop.references[1], loop.after.data()}) {
        one->first.address += 8 * (loop.outer - 1);
    }
    loop.outer_strides[1] = loop.after[0].stride = -8;
    const std::uint64_t last_store = loop.after[0].first.address - 8 * (loop.outer - 1);
    const std::uint64_t behind_column =
        loop.references[1].first.address - 8 * (loop.outer - 1) + 1024 * loop.count;
    std::vector<std::uint64_t> bypassed;
    for (const unsigned strided : {0u, 8u}) {
        CacheMachine machine = three_levels();
        machine.store_streams.strided = strided;
        for (const unsigned between : {0u, 16u, 17u, 100u}) {
            for (const bool goes_on : {false, true}) {
                Both both(machine);
                both.walk(loop);
                CHECK(both.skipped() > loop.outer / 2);
                // Of the stream of the column, if that goes on, the next step of the same length.
                std::vector<CacheAccess> accesses(between, {last_store, 8, AccessKind::load, 5});
                if (goes_on) accesses.push_back({behind_column, 8, AccessKind::load, 1});
                accesses.push_back({last_store + 8, 1024, AccessKind::store, 6});
                both.access(accesses);
                CHECK(both.agree());
                bypassed.push_back(both.counts().bypass_write_bytes);
            }
        }
    }
    // A line more where the store continued the last one; none while the column's steps go on.
    CHECK(bypassed[0] == bypassed[4] + 128);
    CHECK(bypassed[14] > 0);
    CHECK(bypassed[15] == 0);
}

TEST_CASE("where lines are not forgotten by their order alone, no pass is skipped") {
    CacheMachine machine = three_levels();
    machine.levels[1].replacement = Replacement::tree_plru;
    CHECK(skipped_of_product(machine, 128, 2) == 0);
    machine.levels[1].replacement = Replacement::lru;
    machine.prefetchers.next_line = true;
    CHECK(skipped_of_product(machine, 128, 2) == 0);
}

TEST_CASE("passes access the same sectors until one of their accesses comes to another") {
    const auto alike = [](std::uint64_t address, std::uint32_t bytes, std::int64_t stride,
                          std::uint64_t count, std::int64_t outer_stride) {
        const StridedAccess one{{address, bytes, AccessKind::load, 0}, stride};
        return cache::passes_alike(one, count, outer_stride, 64);
    };
    CHECK(alike(640, 8, 8, 100, 0) == ~0ull);
    CHECK(alike(640, 8, 128, 100, 8) == 8);
    CHECK(alike(648, 8, 128, 100, 8) == 7);
    CHECK(alike(696, 8, 128, 100, -8) == 8);
    // Its last byte comes to the next sector, or out of it.
    CHECK(alike(640, 9, 128, 100, 8) == 7);
    CHECK(alike(700, 8, 128, 100, 1) == 4);
    CHECK(alike(640, 8, 128, 100, 64) == 1);
    CHECK(alike(640, 8, 8, 100, 8) == 1);
    CHECK(alike(640, 8, 8, 1, 8) == 8);
    // Half a sector from one to the next: those in the first half may move on by as much.
    CHECK(alike(640, 8, 96, 100, 8) == 4);
    CHECK(alike(640, 8, -32, 100, -8) == 1);
    CHECK(alike(640, 32, 96, 100, 8) == 1);
}

}  // namespace memgauge
