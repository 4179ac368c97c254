// Loops over references of one stride count what their accesses count one by one, and leave the
// caches as those do, though most accesses are left out.

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "cache/cache_loops.hpp"
#include "cache/cache_traces.hpp"
#include "cache/levels/grain.hpp"
#include "cache/loops/loop.hpp"

namespace memgauge::test {
namespace {

constexpr std::uint64_t seeds = is_slow ? 200 : 10'000;
constexpr std::uint64_t ground = 1'000'000'000 / 4096 * 4096;

// A first level of few ways and some sets, in front of small ones: what is evicted too early or too
// late shows.
CacheMachine small_machine(Dice& dice, unsigned parts) {
    CacheMachine machine;
    machine.name = "random";
    machine.line_bytes = dice.one_of<std::size_t>({64, 64, 128});
    machine.sector_bytes = machine.line_bytes / dice.one_of<std::size_t>({1, 2});
    const std::size_t levels = 1 + dice.below(3);
    for (std::size_t l = 0; l < levels; ++l) {
        CacheLevel level;
        level.name = "L" + std::to_string(l + 1);
        level.ways = dice.one_of<std::size_t>({1, 2, 3, 4, 5, 8, 16, 20});
        const auto sets = std::size_t{1} << dice.below(6);
        level.bytes = parts * sets * level.ways * machine.line_bytes;
        if (l > 0) {
            level.inclusion = dice.one_of(
                {Inclusion::non_inclusive, Inclusion::non_inclusive, Inclusion::exclusive});
        }
        machine.levels.push_back(level);
    }
    if (dice.one_in(4)) machine.store_streams = random_store_streams(dice);
    return machine;
}

// Some lie close together, so that they follow each other, some whole turns of the sets apart, so
// that they meet.
Loop loop_abreast(Dice& dice) {
    Loop loop;
    const auto stride = dice.one_of<std::int64_t>({8, 8, 8, 16, 4, -8, 32, -16});
    const std::size_t references = 1 + dice.below(dice.one_in(4) ? 12 : 6);
    const std::uint64_t turn = std::uint64_t{64} << dice.below(9);
    const auto outer_stride = dice.one_of<std::int64_t>({0, 8, 64, 136, 1600, 4096});
    for (std::size_t r = 0; r < references; ++r) {
        StridedAccess one;
        one.first.bytes = 4;
        one.first.kind = random_kind(dice);
        one.first.stream = static_cast<std::uint8_t>(r);
        one.first.address =
            ground + turn * dice.below(5) + 8 * dice.below(dice.one_of({3, 20, 40}));
        if (dice.one_in(4)) one.first.address += 4;
        one.stride = stride;
        loop.references.push_back(one);
        loop.outer_strides.push_back(dice.one_in(10) ? 64 : outer_stride);
    }
    loop.outer = 1 + dice.below(6);
    loop.count = 1 + dice.below(dice.one_of({8, 60, 400}));
    return loop;
}

// What the sets hold shows in what these hit.
std::vector<CacheAccess> accesses_around(Dice& dice, const Loop& loop) {
    std::vector<CacheAccess> accesses;
    for (int i = 0; i < 60; ++i) {
        CacheAccess access = loop.references[dice.below(loop.references.size())].first;
        access.address += 8 * dice.below(1000);
        access.kind = random_kind(dice);
        accesses.push_back(access);
    }
    return accesses;
}

Loop references_at(std::initializer_list<std::int64_t> offsets, std::uint64_t store_at) {
    Loop loop;
    for (const std::int64_t offset : offsets) {
        StridedAccess one;
        one.first.address = ground + static_cast<std::uint64_t>(offset);
        one.first.stream = static_cast<std::uint8_t>(loop.references.size());
        one.stride = 8;
        loop.references.push_back(one);
    }
    loop.references.push_back(loop.references.front());
    loop.references.back().first = {.address = ground + store_at, .kind = AccessKind::store};
    loop.count = 1000;
    return loop;
}

// The plan of a loop on lines of 64 bytes.
struct Planned {
    cache::Loop loop;
    const cache::AbreastPlan* plan = nullptr;

    Planned(const Loop& of, std::uint64_t sets, unsigned ways) {
        CacheMachine machine;
        loop.begin(of.count);
        for (const StridedAccess& one : of.references) loop.add(one, nullptr, ~0ull, machine);
        plan = loop.abreast.plan(loop, {.sets = sets, .ways = ways, .line_bits = 6, .part = {}});
    }
};

}  // namespace

TEST_CASE("references of one stride count what they count one by one") {
    const Tried tried = try_loops(seeds, small_machine, loop_abreast, accesses_around);
    CHECK(tried.loops == 3 * seeds);
}

TEST_CASE("loads that follow others are left out, and meet what those meet") {
    // Three next to each other, rows before and behind, and a store that meets the three.
    const Loop loop = references_at({-8, 8, -1600, 1600, 0}, std::uint64_t{64} * 64 * 10);
    const Planned planned(loop, 64, 8);
    REQUIRE(planned.plan != nullptr);
    CHECK(planned.plan->joining() == 0b10'1110);
    CHECK(planned.plan->meeting() == 0b11'0011);
    unsigned parting = 0;
    for (const auto& event : planned.plan->events()) {
        parting |= event.parts ? 1u << event.reference : 0;
    }
    CHECK(parting == 0b10'0001);
    CHECK(Planned(references_at({-8, 8}, 640), 64, 8).plan->meeting() == 0);
}

TEST_CASE("where sets could lose a line in use, each access is made") {
    const Loop loop = references_at({0, 4096, 8192}, 12288);
    CHECK(Planned(loop, 64, 4).plan != nullptr);
    CHECK(Planned(loop, 64, 3).plan == nullptr);
    CHECK(Planned(loop, 4, 8).plan == nullptr);
    CHECK(Planned(loop, 0, 8).plan == nullptr);
    Loop unlike = loop;
    unlike.references[1].stride = 16;
    CHECK(Planned(unlike, 64, 8).plan == nullptr);
}

TEST_CASE("parts of the sets count as many steps as lie in them") {
    Dice dice(1);
    for (int i = 0; i < 3000; ++i) {
        CacheMachine machine;
        machine.line_bytes = 64;
        machine.sector_bytes = 32;
        const unsigned parts = dice.one_of({1u, 2u, 3u, 4u, 7u});
        const auto stride = dice.one_of<std::int64_t>({8, -8, 4, 16, -32});
        const std::uint64_t begin = ground + 4 * dice.below(100);
        const std::uint64_t count = dice.below(500);
        const cache::Grain grain(machine,
                                 {.index = static_cast<unsigned>(i) % parts, .count = parts});
        std::uint64_t here = 0;
        for (std::uint64_t step = 0; step < count; ++step) {
            here += grain.is_here(begin + step * static_cast<std::uint64_t>(stride)) ? 1 : 0;
        }
        REQUIRE(grain.steps_here(begin, stride, count) == here);
    }
}

}  // namespace memgauge::test
