// The cache model against a plain one, written from the words of its header alone: on random
// machines and traces every count is the same.

#include "cache/cache_reference.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "cache/cache_traces.hpp"
#include "memgauge/cache_model.hpp"

namespace {

using memgauge::AccessKind;
using memgauge::CacheAccess;
using memgauge::CacheCounts;
using memgauge::CacheMachine;
using memgauge::CacheModel;
using memgauge::test::carry_out;
using memgauge::test::Deed;
using memgauge::test::difference;
using memgauge::test::PlainCaches;
using memgauge::test::random_trace;
using memgauge::test::text_of;
using memgauge::test::Trace;

// The same in each run on the same tree: MEMGAUGE_CACHE_TRACES tries others.
std::uint64_t traces() {
    if (const char* many = std::getenv("MEMGAUGE_CACHE_TRACES")) return std::stoull(many);
    return memgauge::test::is_slow ? 1'000 : 40'000;
}

// Each walk as the accesses that it stands for, so that they can be left out one by one.
void write_out(Deed& deed) {
    if (deed.what != Deed::What::walk) {
        return;
    }
    const auto at = [](const CacheAccess& first, std::int64_t step) {
        CacheAccess one = first;
        one.address += static_cast<std::uint64_t>(step);
        return one;
    };
    for (std::uint64_t round = 0; round < deed.outer; ++round) {
        const auto rounds = static_cast<std::int64_t>(round);
        for (std::uint64_t step = 0; step < deed.count; ++step) {
            for (std::size_t index = 0; index < deed.references.size(); ++index) {
                const auto& one = deed.references[index];
                deed.accesses.push_back(
                    at(one.first, rounds * deed.outer_strides[index] +
                                      static_cast<std::int64_t>(step) * one.stride));
            }
        }
        for (const auto& last : deed.after) {
            deed.accesses.push_back(at(last.first, rounds * last.stride));
        }
    }
    deed.what = Deed::What::access;
}

// Leaves out one element after the other for as long as `still_fails`.
template <typename Element, typename Check>
void thin_out(std::vector<Element>& elements, const Check& still_fails) {
    for (std::size_t index = elements.size(); index-- > 0;) {
        Element left_out = std::move(elements[index]);
        elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(index));
        if (!still_fails()) {
            elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(index),
                            std::move(left_out));
        }
    }
}

Trace shrunk(Trace trace) {
    const auto still_fails = [&] { return !difference(trace).empty(); };
    Trace written_out = trace;
    std::ranges::for_each(written_out.deeds, write_out);
    if (!difference(written_out).empty()) {
        trace = written_out;  // else it is the walk itself that differs
    }
    thin_out(trace.deeds, still_fails);
    for (Deed& deed : trace.deeds) {
        thin_out(deed.accesses, still_fails);
    }
    return trace;
}

}  // namespace

TEST_CASE("random traces on random machines count as the plain model does") {
    unsigned failures = 0;
    const std::uint64_t many = traces();
    for (std::uint64_t seed = 0; seed < many && failures < 3; ++seed) {
        const Trace trace = random_trace(seed);
        if (!difference(trace).empty()) {
            ++failures;
            const Trace least = shrunk(trace);
            FAIL_CHECK(text_of(least) << difference(least));
        }
    }
}

TEST_CASE("random traces reach what they are to test") {
    std::uint64_t write_backs = 0;
    CacheCounts sum;
    std::vector<std::uint64_t> hits(9);
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
        const Trace trace = random_trace(seed);
        PlainCaches plain{trace.machine};
        for (const Deed& deed : trace.deeds) {
            carry_out(plain, deed);
        }
        const CacheCounts& counts = plain.counts();
        sum.load_read_bytes += counts.load_read_bytes;
        sum.allocate_read_bytes += counts.allocate_read_bytes;
        sum.software_prefetch_read_bytes += counts.software_prefetch_read_bytes;
        sum.hardware_prefetch_read_bytes += counts.hardware_prefetch_read_bytes;
        sum.write_back_bytes += counts.write_back_bytes;
        sum.bypass_write_bytes += counts.bypass_write_bytes;
        for (std::size_t level = 0; level < counts.levels.size(); ++level) {
            hits[level] += counts.levels[level].hits;
            write_backs += counts.levels[level].write_backs;
        }
    }
    CHECK(sum.load_read_bytes > 0);
    CHECK(sum.allocate_read_bytes > 0);
    CHECK(sum.software_prefetch_read_bytes > 0);
    CHECK(sum.hardware_prefetch_read_bytes > 0);
    CHECK(sum.write_back_bytes > 0);
    CHECK(sum.bypass_write_bytes > 0);
    CHECK(write_backs > 0);
    CHECK(std::count(hits.begin(), hits.begin() + 4, std::uint64_t{0}) == 0);
}

TEST_CASE("the plain model reads each line of a stream once and writes back what changed") {
    CacheMachine machine;
    machine.levels = {{.name = "L1", .bytes = 1024, .ways = 2},
                      {.name = "L2", .bytes = 4096, .ways = 4}};
    PlainCaches plain{machine};
    for (std::uint64_t at = 0; at < 65'536; at += 8) {
        plain.access(0, CacheAccess{.address = at, .kind = AccessKind::load});
        plain.access(0, CacheAccess{.address = (1U << 20U) + at, .kind = AccessKind::store});
    }
    plain.write_back_all();
    const CacheCounts& counts = plain.counts();
    CHECK(counts.load_read_bytes == 65'536);
    CHECK(counts.allocate_read_bytes == 65'536);
    CHECK(counts.write_back_bytes == 65'536);
    CHECK(counts.levels[0].misses == 2 * 1024);
    CHECK(counts.levels[0].hits == 2 * (8192 - 1024));
}

TEST_CASE("the plain model keeps the tree's order by hand") {
    // Four ways, one set: after lines 0 to 3 the tree points to way 0, and 4 goes there; a hit of
    // line 2 (way 2) leaves way 1 for line 5.
    CacheMachine machine;
    machine.levels = {
        {.name = "L1", .bytes = 256, .ways = 4, .replacement = memgauge::Replacement::tree_plru}};
    PlainCaches plain{machine};
    const auto load = [&](std::uint64_t line) {
        const auto before = plain.counts().levels[0].hits;
        plain.access(0, CacheAccess{.address = line * 64});
        return plain.counts().levels[0].hits > before;
    };
    for (std::uint64_t line = 0; line < 5; ++line) {
        CHECK_FALSE(load(line));
    }
    CHECK(load(2));
    CHECK_FALSE(load(5));
    CHECK(load(4));
    CHECK(load(3));
    CHECK_FALSE(load(1));
}
