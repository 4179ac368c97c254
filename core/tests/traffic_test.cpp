// Traffic: what is issued, where it goes, what is counted, and the probe beside it.

#include "memgauge/traffic.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "load/generator.hpp"
#include "memory/chase/ring_access.hpp"
#include "refusal.hpp"
#include "scramble.hpp"

using namespace memgauge;
using memgauge::test::refusal;
using memgauge::test::says;

namespace {

std::vector<int> some_cpus() {
    const std::vector<int> cpus = allowed_cpus();
    if (cpus.size() == 1) return cpus;
    return {cpus[0], cpus[1]};
}

constexpr std::size_t bytes = std::size_t{1} << 17;

TrafficRequest of_bytes(std::size_t asked, std::size_t first_rank = 0) {
    TrafficRequest request;
    request.bytes = asked;
    request.first_rank = first_rank;
    return request;
}
TrafficRequest small(std::size_t first_rank = 0) {
    return of_bytes(bytes, first_rank);
}

ChaseRequest small_ring() {
    ChaseRequest request;
    request.bytes = std::size_t{1} << 16;
    return request;
}

std::size_t line() {
    return line_traffic({}).line_bytes;
}
std::size_t piece_bytes() {
    return kernels::lines_per_piece * line();
}

bool can_stream() {
    return default_tuned_spec(Operation::write, ElementType::f64).store == StoreKind::non_temporal;
}

std::vector<StoreKind> stores() {
    if (can_stream()) return {StoreKind::temporal, StoreKind::non_temporal};
    return {StoreKind::temporal};
}

constexpr TrafficOrder orders[] = {TrafficOrder::sequential, TrafficOrder::random};

// A generator with memory of its own.
struct Alone {
    load::Memory memory{small(), load::lay_out(bytes, line()), 0};
    load::Generator generator{memory.regions()};
};

void wipe(const load::Memory& memory) {
    const load::Regions& regions = memory.regions();
    for (std::size_t i = 0; i < regions.layout.region_elements(); ++i) regions.writes[i] = -1.0;
}

// How many lines of the write region hold their ramp again, every other line being wiped still.
std::size_t lines_written(const load::Memory& memory) {
    const load::Regions& regions = memory.regions();
    const std::size_t elements = line() / sizeof(double);
    std::size_t written = 0;
    for (std::size_t at = 0; at < regions.layout.region_elements(); at += elements) {
        std::size_t same = 0;
        for (std::size_t i = at; i < at + elements; ++i) {
            const bool holds =
                regions.writes[i] == kernels::ramp_at(ElementType::f64, regions.first_element + i);
            CHECK((holds || regions.writes[i] == -1.0));
            same += holds ? 1U : 0U;
        }
        CHECK((same == 0 || same == elements));
        written += same == elements ? 1U : 0U;
    }
    return written;
}

}  // namespace

TEST_CASE("the ratio issued is the ratio asked for, over any number of pieces") {
    Team team({some_cpus().front()});
    Traffic traffic(team, small());
    for (const StoreKind store : stores()) {
        for (const TrafficOrder order : orders) {
            for (const auto& ratio : std::vector<std::pair<unsigned, unsigned>>{{1, 0},
                                                                                {0, 1},
                                                                                {1, 1},
                                                                                {2, 1},
                                                                                {3, 1},
                                                                                {1, 2},
                                                                                {1, 7},
                                                                                {7, 1},
                                                                                {15, 1},
                                                                                {2, 3},
                                                                                {667, 333},
                                                                                {999, 1},
                                                                                {1, 999},
                                                                                {500, 500},
                                                                                {123, 456}}) {
                const unsigned reads = ratio.first;
                const unsigned writes = ratio.second;
                const TrafficSpec spec{reads, writes, store, order, 0};
                std::uint64_t pieces = 0;
                std::uint64_t read = 0;
                for (const std::size_t more : {1U, 2U, 5U, 13U, 100U, 379U}) {
                    const ThreadSlice slice =
                        traffic.run(spec, more * piece_bytes()).threads.front();
                    pieces += more;
                    read += slice.read_bytes;
                    const std::uint64_t slots =
                        pieces * kernels::slots_per_piece * reads / (reads + writes);
                    INFO(reads, ":", writes, " after ", pieces);
                    CHECK(read == slots * 2 * line());
                    CHECK(slice.read_bytes + slice.write_bytes == more * piece_bytes());
                }
            }
        }
    }
    CHECK(traffic.validate().front().passed);
}

