// Loops in lockstep, and sets parted over threads, count what the same accesses one by one count.

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "memgauge/cache_model.hpp"
#include "slow.hpp"

namespace memgauge {
namespace {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    template <class Value>
    Value one_of(std::initializer_list<Value> values) {
        return values.begin()[below(values.size())];
    }

private:
    std::mt19937_64 random_;
};

CacheLevel random_level(Dice& dice, std::size_t number, std::size_t line_bytes) {
    CacheLevel level;
    level.name = "L" + std::to_string(number + 1);
    level.replacement = dice.one_of({Replacement::lru, Replacement::lru, Replacement::tree_plru});
    level.ways = dice.one_of<std::size_t>({1, 2, 4, 8});
    if (level.replacement == Replacement::lru) {
        level.ways = dice.one_of<std::size_t>({1, 2, 3, 4, 5, 8, 11, 16, 20, 40});
    }
    const std::size_t sets = dice.one_of<std::size_t>({2, 2, 4, 6, 8}) << (2 * number);
    level.bytes = sets * level.ways * line_bytes;
    if (number > 0) {
        level.inclusion =
            dice.one_of({Inclusion::non_inclusive, Inclusion::inclusive, Inclusion::exclusive});
    }
    return level;
}

CacheMachine random_machine(Dice& dice) {
    CacheMachine machine;
    machine.name = "random";
    machine.line_bytes = dice.one_of<std::size_t>({32, 64, 128});
    machine.sector_bytes = machine.line_bytes / dice.one_of<std::size_t>({1, 1, 2, 4});
    machine.cores = dice.one_of({1u, 1u, 1u, 2u, 3u});
    const std::size_t levels = 1 + dice.below(4);
    unsigned sharing = 1;
    for (std::size_t l = 0; l < levels; ++l) {
        machine.levels.push_back(random_level(dice, l, machine.line_bytes));
        if (sharing != 0) sharing = dice.one_of({sharing, sharing, 2 * sharing, 0u});
        machine.levels.back().cores = sharing;
    }
    // Behind borrowed instances only what all share.
    if (sharing != 0 && dice.below(3) == 0) {
        machine.levels.back().borrows_idle = true;
        machine.idle_cores = static_cast<unsigned>(dice.below(9));
    }
    if (dice.below(2) == 0) {
        machine.store_streams = {.lines = static_cast<unsigned>(1 + dice.below(3)),
                                 .streams = static_cast<unsigned>(1 + dice.below(4)),
                                 .gap = static_cast<unsigned>(dice.below(20)),
                                 .strided = static_cast<unsigned>(dice.below(5)),
                                 .window = static_cast<unsigned>(dice.below(40))};
    }
    if (dice.below(5) == 0) machine.prefetchers.stride = true;
    return machine;
}

StridedAccess random_reference(Dice& dice, std::uint8_t stream, const CacheMachine& machine) {
    StridedAccess reference;
    CacheAccess& first = reference.first;
    first.bytes = dice.one_of({8u, 8u, 16u, 4u});
    first.kind = dice.one_of({AccessKind::load, AccessKind::load, AccessKind::store,
                              AccessKind::store, AccessKind::store_prefetch});
    first.stream = stream;
    // Few places, so that references meet in sets and lines.
    first.address = 1'000'000 / 64 * 64 + dice.below(8) * 2048 + dice.below(16) * 8;
    const auto line = static_cast<std::int64_t>(machine.line_bytes);
    const auto bytes = static_cast<std::int64_t>(first.bytes);
    reference.stride = dice.one_of<std::int64_t>(
        {bytes, bytes, bytes, -bytes, 0, 2 * bytes, 3 * bytes, line, 5 * line + bytes, -2 * line});
    if (dice.below(10) == 0) first.address += 3;  // reaches over borders
    return reference;
}

struct Loop {
    unsigned core = 0;
    std::vector<StridedAccess> references;
    std::vector<std::int64_t> outer_strides;
    std::vector<StridedAccess> after;
    std::uint64_t outer = 1;
    std::uint64_t count = 0;
};

Loop random_loop(Dice& dice, const CacheMachine& machine) {
    Loop loop;
    loop.core = static_cast<unsigned>(dice.below(machine.cores));
    const std::size_t references = 1 + dice.below(5);
    for (std::size_t r = 0; r < references; ++r) {
        loop.references.push_back(random_reference(dice, static_cast<std::uint8_t>(r), machine));
        loop.outer_strides.push_back(dice.one_of<std::int64_t>({0, 8, 512, 1024}));
        // Two arrays that meet in every step.
        if (r > 0 && dice.below(4) == 0) {
            loop.references[r].first.address = loop.references[r - 1].first.address + 8;
            loop.references[r].stride = loop.references[r - 1].stride;
        }
    }
    if (dice.below(8) == 0) loop.references.back().first.stream = 0;
    if (dice.below(3) == 0) loop.after.push_back(random_reference(dice, 7, machine));
    loop.outer = 1 + dice.below(12);
    loop.count = dice.below(120);
    return loop;
}

void one_by_one(CacheModel& model, const Loop& loop) {
    const auto at = [](const StridedAccess& reference, std::uint64_t steps, std::int64_t stride) {
        CacheAccess access = reference.first;
        access.address += steps * static_cast<std::uint64_t>(stride);
        return access;
    };
    for (std::uint64_t o = 0; o < loop.outer; ++o) {
        for (std::uint64_t i = 0; i < loop.count; ++i) {
            for (std::size_t r = 0; r < loop.references.size(); ++r) {
                StridedAccess reference = loop.references[r];
                reference.first = at(reference, o, loop.outer_strides[r]);
                const CacheAccess access = at(reference, i, reference.stride);
                model.access(loop.core, {&access, 1});
            }
        }
        for (const StridedAccess& reference : loop.after) {
            const CacheAccess access = at(reference, o, reference.stride);
            model.access(loop.core, {&access, 1});
        }
    }
}

void walk(CacheModel& model, const Loop& loop) {
    model.walk(loop.core, loop.references, loop.outer_strides, loop.outer, loop.count, loop.after);
}

}  // namespace

TEST_CASE("a loop counts what its accesses count") {
    for (std::uint64_t seed = 0; seed < (test::is_slow ? 100 : 300); ++seed) {
        CAPTURE(seed);
        Dice dice(seed);
        const CacheMachine machine = random_machine(dice);
        CacheModel walked(machine);
        CacheModel stepped(machine);
        for (int loops = 0; loops < 4; ++loops) {
            CAPTURE(loops);
            const Loop loop = random_loop(dice, machine);
            walk(walked, loop);
            one_by_one(stepped, loop);
            REQUIRE(walked.counts() == stepped.counts());
        }
        walked.write_back_all();
        stepped.write_back_all();
        REQUIRE(walked.counts() == stepped.counts());
    }
}

TEST_CASE("parts of the sets on two threads count what one counts") {
    for (std::uint64_t seed = 0; seed < (test::is_slow ? 30 : 60); ++seed) {
        CAPTURE(seed);
        Dice dice(seed);
        const CacheMachine machine = random_machine(dice);
        CacheModel one(machine);
        CacheModel two(machine, 2);
        for (int loops = 0; loops < 3; ++loops) {
            const Loop loop = random_loop(dice, machine);
            walk(one, loop);
            walk(two, loop);
        }
        REQUIRE(one.counts() == two.counts());
        one.write_back_all();
        two.write_back_all();
        REQUIRE(one.counts() == two.counts());
    }
}

}  // namespace memgauge
