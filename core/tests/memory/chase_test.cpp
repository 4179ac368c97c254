#include "memgauge/chase.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "mappings.hpp"
#include "memory/chase/links.hpp"
#include "memory/chase/walk.hpp"
#include "slow.hpp"

using memgauge::Buffer;
using memgauge::BufferRequest;
using memgauge::ChaseOrder;
using memgauge::ChaseRequest;
using memgauge::ChaseRing;
using memgauge::Interrupted;
using memgauge::PagePolicy;
using memgauge::RequestError;
using memgauge::Team;
using memgauge::memory::Grain;
using memgauge::memory::Layout;
using memgauge::memory::Linkers;
using memgauge::test::is_slow;
using memgauge::test::mappings;
using memgauge::test::mappings_since;

namespace {

constexpr std::size_t KiB = 1024;
constexpr std::size_t MiB = 1024 * KiB;

ChaseRequest ring_of(std::size_t bytes, std::size_t node_bytes, ChaseOrder order,
                     std::size_t block_bytes = 0) {
    ChaseRequest request;
    request.bytes = bytes;
    request.node_bytes = node_bytes;
    request.order = order;
    request.block_bytes = block_bytes;
    return request;
}

Linkers linkers_of(std::size_t threads) {
    const auto parallel = [threads](const std::function<void()>& work) {
        std::vector<std::thread> others;
        for (std::size_t other = 1; other < threads; ++other) {
            others.emplace_back(work);
        }
        work();
        for (std::thread& other : others) {
            other.join();
        }
    };
    return {parallel, [] { return false; }};
}

// A ring in plain memory, linked without a team.
struct PlainRing {
    explicit PlainRing(const ChaseRequest& request, std::size_t threads = 1,
                       const Grain& grain = {})
        : buffer(BufferRequest{request.bytes, 4096, 0, PagePolicy::k4, {}}),
          layout(buffer.data(), request) {
        memgauge::memory::link(layout, request, linkers_of(threads), grain);
    }

    // Slot indices in the order of the walk, until it returns to slot 0 or has lost its way.
    [[nodiscard]] std::vector<std::size_t> order(std::size_t node_bytes) const {
        std::vector<std::size_t> slots;
        void** position = layout.node(0);
        do {
            const auto offset = reinterpret_cast<std::byte*>(position) - buffer.data();
            slots.push_back(static_cast<std::size_t>(offset) / node_bytes);
            position = static_cast<void**>(*position);
        } while (position != layout.node(0) && slots.size() <= layout.nodes() &&
                 layout.holds(position));
        return slots;
    }

    Buffer buffer;
    Layout layout;
};

void check_permutation(const std::vector<std::size_t>& slots, std::size_t nodes) {
    REQUIRE(slots.size() == nodes);
    std::vector<std::size_t> sorted = slots;
    std::ranges::sort(sorted);
    for (std::size_t slot = 0; slot < nodes; ++slot) {
        REQUIRE(sorted[slot] == slot);
    }
}

std::vector<int> one_cpu() {
    return {memgauge::allowed_cpus().front()};
}

}  // namespace

TEST_CASE("every chase order has a name that reads back") {
    for (const auto order : {ChaseOrder::random, ChaseOrder::block_random, ChaseOrder::stride}) {
        CHECK(memgauge::chase_order_from_string(memgauge::to_string(order)) == order);
    }
    CHECK_THROWS_WITH_AS(memgauge::chase_order_from_string("zigzag"),
                         "unknown chase order 'zigzag'; choose among random, block-random, stride",
                         RequestError);
}

TEST_CASE("a random ring is one cycle through every node") {
    for (const std::size_t node_bytes : {8U, 24U, 64U, 192U, 512U, 4096U, 8192U}) {
        for (const std::size_t nodes : {2U, 3U, 4U, 15U, 16U, 17U, 18U, 33U, 100U, 1023U, 4097U}) {
            if (is_slow && nodes == 4097 && node_bytes > 512) continue;
            for (const std::uint64_t seed : {0U, 1U, 2U, 77U}) {
                if (is_slow && seed % 2 != 0) continue;
                ChaseRequest request =
                    ring_of(nodes * node_bytes + node_bytes / 2, node_bytes, ChaseOrder::random);
                request.seed = seed;
                check_permutation(PlainRing(request).order(node_bytes), nodes);
            }
        }
    }
}

