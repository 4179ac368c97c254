#include <doctest/doctest.h>

#include <string>

#include "memgauge/chase.hpp"

using memgauge::RequestError;
using memgauge::Team;

TEST_CASE("a core runs at some hundred megahertz to ten gigahertz") {
    Team team({memgauge::allowed_cpus().front()});
    try {
        const double cycles_per_ns = memgauge::core_cycles_per_ns(team);
        // Under emulation a cycle takes as long as it takes; on hardware the bounds are physical.
        CHECK(cycles_per_ns > 0.001);
        CHECK(cycles_per_ns < 10.0);
    } catch (const RequestError& error) {
        CHECK(std::string(error.what()).find("cannot count core cycles") == 0);
    }
}

TEST_CASE("a thread outside the team has no clock to measure") {
    Team team({memgauge::allowed_cpus().front()});
    CHECK_THROWS_WITH_AS(
        memgauge::core_cycles_per_ns(team, 1),
        "cannot measure the clock of thread 1: the team has 1; choose a smaller rank",
        RequestError);
}
