#pragma once
// Loops at random, given to the engines of a model and to the plain one.

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cache/cache_reference.hpp"
#include "cache/engine.hpp"
#include "cache/levels/geometry.hpp"
#include "memgauge/cache_model.hpp"

namespace memgauge::test {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    bool one_in(std::uint64_t many) { return below(many) == 0; }
    template <class Value>
    Value one_of(std::initializer_list<Value> values) {
        return values.begin()[below(values.size())];
    }

private:
    std::mt19937_64 random_;
};

struct Loop {
    std::vector<StridedAccess> references;
    std::vector<std::int64_t> outer_strides;
    std::vector<StridedAccess> after;
    std::uint64_t outer = 1;
    std::uint64_t count = 0;

    [[nodiscard]] cache::Nest nest() const {
        return {references, outer_strides, outer, count, after};
    }
};

// The engines of a model, whose skips can be seen, and the plain model, given the same.
class Both {
public:
    explicit Both(const CacheMachine& machine, unsigned parts = 1)
        : plain_(machine), levels_(cache::simulated_levels(machine)) {
        for (unsigned i = 0; i < parts; ++i) {
            engines_.push_back(cache::make_engine(machine, levels_, {.index = i, .count = parts}));
        }
    }

    void walk(const Loop& loop) {
        for (const auto& engine : engines_) engine->walk(0, loop.nest());
        plain_.walk(0, loop.references, loop.outer_strides, loop.outer, loop.count, loop.after);
    }
    void access(std::span<const CacheAccess> accesses) {
        for (const auto& engine : engines_) engine->access(0, accesses);
        for (const CacheAccess& access : accesses) plain_.access(0, access);
    }
    void write_back_all() {
        for (const auto& engine : engines_) engine->write_back_all();
        plain_.write_back_all();
    }
    [[nodiscard]] bool agree() const {
        CacheCounts counts;
        counts.levels.resize(levels_.size());
        counts.stream_read_bytes.resize(most_streams);
        for (const auto& engine : engines_) engine->add_to(counts);
        return counts == plain_.counts();
    }
    // Of the plain model.
    [[nodiscard]] const CacheCounts& counts() const { return plain_.counts(); }
    // Of the engine that skipped least.
    [[nodiscard]] std::uint64_t skipped() const {
        std::uint64_t least = ~0ull;
        for (const auto& engine : engines_) least = std::min(least, engine->skipped());
        return least;
    }

private:
    PlainCaches plain_;
    std::vector<CacheLevel> levels_;
    std::vector<std::unique_ptr<cache::Engine>> engines_;
};

inline AccessKind random_kind(Dice& dice) {
    return dice.one_of(
        {AccessKind::load, AccessKind::load, AccessKind::store, AccessKind::store_prefetch});
}

inline StoreStreams random_store_streams(Dice& dice) {
    return {.lines = static_cast<unsigned>(1 + dice.below(3)),
            .streams = static_cast<unsigned>(1 + dice.below(4)),
            .gap = static_cast<unsigned>(dice.below(20)),
            .strided = static_cast<unsigned>(dice.below(5)),
            .window = static_cast<unsigned>(dice.below(40))};
}

// Up to three levels; one machine in so many has store streams.
inline CacheMachine random_small_machine(Dice& dice, unsigned parts, unsigned with_streams) {
    CacheMachine machine;
    machine.name = "random";
    machine.line_bytes = dice.one_of<std::size_t>({32, 64, 128});
    machine.sector_bytes = machine.line_bytes / dice.one_of<std::size_t>({1, 1, 2, 4});
    const std::size_t levels = 1 + dice.below(3);
    for (std::size_t l = 0; l < levels; ++l) {
        CacheLevel level;
        level.name = "L" + std::to_string(l + 1);
        level.ways = dice.one_of<std::size_t>({1, 2, 3, 4, 8, 20, 40});
        const std::size_t sets = parts * dice.one_of<std::size_t>({1, 2, 2, 3, 4}) << l;
        level.bytes = sets * level.ways * machine.line_bytes;
        if (l > 0) {
            level.inclusion =
                dice.one_of({Inclusion::non_inclusive, Inclusion::inclusive, Inclusion::exclusive});
        }
        machine.levels.push_back(level);
    }
    if (dice.one_in(with_streams)) {
        machine.store_streams = random_store_streams(dice);
    }
    return machine;
}

struct Tried {
    std::uint64_t loops = 0;
    std::uint64_t skipped = 0;  // of which something was skipped
};

// Machines at random, on each some loops and accesses after each: counts agree throughout.
template <class MakeMachine, class MakeLoop, class MakeAccesses>
Tried try_loops(std::uint64_t seeds, const MakeMachine& machine, const MakeLoop& make,
                const MakeAccesses& accesses) {
    Tried tried;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        Dice dice(seed);
        const unsigned parts = dice.one_of({1u, 1u, 2u, 4u});
        Both both(machine(dice, parts), parts);
        for (int i = 0; i < 3; ++i) {
            const std::uint64_t before = both.skipped();
            const Loop loop = make(dice);
            both.walk(loop);
            REQUIRE(both.agree());
            both.access(accesses(dice, loop));
            REQUIRE(both.agree());
            ++tried.loops;
            tried.skipped += both.skipped() > before ? 1 : 0;
        }
        both.write_back_all();
        REQUIRE(both.agree());
    }
    return tried;
}

}  // namespace memgauge::test