TEST_CASE("what is issued is what was asked for, rounded up to whole pieces, of every thread") {
    Team team(some_cpus());
    Traffic traffic(team, small());
    const Slice slice = traffic.run({1, 1}, piece_bytes() * 3 + 1, 12345);
    REQUIRE(slice.threads.size() == team.size());
    for (const ThreadSlice& thread : slice.threads) {
        CHECK(thread.read_bytes == 2 * piece_bytes());
        CHECK(thread.write_bytes == 2 * piece_bytes());
        REQUIRE(thread.iterations.size() == 1);
        CHECK(thread.iterations[0].begin < thread.iterations[0].end);
    }
    CHECK(slice.pingpong_ns < 0.0);
}

TEST_CASE("threads before the first rank do nothing") {
    const std::vector<int> cpus = some_cpus();
    if (cpus.size() < 2) return;
    Team team(cpus);
    Traffic traffic(team, small(1));
    const Slice slice = traffic.run({1, 0}, piece_bytes(), 0, true);
    CHECK(slice.threads[0].iterations.empty());
    CHECK(slice.threads[0].read_bytes == 0);
    CHECK(slice.threads[1].read_bytes == piece_bytes());
    CHECK(traffic.backing().size() == 1);
}

TEST_CASE("a slot reads as evenly as its ratio allows") {
    for (unsigned reads = 0; reads <= kernels::slots_per_piece; ++reads) {
        unsigned sofar = 0;
        for (unsigned slot = 0; slot < kernels::slots_per_piece; ++slot) {
            sofar += kernels::reads_in_slot(slot, reads) ? 1U : 0U;
            CHECK(sofar == (slot + 1) * reads / kernels::slots_per_piece);
        }
    }
}

TEST_CASE("scrambling visits each number once, and not in order") {
    for (unsigned bits = 1; bits <= 18; ++bits) {
        const std::size_t mask = (std::size_t{1} << bits) - 1;
        std::vector<bool> seen(mask + 1);
        std::size_t neighbours = 0;
        std::size_t last = 0;
        std::uint64_t state = 0;
        for (std::size_t i = 0; i <= mask; ++i) {
            const std::size_t at = scrambled_next(state, mask, scramble_shift(bits));
            REQUIRE(at <= mask);
            CHECK_FALSE(seen[at]);
            seen[at] = true;
            neighbours += at == last + 1 || last == at + 1 ? 1U : 0U;
            last = at;
        }
        CHECK(state == 0);
        if (bits > 8) CHECK(neighbours < (mask + 1) / 16);
    }
}

TEST_CASE("writes reach every line of what their order covers once, and hold its ramp") {
    for (const StoreKind store : stores()) {
        for (const TrafficOrder order : orders) {
            Alone alone;
            load::Generator& generator = alone.generator;
            const load::Layout& layout = alone.memory.regions().layout;
            const TrafficSpec spec{0, 1, store, order, 0};
            generator.follow(spec, load::mix_of(spec));
            wipe(alone.memory);
            const std::size_t covered =
                order == TrafficOrder::random ? layout.random_lines() : 2 * layout.span_lines();
            CHECK(covered % kernels::lines_per_piece == 0);
            std::size_t done = 0;
            for (const std::size_t pieces : {1U, 5U, 10U}) {
                generator.advance(pieces);
                done += pieces * kernels::lines_per_piece;
                CHECK(lines_written(alone.memory) == done);
            }
            generator.advance((covered - done) / kernels::lines_per_piece);
            generator.close();
            CHECK(lines_written(alone.memory) == covered);
            generator.advance(3);  // from the start again
            CHECK(lines_written(alone.memory) == covered);
        }
    }
}

TEST_CASE("mixes write as many lines as they count, and each order goes on where it was") {
    Alone alone;
    load::Generator& generator = alone.generator;
    wipe(alone.memory);
    const TrafficSpec one{5, 3, StoreKind::temporal, TrafficOrder::sequential, 0};
    generator.follow(one, load::mix_of(one));
    generator.advance(10);
    CHECK(lines_written(alone.memory) == generator.issued().writes);
    const TrafficSpec other{1, 3, stores().back(), TrafficOrder::sequential, 3};
    generator.follow(other, load::mix_of(other));
    generator.advance(10);
    generator.close();
    CHECK(lines_written(alone.memory) == generator.issued().writes);
    CHECK(generator.issued().reads == 10 * 10 + 10 * 4);
}

