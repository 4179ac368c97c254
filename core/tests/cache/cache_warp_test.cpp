// Loops of which whole periods are skipped count what their accesses count one by one, and leave
// the caches as those leave them.

#include <doctest/doctest.h>

#include <vector>

#include "cache/cache_loops.hpp"
#include "cache/cache_traces.hpp"
#include "cache/loops/warp.hpp"
#include "memgauge/cache_model.hpp"

namespace memgauge {
namespace {

using namespace test;

CacheMachine random_machine(Dice& dice, unsigned parts) {
    return random_small_machine(dice, parts, 3);
}

StridedAccess random_reference(Dice& dice, std::uint8_t stream, std::int64_t stride) {
    StridedAccess reference;
    reference.first.address = (1u << 28) + dice.below(8) * 8192 + dice.below(64) * 8;
    reference.first.kind = random_kind(dice);
    reference.first.stream = stream;
    if (dice.one_in(12)) reference.first.address += 3;  // reaches over borders
    if (dice.one_in(12)) reference.first.bytes = 200;
    reference.stride = stride;
    return reference;
}

// One that may be skipped, and at times one that may not.
Loop random_loop(Dice& dice) {
    Loop loop;
    const auto stride = dice.one_of<std::int64_t>(
        {8, 8, 8, -8, 16, 24, -40, 64, -64, 104, 128, 1000, -2048, 4, 12});
    const auto outer_stride = dice.one_of<std::int64_t>({64, 128, 8, 200, -64, -1000, 1024});
    const bool alike = !dice.one_in(8);
    const bool nested = dice.one_in(2);
    const std::size_t references = 1 + dice.below(4);
    for (std::size_t r = 0; r < references; ++r) {
        const std::int64_t own = alike ? stride : dice.one_of<std::int64_t>({0, 8, 64, stride});
        loop.references.push_back(random_reference(dice, static_cast<std::uint8_t>(r), own));
        loop.outer_strides.push_back(outer_stride);
    }
    if (nested && dice.one_in(6)) loop.outer_strides.back() = 0;
    if (nested && dice.one_in(2)) loop.after.push_back(random_reference(dice, 7, outer_stride));
    loop.outer = nested ? 1 + dice.below(400) : 1;
    loop.count = nested ? dice.below(40) : dice.below(12'000);
    return loop;
}

std::vector<CacheAccess> random_accesses(Dice& dice, const Loop& loop) {
    const StridedAccess& some = loop.references.front();
    const auto moved = static_cast<std::uint64_t>(some.stride) * loop.count +
                       static_cast<std::uint64_t>(loop.outer_strides.front()) * loop.outer;
    std::vector<CacheAccess> accesses(dice.below(300));
    for (CacheAccess& access : accesses) {
        access.address = some.first.address + moved + dice.below(4096) - 3000;
        access.kind = random_kind(dice);
    }
    return accesses;
}

StridedAccess reference(std::uint64_t address, AccessKind kind, std::uint8_t stream,
                        std::int64_t stride) {
    return {{address, 8, kind, stream}, stride};
}

// a[i] = b[i] + s c[i], the arrays so far apart that they do not meet.
Loop triad(std::int64_t stride, std::uint64_t count) {
    constexpr std::uint64_t far = 1u << 26, base = 1u << 30;
    Loop loop;
    loop.references = {reference(base, AccessKind::load, 0, stride),
                       reference(base + far + 1024, AccessKind::load, 1, stride),
                       reference(base + 2 * far + 4096, AccessKind::store, 2, stride)};
    loop.outer_strides = {0, 0, 0};
    loop.count = count;
    return loop;
}

// Five points of a square of rows of so many elements, and the sum.
Loop stencil(std::int64_t row, std::uint64_t rows) {
    constexpr std::uint64_t base = 1u << 30;
    Loop loop;
    std::uint8_t stream = 0;
    for (const std::int64_t at : {std::int64_t{-1}, std::int64_t{1}, -row, row, std::int64_t{0}}) {
        loop.references.push_back(reference(base + 8 * static_cast<std::uint64_t>(row + 1 + at),
                                            AccessKind::load, stream++, 8));
    }
    loop.references.push_back(reference(base * 2, AccessKind::store, stream, 8));
    loop.outer_strides.assign(loop.references.size(), 8 * row);
    loop.count = static_cast<std::uint64_t>(row - 2);
    loop.outer = rows;
    return loop;
}

CacheMachine two_levels() {
    CacheMachine machine;
    machine.name = "two levels";
    machine.levels = {{.name = "L1", .bytes = 4096, .ways = 4},
                      {.name = "L2", .bytes = 32768, .ways = 8}};
    return machine;
}

// Engines that did the loop as the plain model does, and what follows.
std::uint64_t skipped_of(const CacheMachine& machine, const Loop& loop, unsigned parts = 1) {
    Both both(machine, parts);
    both.walk(loop);
    CHECK(both.agree());
    Dice dice(1);
    both.access(random_accesses(dice, loop));
    CHECK(both.agree());
    both.write_back_all();
    CHECK(both.agree());
    return both.skipped();
}

}  // namespace

TEST_CASE("random loops count what their accesses count, and so does what comes after them") {
    constexpr std::uint64_t traces = test::is_slow ? 12 : 400;
    const Tried tried = try_loops(traces, random_machine, random_loop, random_accesses);
    MESSAGE(tried.skipped << " of " << tried.loops);
    CHECK(tried.skipped > tried.loops / 5);
}

TEST_CASE("most of a long loop is skipped, whatever its stride and where it ends") {
    const CacheMachine machine = two_levels();
    for (const std::int64_t stride : {8, -8, 16, 24, -40, 64, 128, -200, 1000}) {
        for (const std::uint64_t count : {30'000u, 30'001u, 30'013u}) {
            if (test::is_slow && count != 30'013) continue;
            CAPTURE(stride);
            CAPTURE(count);
            CHECK(skipped_of(machine, triad(stride, count)) > count / 2);
        }
    }
}

TEST_CASE("periods of an outer loop are skipped, with what is stored after each inner one") {
    const CacheMachine machine = two_levels();
    for (const std::int64_t row : {64, 61, 20}) {
        CAPTURE(row);
        Loop loop = stencil(row, test::is_slow && row > 20 ? 500 : 1500);
        CHECK(skipped_of(machine, loop) > loop.outer / 2);
        loop.after = {reference(1u << 26, AccessKind::store, 9, 8 * row)};
        CHECK(skipped_of(machine, loop) > loop.outer / 2);
        // Another pace: the loop is not moved as a whole.
        loop.after.front().stride = 8;
        CHECK(skipped_of(machine, loop) == 0);
    }
}

TEST_CASE("periods are skipped in each part of the sets, and in levels of all kinds") {
    CacheMachine machine = two_levels();
    machine.levels.push_back({.name = "L3", .bytes = 98'304, .ways = 12});
    const std::uint64_t count = test::is_slow ? 30'000 : 60'000;
    for (const Inclusion inclusion :
         {Inclusion::non_inclusive, Inclusion::inclusive, Inclusion::exclusive}) {
        machine.levels[2].inclusion = inclusion;
        for (const std::size_t sector : {64u, 32u}) {
            machine.sector_bytes = sector;
            for (const unsigned parts : {1u, 2u, 4u}) {
                if (test::is_slow && (sector == 64) != (parts == 2)) continue;  // half of them
                CAPTURE(parts);
                CHECK(skipped_of(machine, triad(8, count), parts) > count / 3);
                CHECK(skipped_of(machine, triad(-24, count), parts) > count / 3);
            }
        }
    }
}

TEST_CASE("periods are skipped in levels of many ways, of sets of any number and of one set") {
    CacheMachine machine = two_levels();
    machine.levels[1] = {.name = "L2", .bytes = 15'360, .ways = 48};
    CHECK(skipped_of(machine, triad(8, 30'000)) > 15'000);
    machine.levels[1] = {.name = "L2", .bytes = std::size_t{200} * 64, .ways = 0};
    CHECK(skipped_of(machine, triad(8, 30'000)) > 10'000);
}

TEST_CASE("accesses that reach over borders are skipped too") {
    Loop loop = triad(8, 30'000);
    loop.references[0].first.address += 3;
    loop.references[2].first.address += 61;
    loop.references[1].first.bytes = 100;
    CHECK(skipped_of(two_levels(), loop) > 15'000);
}

TEST_CASE("stores past the caches are skipped with the loop") {
    CacheMachine machine = two_levels();
    machine.store_streams.lines = 2;
    CHECK(skipped_of(machine, triad(8, 30'000)) > 15'000);
    CHECK(skipped_of(machine, triad(8, 30'003), 2) > 10'000);
    machine.sector_bytes = 32;
    CHECK(skipped_of(machine, triad(8, 30'003)) > 15'000);
}

TEST_CASE("stores past the caches go on from loop to loop") {
    CacheMachine machine = two_levels();
    machine.store_streams.lines = 2;
    machine.sector_bytes = 32;
    Both both(machine);
    Loop loop = triad(8, 20'000);
    for (int i = 0; i < 3; ++i) {
        both.walk(loop);
        CHECK(both.agree());
        for (StridedAccess& one : loop.references) one.first.address += 8 * loop.count;
    }
    CHECK(both.counts().bypass_write_bytes > 8 * 50'000);
    CHECK(both.skipped() > 30'000);
}

TEST_CASE("where lines are not forgotten by their order alone, nothing is skipped") {
    CacheMachine machine = two_levels();
    machine.levels[1].replacement = Replacement::tree_plru;
    CHECK(skipped_of(machine, triad(8, 30'000)) == 0);
    machine.levels[1].replacement = Replacement::lru;
    machine.prefetchers.next_line = true;
    CHECK(skipped_of(machine, triad(8, 30'000)) == 0);
}

TEST_CASE("a loop over half of all addresses takes no longer than one over the caches") {
    CacheModel model(two_levels());
    const std::uint64_t count = 1ull << 32;
    const std::uint64_t bytes = 8 * count;
    std::vector<StridedAccess> references;
    for (std::uint8_t array = 0; array < 3; ++array) {
        const AccessKind kind = array == 2 ? AccessKind::store : AccessKind::load;
        references.push_back(reference(array * bytes, kind, array, 8));
    }
    model.walk(0, references, count);
    model.write_back_all();
    const CacheCounts counts = model.counts();
    CHECK(counts.loads == 2 * count);
    CHECK(counts.load_read_bytes == 2 * bytes);
    CHECK(counts.allocate_read_bytes == bytes);
    CHECK(counts.write_back_bytes == bytes);
    CHECK(counts.levels[0].hits + counts.levels[0].misses == 3 * count);
}

TEST_CASE("areas of addresses that are skipped count as those that are accessed") {
    constexpr std::uint64_t area = 1u << 28;
    constexpr std::uint64_t most = 511;
    const auto first = reference(64, AccessKind::load, 0, 64);
    const std::uint64_t lines = most * area / 64 - 1;
    CacheModel model(two_levels());
    model.walk(0, {&first, 1}, lines);
    CHECK(model.counts().load_read_bytes == 64 * lines);
    const CacheAccess near{.address = 300 * area};
    model.access(0, {&near, 1});
    const CacheAccess far{.address = most * area};
    CHECK_THROWS_AS(model.access(0, {&far, 1}), RequestError);
    CacheModel other(two_levels());
    CHECK_THROWS_AS(other.walk(0, {&first, 1}, lines + 1), RequestError);
}

}  // namespace memgauge
