// Packed sets against the plain model, in each shape and for each instruction set that they are
// compiled for.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cache/cache_reference.hpp"
#include "cache/cache_traces.hpp"
#include "cache/engine.hpp"
#include "cache/levels/geometry.hpp"
#include "cache/packed/caches.hpp"
#include "memgauge/cache_model.hpp"

namespace memgauge::test {
namespace {

constexpr std::uint64_t traces = is_slow ? 400 : 16'000;

// Behind the first level, sets of every other eight seeds are as many as they happen to be.
CacheLevel packed(CacheLevel level, std::uint64_t seed, std::size_t line_bytes, bool is_first) {
    const std::size_t sets = level.ways == 0 ? 1 : level.bytes / (level.ways * line_bytes);
    if (level.ways == 0 || seed / 2 % 2 == 0) level.ways = 17 + seed / 8 % 16;
    level.replacement = Replacement::lru;
    const bool masked = is_first || seed / 8 % 2 == 0;
    level.bytes = (masked ? std::bit_floor(sets) : sets) * level.ways * line_bytes;
    level.cores = 1;
    level.borrows_idle = false;
    if (seed / 4 % 2 == 0) level.inclusion = Inclusion::non_inclusive;
    return level;
}

// The trace of a seed on a machine much like its own whose sets pack.
Trace packed_trace(std::uint64_t seed) {
    Trace trace = random_trace(seed);
    CacheMachine& machine = trace.machine;
    for (CacheLevel& level : machine.levels) {
        const bool is_first = &level == machine.levels.data();
        level = packed(level, seed, machine.line_bytes, is_first);
        level.bytes *= std::max<std::size_t>(machine.line_bytes, 64) / machine.line_bytes;
    }
    machine.line_bytes = std::max<std::size_t>(machine.line_bytes, 64);
    machine.sector_bytes = machine.line_bytes / (1 + seed % 2);
    machine.cores = 1;
    machine.idle_cores = 0;
    machine.prefetchers = {};
    for (Deed& deed : trace.deeds) deed.core = 0;
    return trace;
}

void carry_out(cache::Engine& engine, const Deed& deed) {
    switch (deed.what) {
        case Deed::What::access:
            return engine.access(0, deed.accesses);
        case Deed::What::walk:
            return engine.walk(
                0, {deed.references, deed.outer_strides, deed.outer, deed.count, deed.after});
        case Deed::What::periods:
            for (std::uint64_t i = 0; i < deed.periods; ++i) {
                const Deed walk = walk_of(deed, i);
                engine.walk(
                    0, {walk.references, walk.outer_strides, walk.outer, walk.count, walk.after});
            }
            return;
        case Deed::What::write_back_all:
            return engine.write_back_all();
        case Deed::What::reset_counts:
            return engine.reset_counts();
    }
}

std::string counted(std::span<const std::unique_ptr<cache::Engine>> engines, std::size_t levels) {
    CacheCounts counts;
    counts.levels.resize(levels);
    counts.stream_read_bytes.resize(most_streams);
    for (const auto& engine : engines) engine->add_to(counts);
    return text_of(counts);
}

bool part_in_two(const Trace& trace, const std::vector<CacheLevel>& levels) {
    return std::ranges::all_of(levels, [&](const CacheLevel& level) {
        return cache::sets_of(level, trace.machine) % 2 == 0;
    });
}

// After each deed.
std::vector<std::string> meant(const Trace& trace) {
    PlainCaches plain{trace.machine};
    std::vector<std::string> all;
    for (const Deed& deed : trace.deeds) {
        carry_out(plain, deed);
        all.push_back(text_of(plain.counts()));
    }
    return all;
}

void check(const Trace& trace, const std::vector<CacheLevel>& levels, Isa isa, unsigned parts,
           const std::vector<std::string>& wanted) {
    CAPTURE(to_string(isa));
    CAPTURE(parts);
    std::vector<std::unique_ptr<cache::Engine>> engines;
    for (unsigned i = 0; i < parts; ++i) {
        const cache::Part part{.index = i, .count = parts};
        engines.push_back(cache::make_packed_engine(trace.machine, levels, part, isa));
    }
    for (std::size_t i = 0; i < trace.deeds.size(); ++i) {
        for (const auto& engine : engines) carry_out(*engine, trace.deeds[i]);
        REQUIRE_MESSAGE(counted(engines, levels.size()) == wanted[i], text_of(trace));
    }
}

}  // namespace

TEST_CASE("packed sets count as the plain model does, whatever they are compiled for") {
    std::array<unsigned, 8> shapes{};
    unsigned remainders = 0;
    unsigned parted = 0;
    for (std::uint64_t seed = 0; seed < traces; ++seed) {
        CAPTURE(seed);
        const Trace trace = packed_trace(seed);
        const std::vector<CacheLevel> levels = cache::simulated_levels(trace.machine);
        REQUIRE(cache::packs(trace.machine, levels));
        const cache::PackedShape shape = cache::PackedState(trace.machine, levels).shape;
        ++shapes[(shape.sectors - 1) * 4 + shape.wide * 2 + shape.independent];
        remainders += std::ranges::any_of(levels, [&](const CacheLevel& level) {
            return !std::has_single_bit(cache::sets_of(level, trace.machine));
        });
        const std::vector<std::string> wanted = meant(trace);
        const bool parts = part_in_two(trace, levels);
        parted += parts;
        for (const Isa isa : cache::packed_isas()) {
            check(trace, levels, isa, 1, wanted);
            if (parts) check(trace, levels, isa, 2, wanted);
        }
    }
    CHECK(std::ranges::all_of(shapes, [](unsigned count) { return count > traces / 100; }));
    CHECK(remainders > traces / 10);
    CHECK(parted > traces / 10);
}

}  // namespace memgauge::test
