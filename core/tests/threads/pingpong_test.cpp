// Core-to-core latency: plausible where two CPUs are there, absent where not, never a hang.

#include <doctest/doctest.h>

#include <vector>

#include "memgauge/error.hpp"
#include "memgauge/team.hpp"

namespace {

using memgauge::Team;

// A handover cannot be faster than a load, nor slower than the patience of the exchange. Negative
// says that a CPU was not to be had, which may happen on a busy machine.
bool plausible(double ns) {
    return ns < 0.0 || (ns > 0.5 && ns < 1e6);
}

}  // namespace

TEST_CASE("a team of one has no ping-pong") {
    Team team({memgauge::allowed_cpus().front()});
    CHECK(team.pingpong_ns() < 0.0);
    CHECK_THROWS_AS(team.pingpong_ns(0, 0), memgauge::RequestError);
    CHECK_THROWS_AS(team.pingpong_ns(0, 1), memgauge::RequestError);
}

TEST_CASE("a ping-pong between two CPUs") {
    const std::vector<int> cpus = memgauge::allowed_cpus();
    if (cpus.size() < 2) return;
    Team team({cpus[0], cpus[1]});
    CHECK(plausible(team.pingpong_ns()));
    CHECK(plausible(team.pingpong_ns(1, 0)));
    CHECK(plausible(team.pingpong_ns(0, 1, 0)));  // at least one batch
    CHECK(plausible(team.pingpong_ns(0, 1, 5)));
}

TEST_CASE("a ping-pong over all allowed CPUs") {
    Team team(memgauge::allowed_cpus());
    for (int i = 0; i < 5; ++i) CHECK((team.size() == 1 || plausible(team.pingpong_ns())));
}
