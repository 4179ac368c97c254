// Periods of a loop of which each memory moves by a distance of its own, counted and not simulated,
// count what their accesses count one by one, and leave the caches and the store streams as those
// leave them.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cache/cache_loops.hpp"
#include "cache/cache_traces.hpp"
#include "memgauge/cache_model.hpp"
#include "memgauge/nests.hpp"
#include "nests/address_stream.hpp"

namespace memgauge {
namespace {

using namespace test;

// A loop around walks, at random, on a machine at random; whether some of it was skipped.
bool try_periods(std::uint64_t seed) {
    Dice dice(seed);
    const unsigned parts = dice.one_of({1U, 1U, 1U, 2U});
    const CacheMachine machine = random_small_machine(dice, parts, 2);
    CacheModel model(machine, parts);
    PlainCaches plain(machine);
    const Deed periods = random_periods([&](std::uint64_t end) { return dice.below(end); },
                                        model.bytes_around_sets(), 60);
    Deed before;
    before.accesses.resize(dice.below(60));
    for (CacheAccess& access : before.accesses) {
        access = {(1U << 28) + dice.below(1U << 18) * 8, 8, random_kind(dice), 3};
    }
    const auto both = [&](const Deed& deed) {
        carry_out(model, deed);
        carry_out(plain, deed);
        REQUIRE(text_of(model.counts()) == text_of(plain.counts()));
    };
    both(before);
    const std::uint64_t skipped = carry_out_periods(model, periods);
    carry_out(plain, periods);
    REQUIRE(text_of(model.counts()) == text_of(plain.counts()));
    // Where the loop ended, and stores that go on from its last ones.
    Deed after;
    for (std::size_t r = 0; r < periods.references.size(); ++r) {
        const StridedAccess& one = periods.references[r];
        const std::uint64_t end =
            one.first.address + periods.count * static_cast<std::uint64_t>(one.stride) +
            (periods.periods - 1) * static_cast<std::uint64_t>(periods.shifts[r]);
        for (std::uint64_t i = 0; i < 12; ++i) {
            after.accesses.push_back(
                {end + i * one.first.bytes, one.first.bytes, one.first.kind, one.first.stream});
        }
        for (std::uint64_t i = 0; i < 40; ++i) {
            after.accesses.push_back({end - 8 * dice.below(1000), 8, random_kind(dice), 5});
        }
    }
    both(after);
    after.what = Deed::What::write_back_all;
    both(after);
    return skipped > 0;
}

CacheMachine small_power9() {
    CacheMachine machine;
    machine.name = "small";
    machine.line_bytes = 128;
    machine.sector_bytes = 64;
    machine.levels = {{.name = "L1", .bytes = 1024, .ways = 4},
                      {.name = "L2", .bytes = 4096, .ways = 4},
                      {.name = "L3", .bytes = 20'480, .ways = 20}};
    machine.store_streams.lines = 2;
    return machine;
}

std::vector<std::uint64_t> bases_of(const NestSpec& spec, std::uint64_t gap) {
    std::vector<std::uint64_t> bases;
    std::uint64_t at = 1U << 28;
    for (const NestArray& array : arrays_of(spec)) {
        bases.push_back(at);
        at += (array.bytes + gap + 127) / 128 * 128;
    }
    return bases;
}

}  // namespace

TEST_CASE("random loops whose memories move by themselves count what their accesses count") {
    constexpr std::uint64_t traces = test::is_slow ? 50 : 1500;
    std::uint64_t some = 0;
    for (std::uint64_t seed = 0; seed < traces; ++seed) {
        CAPTURE(seed);
        some += try_periods(seed) ? 1 : 0;
    }
    MESSAGE(some << " of " << traces);
    CHECK(some > traces / 4);
}

TEST_CASE("nests of which trips are skipped count what all of their trips count") {
    const NestShape cube{.planes = 16, .rows = 16, .cols = 16};
    const std::vector<NestSpec> specs = {{.kind = NestKind::gemm, .shape = {.n = 32}},
                                         {.kind = NestKind::gemm, .shape = {.n = 64}},
                                         {.kind = NestKind::gemm, .shape = {.n = 48}},
                                         {.kind = NestKind::gemm, .shape = {.n = 37}},
                                         {.kind = NestKind::gemv, .shape = {.m = 64, .n = 32}},
                                         {.kind = NestKind::transpose, .shape = {.m = 64, .n = 64}},
                                         {.kind = NestKind::s1cf_first, .shape = cube},
                                         {.kind = NestKind::s1cf, .shape = cube},
                                         {.kind = NestKind::s1pf_second, .shape = cube}};
    for (const NestSpec& spec : specs) {
        for (const unsigned lines : {0U, 2U}) {
            for (const unsigned threads : {1U, 2U}) {
                CacheMachine machine = small_power9();
                machine.store_streams.lines = lines;
                const std::vector<std::uint64_t> bases = bases_of(spec, 640);
                CAPTURE(to_string(spec.kind));
                CAPTURE(spec.shape.n);
                CacheModel skipping(machine, threads);
                CacheModel all(machine);
                for (int i = 0; i < 2; ++i) {
                    simulate(spec, bases, 0, skipping);
                    nests::stream_addresses(nests::as_run(nests::describe(spec)), bases, 0, all);
                    CHECK(skipping.counts() == all.counts());
                }
                skipping.write_back_all();
                all.write_back_all();
                CHECK(skipping.counts() == all.counts());
            }
        }
    }
}

TEST_CASE("a large product of matrices takes as long as some of its rows") {
    // 2^34 accesses; one by one they took minutes.
    const NestSpec spec{.kind = NestKind::gemm, .shape = {.n = test::is_slow ? 256U : 2048U}};
    CacheMachine machine = small_power9();
    CacheModel model(machine);
    CHECK(trips_simulated(spec, model) < trips_of(spec) / 50);
    simulate(spec, bases_of(spec, 0), 0, model);
    const CacheCounts counts = model.counts();
    const std::uint64_t n = spec.shape.n;
    CHECK(counts.loads == 2 * n * n * n);
    CHECK(counts.stores == n * n);
    CHECK(counts.levels[0].hits + counts.levels[0].misses == counts.loads + counts.stores);
}

TEST_CASE("how many trips are simulated is known before") {
    const CacheModel model(small_power9());
    const auto simulated = [&](const NestSpec& spec) { return trips_simulated(spec, model); };
    // All arrays come to the same sets again after 1024 bytes: 8 rows of 128 bytes.
    CHECK(simulated({.kind = NestKind::gemm, .shape = {.n = 16}}) == 16 * 16 * 16);
    CHECK(simulated({.kind = NestKind::gemm, .shape = {.n = 32}}) == (2 + 4 + 2) * 32 * 32);
    CHECK(simulated({.kind = NestKind::gemm, .shape = {.n = 37}}) == 37 * 37 * 37);
    CHECK(simulated({.kind = NestKind::gemm, .shape = {.n = 32}, .store_prefetch = true}) ==
          32 * 32 * 32);
    CHECK(simulated({.kind = NestKind::gemm, .shape = {.n = 32}, .load_prefetch = true}) ==
          32 * 32 * 32);
    CacheMachine machine = small_power9();
    machine.cores = 2;
    CHECK(trips_simulated({.kind = NestKind::gemm, .shape = {.n = 32}}, CacheModel(machine)) ==
          32 * 32 * 32);
}

TEST_CASE("what is marked is repeated only as it moved") {
    CacheModel model(small_power9());
    const std::uint64_t around = model.bytes_around_sets();
    CHECK(around == 1024);  // 8 sets of level 2 and 3
    MovingMemory memory{.begin = 1U << 20, .bytes = 100 * around, .shift = 1024, .stream = 0};
    const auto period = [&](std::uint64_t i) {
        const StridedAccess one{{(1U << 20) + i * around, 8, AccessKind::load, 0}, 8};
        model.walk(0, {&one, 1}, around / 8);
    };
    const auto repeats = [&](std::uint64_t times) { return model.repeat({&memory, 1}, times); };
    CHECK_FALSE(repeats(1));  // nothing is marked
    CHECK(model.mark());
    period(0);
    CHECK_FALSE(repeats(1));  // the caches were empty
    for (std::uint64_t i = 1; i < 20; ++i) period(i);
    CHECK(model.mark());
    period(20);
    memory.shift = 512;
    CHECK_FALSE(repeats(1));  // other sets
    memory.shift = 2048;
    CHECK_FALSE(repeats(1));  // farther than it went
    memory.shift = 1024;
    CHECK_FALSE(repeats(80));  // behind its end
    CHECK(repeats(79));
    CHECK_FALSE(repeats(1));  // once only
    CHECK(model.counts().load_read_bytes == 100 * around);
    CHECK(model.mark());
    model.reset_counts();
    CHECK_FALSE(repeats(1));

    CacheMachine machine = small_power9();
    machine.cores = 2;
    CHECK(CacheModel(machine).bytes_around_sets() == 0);
    CHECK_FALSE(CacheModel(machine).mark());
    machine.cores = 1;
    machine.prefetchers.next_line = true;
    CHECK_FALSE(CacheModel(machine).mark());
}

}  // namespace memgauge