TEST_CASE("a random ring is one cycle, and the same, whoever links how much of it") {
    for (const std::size_t nodes : {2U, 5U, 64U, 1000U, is_slow ? 10'000U : 100'000U}) {
        for (const std::size_t node_bytes : {64U, 512U}) {
            const auto request = ring_of(nodes * node_bytes, node_bytes, ChaseOrder::random);
            for (const Grain grain : {Grain{}, Grain{7, 3}, Grain{100'000, 11}, Grain{64, 64}}) {
                const auto slots = PlainRing(request, 1, grain).order(node_bytes);
                check_permutation(slots, nodes);
                CHECK(PlainRing(request, 3, grain).order(node_bytes) == slots);
            }
        }
    }
}

TEST_CASE("a block-random ring is the same, whoever links it") {
    const auto request = ring_of(8 * MiB, 512, ChaseOrder::block_random, 64 * KiB);
    CHECK(PlainRing(request, 3).order(512) == PlainRing(request).order(512));
}

TEST_CASE("hops of a random ring lead anywhere, also where many buckets make it") {
    // Where a hop leads, counted from where it starts, is uniform over the ring: of 64 sectors each
    // gets 1/64 of 65536 hops. Chi-square with 63 degrees of freedom stays below 130 but once in a
    // million, and the seed is fixed.
    constexpr std::size_t nodes = 65536;
    constexpr std::size_t sectors = 64;
    const auto slots =
        PlainRing(ring_of(nodes * 64, 64, ChaseOrder::random), 2, Grain{1000, 128}).order(64);
    REQUIRE(slots.size() == nodes);
    for (const std::size_t lag : {1U, 2U, 64U, 128U}) {
        std::vector<double> hops(sectors);
        for (std::size_t hop = 0; hop < nodes; ++hop) {
            const std::size_t there = slots[(hop + lag) % nodes];
            hops[(there + nodes - slots[hop]) % nodes * sectors / nodes] += 1;
        }
        double chi_square = 0;
        for (const double count : hops) {
            const double expected = static_cast<double>(nodes) / sectors;
            chi_square += (count - expected) * (count - expected) / expected;
        }
        CHECK(chi_square < 130.0);
    }
}

TEST_CASE("a block-random ring is one cycle that leaves a block only when it is done") {
    for (const std::size_t node_bytes : {64U, 512U}) {
        for (const std::size_t per_block : {1U, 2U, 8U, 64U}) {
            for (const std::size_t nodes : {2U, 7U, 8U, 9U, 64U, 500U, 4096U}) {
                for (const std::uint64_t seed : {1U, 5U}) {
                    auto request = ring_of(nodes * node_bytes, node_bytes, ChaseOrder::block_random,
                                           per_block * node_bytes);
                    request.seed = seed;
                    const auto slots = PlainRing(request).order(node_bytes);
                    check_permutation(slots, nodes);
                    std::size_t changes = 0;
                    for (std::size_t hop = 0; hop < nodes; ++hop) {
                        changes += slots[hop] / per_block != slots[(hop + 1) % nodes] / per_block
                                       ? 1U
                                       : 0U;
                    }
                    const std::size_t blocks = (nodes + per_block - 1) / per_block;
                    CHECK(changes == (blocks == 1 ? 0 : blocks));
                }
            }
        }
    }
}

TEST_CASE("a stride ring visits its nodes in order") {
    const auto slots = PlainRing(ring_of(64 * KiB, 256, ChaseOrder::stride)).order(256);
    REQUIRE(slots.size() == 256);
    for (std::size_t hop = 0; hop < slots.size(); ++hop) {
        CHECK(slots[hop] == hop);
    }
}

TEST_CASE("random order depends on the seed alone and is not regular") {
    ChaseRequest request = ring_of(64 * KiB, 64, ChaseOrder::random);
    const auto first = PlainRing(request).order(64);
    CHECK(PlainRing(request).order(64) == first);
    request.seed = 2;
    CHECK(PlainRing(request).order(64) != first);
    // Of 1024 hops of a random ring about one leads to the next line; a dozen would be a pattern.
    std::size_t neighbours = 0;
    for (std::size_t hop = 0; hop + 1 < first.size(); ++hop) {
        neighbours += first[hop + 1] == first[hop] + 1 ? 1U : 0U;
    }
    CHECK(neighbours < 12);
}

TEST_CASE("every cycle of a small ring is equally likely, in one bucket and in several") {
    for (const Grain grain : {Grain{}, Grain{1, 1}, Grain{3, 2}}) {
        // Four nodes have six cycles; chi-square with 5 degrees of freedom stays below 30 but once
        // in a hundred thousand, and the seeds are fixed.
        std::vector<std::vector<std::size_t>> cycles;
        std::vector<double> counts;
        constexpr int trials = is_slow ? 600 : 1800;
        ChaseRequest request = ring_of(256, 64, ChaseOrder::random);
        const PlainRing ring(request, 1, grain);
        for (int seed = 0; seed < trials; ++seed) {
            request.seed = static_cast<std::uint64_t>(seed);
            memgauge::memory::link(ring.layout, request, linkers_of(1), grain);
            const auto cycle = ring.order(64);
            const auto known = std::ranges::find(cycles, cycle);
            if (known == cycles.end()) {
                cycles.push_back(cycle);
                counts.push_back(1);
            } else {
                counts[static_cast<std::size_t>(known - cycles.begin())] += 1;
            }
        }
        REQUIRE(cycles.size() == 6);
        double chi_square = 0;
        for (const double count : counts) {
            chi_square += (count - trials / 6.0) * (count - trials / 6.0) / (trials / 6.0);
        }
        CHECK(chi_square < 30.0);
    }
}

TEST_CASE("wide nodes use every set of a cache, and lie apart as asked within a page") {
    constexpr std::size_t node_bytes = 512;
    const ChaseRequest request = ring_of(4 * MiB, node_bytes, ChaseOrder::random);
    const Buffer buffer(BufferRequest{request.bytes, 4096, 0, PagePolicy::k4, {}});
    const Layout layout(buffer.data(), request);
    std::vector<std::size_t> nodes_in_set(1024);
    for (std::size_t index = 0; index < layout.nodes(); ++index) {
        const auto offset = static_cast<std::size_t>(
            reinterpret_cast<std::byte*>(layout.node(index)) - buffer.data());
        CHECK(offset / node_bytes == index);
        CHECK(offset % 64 == 0);
        ++nodes_in_set[offset / 64 % 1024];
        if (index % 8 != 0) {
            const auto* before = reinterpret_cast<std::byte*>(layout.node(index - 1));
            CHECK(reinterpret_cast<std::byte*>(layout.node(index)) - before == node_bytes);
        }
    }
    // 8192 nodes in 1024 sets: 8 each on average, where fixed places would leave 7 of 8 empty.
    const auto used =
        std::ranges::count_if(nodes_in_set, [](std::size_t nodes) { return nodes > 0; });
    CHECK(used > 1000);
    CHECK(std::ranges::max(nodes_in_set) < 32);
}

TEST_CASE("a walk takes exactly as many hops as asked") {
    const PlainRing ring(ring_of(64 * KiB, 64, ChaseOrder::random));
    for (const std::size_t hops : {0U, 1U, 2U, 63U, 64U, 65U, 127U, 128U, 200U, 1024U, 2500U}) {
        void** expected = ring.layout.node(0);
        for (std::size_t hop = 0; hop < hops; ++hop) {
            expected = static_cast<void**>(*expected);
        }
        CHECK(memgauge::memory::walk(ring.layout.node(0), hops) == expected);
    }
}

TEST_CASE("requests that make no ring are refused with the reason") {
    Team team(one_cpu());
    const auto refusal = [&team](const ChaseRequest& request) -> std::string {
        try {
            const ChaseRing ring(team, request);
        } catch (const RequestError& error) {
            return error.what();
        }
        return "";
    };
    const auto contains = [](const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    };
    const std::size_t before = mappings();
    for (const std::size_t bytes : {0U, 64U, 127U}) {
        CHECK(contains(refusal(ring_of(bytes, 64, ChaseOrder::random)), "fewer than two nodes"));
    }
    for (const std::size_t node_bytes : {0U, 4U, 63U}) {
        CHECK(
            contains(refusal(ring_of(4096, node_bytes, ChaseOrder::random)), "use a multiple of"));
    }
    for (const std::size_t block_bytes : {0U, 32U, 100U}) {
        CHECK(contains(refusal(ring_of(4096, 64, ChaseOrder::block_random, block_bytes)),
                       "do not hold a whole number"));
    }
    CHECK(contains(refusal(ring_of(std::size_t{1} << 50U, 64, ChaseOrder::random)),
                   "this machine has"));
    CHECK(mappings_since(before) == 0);
}

TEST_CASE("linkers build the same ring as the team that walks it") {
    Team team(one_cpu());
    Team linkers(memgauge::allowed_cpus());
    for (const auto order : {ChaseOrder::random, ChaseOrder::block_random, ChaseOrder::stride}) {
        const auto request = ring_of(8 * MiB, 64, order, 64 * KiB);
        ChaseRing ring(team, request, {}, &linkers);
        CHECK(ring.is_single_cycle());
        CHECK(ring.backing().resident_bytes >= request.bytes);
        CHECK(ring.run(1000, 10).threads.size() == 1);
    }
    const auto large = ring_of(64 * MiB, 64, ChaseOrder::random);
    CHECK_THROWS_AS(ChaseRing(team, large, [] { return true; }, &linkers), Interrupted);
}

TEST_CASE("the team builds a ring and walks on from where it stopped") {
    Team team(one_cpu());
    for (const auto order : {ChaseOrder::random, ChaseOrder::block_random, ChaseOrder::stride}) {
        ChaseRing ring(team, ring_of(256 * KiB, 64, order, 4096));
        CHECK(ring.nodes() == 4096);
        CHECK(ring.is_single_cycle());
        for (const std::size_t hops : {std::size_t{1}, std::size_t{1000}, std::size_t{4096}}) {
            const auto slice = ring.run(hops, 10, 3);
            REQUIRE(slice.threads.size() == 1);
            REQUIRE(slice.threads[0].iterations.size() == 3);
            for (const auto& stamp : slice.threads[0].iterations) {
                CHECK(stamp.end > stamp.begin);
            }
        }
        CHECK(ring.is_single_cycle());
        const auto backing = ring.backing();
        CHECK(backing.mapped_bytes >= 256 * KiB);
        if (backing.pages_told) {
            CHECK(backing.resident_bytes >= 256 * KiB);
        }
    }
}

TEST_CASE("only thread 0 of a larger team walks") {
    std::vector<int> cpus = memgauge::allowed_cpus();
    if (cpus.size() < 2) {
        return;
    }
    cpus.resize(2);
    Team team(cpus);
    ChaseRing ring(team, ring_of(64 * KiB, 64, ChaseOrder::random));
    const auto slice = ring.run(1000);
    REQUIRE(slice.threads.size() == 2);
    CHECK(slice.threads[0].iterations.size() == 1);
    CHECK(slice.threads[1].iterations.empty());
}

TEST_CASE("an interrupted build frees what it had") {
    Team team(one_cpu());
    for (const auto order : {ChaseOrder::random, ChaseOrder::block_random}) {
        const std::size_t before = mappings();
        // Large enough that the first question comes before the ring is done.
        CHECK_THROWS_AS(ChaseRing(team, ring_of(256 * MiB, 64, order, 4096), [] { return true; }),
                        Interrupted);
        CHECK(mappings_since(before) == 0);
    }
}
