// Lines that threads hand over or contend for: what is counted is exact, stamps lie in each other,
// and what makes no sense is refused.

#include "memgauge/shared_lines.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using memgauge::Contention;
using memgauge::HandoverSlices;
using memgauge::RequestError;
using memgauge::SharedLines;
using memgauge::Slice;
using memgauge::Stamp;
using memgauge::Team;

std::vector<int> first_cpus(std::size_t count) {
    std::vector<int> cpus = memgauge::allowed_cpus();
    if (cpus.size() > count) cpus.resize(count);
    return cpus;
}

// Nothing was stamped where a CPU was not to be had, which may happen on a busy machine.
void check_stamps(const Slice& slice) {
    if (slice.threads[0].iterations.empty() || slice.threads[1].iterations.empty()) return;
    const Stamp served = slice.threads[0].iterations.front();
    const Stamp answered = slice.threads[1].iterations.front();
    CHECK(served.begin <= answered.begin);
    CHECK(answered.begin <= answered.end);
    CHECK(answered.end <= served.end);
}

}  // namespace

TEST_CASE("a line handed over is stamped once by each thread, the one within the other") {
    Team team(first_cpus(2));
    if (team.size() < 2) return;
    SharedLines lines(team, 0);
    for (int i = 0; i < 40; ++i) {  // more than there are lines
        const HandoverSlices slices = lines.hand_over(0, 1, 2, 4);
        check_stamps(slices.store);
        check_stamps(slices.compare_and_swap);
        CHECK(slices.store.pingpong_ns == slices.compare_and_swap.pingpong_ns);
        CHECK((slices.store.pingpong_ns < 0.0 || slices.store.pingpong_ns > 0.5));
    }
}

TEST_CASE("threads contend until all is done, and the others rest") {
    Team team(first_cpus(2));
    SharedLines lines(team, 0);
    for (const Contention how : {Contention::fetch_add, Contention::compare_and_swap}) {
        const Slice alone = lines.contend({0}, how, 1000);
        CHECK(alone.pingpong_ns < 0.0);
        CHECK(alone.threads[0].iterations.size() == 1);
        if (team.size() < 2) continue;
        CHECK(alone.threads[1].iterations.empty());
        const Slice both = lines.contend({1, 0}, how, 1000);
        for (const auto& thread : both.threads) CHECK(thread.iterations.size() == 1);
    }
}

TEST_CASE("what cannot be shared is refused") {
    Team team(first_cpus(1));
    SharedLines lines(team, 0);
    CHECK_THROWS_AS(SharedLines(team, 1), RequestError);
    CHECK_THROWS_AS(lines.hand_over(0, 0, 1, 2), RequestError);
    CHECK_THROWS_AS(lines.hand_over(0, 1, 1, 2), RequestError);
    CHECK_THROWS_AS(lines.contend({}, Contention::fetch_add, 1), RequestError);
    CHECK_THROWS_AS(lines.contend({0, 0}, Contention::fetch_add, 1), RequestError);
    CHECK_THROWS_AS(lines.contend({0}, Contention::fetch_add, 0), RequestError);
    CHECK_THROWS_AS(memgauge::contention_from_string("smoke"), RequestError);
    CHECK(memgauge::contention_from_string("fetch-add") == Contention::fetch_add);
}