TEST_CASE("memory is at least as large as asked, oddly spaced, and shared with nobody") {
    for (const std::size_t asked : {std::size_t{1} << 13, std::size_t{100'000}, bytes, bytes + 1}) {
        const load::Layout layout = load::lay_out(asked, line());
        CHECK(layout.region_lines() * line() >= asked);
        CHECK(layout.region_lines() * line() < asked + 130 * line());
        CHECK(layout.random_lines() * line() * 2 > asked);
        CHECK(layout.distance_lines % 64 == 17);
        CHECK(layout.span_lines() % kernels::slots_per_piece == 0);
    }
    const Alone one;
    const Alone two;
    Team team({some_cpus().front()});
    ChaseRing ring(team, small_ring());
    const auto page = [](const void* at) {
        return reinterpret_cast<std::uintptr_t>(at) / base_page_bytes();
    };
    for (const Alone* alone : {&one, &two}) {
        const load::Regions& regions = alone->memory.regions();
        const std::uintptr_t first = page(regions.reads);
        const std::uintptr_t last = page(regions.writes + regions.layout.region_elements() - 1);
        const void* const node = memory::RingAccess::position(ring);
        CHECK((page(node) < first || page(node) > last));
        const std::uintptr_t other = page((alone == &one ? two : one).memory.regions().reads);
        CHECK((other < first || other > last));
        // What is published, and what the generator itself writes all the time.
        CHECK(reinterpret_cast<std::uintptr_t>(&alone->generator.published()) % line_bytes == 0);
        CHECK(reinterpret_cast<std::uintptr_t>(&alone->generator) % line_bytes == 0);
    }
}

TEST_CASE("a flipped bit of the write region is found and placed") {
    Team team(some_cpus());
    Traffic traffic(team, small());
    traffic.run({1, 1}, bytes);
    CHECK(traffic.validate().front().passed);
    traffic.corrupt(4321);
    const ArrayValidation found = traffic.validate().front();
    CHECK_FALSE(found.passed);
    CHECK(found.failed_elements == 1);
    CHECK(found.first_failed == 4321);
    CHECK(found.elements * sizeof(double) >= bytes * team.size());
    // A sequential pass over all of it writes what belongs there.
    traffic.run({0, 1}, 2 * bytes);
    CHECK(traffic.validate().front().passed);
    CHECK(says(refusal([&] { traffic.corrupt(std::size_t{1} << 40); }), "no element"));
}

TEST_CASE("beside traffic a probe walks on, and the counts are of its window") {
    const std::vector<int> cpus = some_cpus();
    if (cpus.size() < 2) return;
    Team team(cpus);
    Traffic traffic(team, small(1));
    ChaseRing ring(team, small_ring());
    for (const StoreKind store : stores()) {
        for (const TrafficOrder order : orders) {
            const TrafficSpec spec{3, 1, store, order, 5};
            void** const before = memory::RingAccess::position(ring);
            const std::size_t hops = ring.nodes() / 4 + 1;
            const LoadedSlice loaded =
                traffic.run_loaded(spec, ring, hops, 1, 3, 50, 3 * piece_bytes());
            const ThreadSlice& probe = loaded.slice.threads[0];
            const ThreadSlice& generator = loaded.slice.threads[1];
            REQUIRE(probe.iterations.size() == 3);
            REQUIRE(generator.iterations.size() == 1);
            const Stamp window = generator.iterations.front();
            CHECK(window.begin <= probe.iterations.front().begin);
            CHECK(window.end >= probe.iterations.back().end);
            CHECK(probe.read_bytes == 0);
            CHECK(generator.read_bytes % line() == 0);
            std::size_t timed = 0;
            std::int64_t last = -1;
            for (const auto& [ns, count] : loaded.load_ns) {
                CHECK(static_cast<std::int64_t>(ns) > last);
                last = ns;
                CHECK(count > 0);
                timed += count;
            }
            CHECK(timed == 50);
            // The ring was left as many hops on: as many more lead back to where it was.
            const std::size_t walked = 1 + 3 * hops + 50;
            ring.run(ring.nodes() * 4 - walked);
            CHECK(memory::RingAccess::position(ring) == before);
        }
    }
    CHECK(traffic.validate().front().passed);
}

TEST_CASE("the counts of a window keep the ratio") {
    const std::vector<int> cpus = some_cpus();
    if (cpus.size() < 2) return;
    Team team(cpus);
    Traffic traffic(team, small(1));
    ChaseRing ring(team, small_ring());
    const LoadedSlice loaded = traffic.run_loaded({1, 1}, ring, 100'000, 0, 1, 0);
    const ThreadSlice& thread = loaded.slice.threads[1];
    // The two counts are published one after the other, a look apart at most.
    const auto difference = static_cast<std::int64_t>(thread.read_bytes) -
                            static_cast<std::int64_t>(thread.write_bytes);
    CHECK(difference <= static_cast<std::int64_t>(16 * piece_bytes()));
    CHECK(difference >= -static_cast<std::int64_t>(16 * piece_bytes()));
    CHECK(loaded.load_ns.empty());
}

TEST_CASE("a pause after each piece makes the same work take longer") {
    Team team({some_cpus().front()});
    Traffic traffic(team, small());
    const auto least_ticks = [&](std::uint32_t delay) {
        Ticks least = ~Ticks{0};
        for (int turn = 0; turn < 7; ++turn) {
            const Slice slice = traffic.run(
                {1, 1, StoreKind::temporal, TrafficOrder::sequential, delay}, 20 * piece_bytes());
            const Stamp stamp = slice.threads.front().iterations.front();
            least = std::min(least, stamp.end - stamp.begin);
        }
        return least;
    };
    CHECK(least_ticks(0) < least_ticks(20'000));
}

TEST_CASE("published counts never go back") {
    Alone alone;
    load::Generator& generator = alone.generator;
    const TrafficSpec spec{2, 1};
    generator.follow(spec, load::mix_of(spec));
    load::Counts last;
    for (int look = 0; look < 100; ++look) {
        generator.advance(generator.pieces_per_look());
        const load::Counts stale = generator.published().look();
        CHECK(stale.reads == last.reads);
        CHECK(stale.writes == last.writes);
        generator.publish();
        const load::Counts now = generator.published().look();
        CHECK(now.reads > last.reads);
        CHECK(now.writes > last.writes);
        CHECK(now.reads + now.writes - last.reads - last.writes ==
              generator.pieces_per_look() * kernels::lines_per_piece);
        last = now;
    }
}

TEST_CASE("the names of traffic orders lead back to them") {
    for (const TrafficOrder order : orders) {
        CHECK(traffic_order_from_string(to_string(order)) == order);
    }
    CHECK(says(refusal([] { traffic_order_from_string("zigzag"); }), "sequential, random"));
}

TEST_CASE("stores that read their line first say so") {
    CHECK(line_traffic({1, 0}).write_allocate_bytes == 0);
    CHECK(line_traffic({1, 1}).write_allocate_bytes == line());
    CHECK(line_traffic({1, 1, StoreKind::non_temporal}).write_allocate_bytes == 0);
}

TEST_CASE("traffic that makes no sense is refused with a remedy") {
    CHECK(says(refusal([] { check({0, 0}); }), "give at least one"));
    CHECK(says(refusal([] { check({1000, 1}); }), "at most 1000"));
    CHECK(says(refusal([] { check({~0U, ~0U}); }), "at most 1000"));
    CHECK(refusal([] { check({1, 0, StoreKind::non_temporal}); }).empty());
    const std::string streaming = refusal([] { check({0, 1, StoreKind::non_temporal}); });
    CHECK(streaming.empty() == can_stream());
    if (!can_stream()) CHECK(says(streaming, "ask for temporal"));

    Team team(some_cpus());
    const std::string least = "at least " + std::to_string(2 * piece_bytes());
    CHECK(says(refusal([&] { Traffic(team, of_bytes(2 * piece_bytes() - 1)); }), least.c_str()));
    CHECK(says(refusal([&] { Traffic(team, of_bytes(~std::size_t{0})); }), "can be addressed"));
    CHECK(says(refusal([&] { Traffic(team, small(team.size())); }), "no thread is left"));
    CHECK(says(refusal([&] { pause_ns(team, 1, team.size()); }), "smaller rank"));

    Traffic everyone(team, small());
    ChaseRing ring(team, small_ring());
    CHECK(says(refusal([&] { everyone.run({0, 0}, 1); }), "give at least one"));
    CHECK(says(refusal([&] { everyone.run_loaded({}, ring, 1, 0, 1, 0); }), "first rank 1"));
    if (team.size() < 2) return;
    Traffic others(team, small(1));
    CHECK(says(refusal([&] { others.run_loaded({}, ring, 0, 0, 1, 0); }), "0 hops"));
    Team strangers(some_cpus());
    ChaseRing strange(strangers, small_ring());
    CHECK(says(refusal([&] { others.run_loaded({}, strange, 1, 0, 1, 0); }), "another team"));
}

TEST_CASE("a stop while filling ends in Interrupted") {
    Team team(some_cpus());
    CHECK_THROWS_AS(Traffic(team, of_bytes(std::size_t{1} << 26), [] { return true; }),
                    Interrupted);
}

TEST_CASE("a longer pause takes longer, and none takes nothing to speak of") {
    Team team({some_cpus().front()});
    const double none = pause_ns(team, 0);
    CHECK(none >= 0.0);
    CHECK(pause_ns(team, 200'000) > none);
}
