// Which CPUs a team may take.

#include "threads/affinity.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "memgauge/error.hpp"
#include "memgauge/team.hpp"

namespace {

std::string refusal(const std::vector<int>& cpus, const std::vector<int>& allowed) {
    try {
        memgauge::check_cpus(cpus, allowed);
    } catch (const memgauge::RequestError& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("the allowed CPUs are ascending, without repeats, and hold the present one") {
    const std::vector<int> cpus = memgauge::allowed_cpus();
    REQUIRE_FALSE(cpus.empty());
    CHECK(std::is_sorted(cpus.begin(), cpus.end()));
    CHECK(std::adjacent_find(cpus.begin(), cpus.end()) == cpus.end());
    CHECK(std::binary_search(cpus.begin(), cpus.end(), sched_getcpu()));
}

TEST_CASE("a pinned thread may run on its CPU only, and others keep theirs") {
    const std::vector<int> before = memgauge::allowed_cpus();
    const int cpu = before.back();
    std::vector<int> inside;
    int error = -1;
    std::thread([&] {
        error = memgauge::pin_this_thread(cpu);
        inside = memgauge::allowed_cpus();
    }).join();
    CHECK(error == 0);
    CHECK(inside == std::vector<int>{cpu});
    CHECK(memgauge::allowed_cpus() == before);
}

TEST_CASE("pinning to a CPU that does not exist gives the error number") {
    std::thread([] { CHECK(memgauge::pin_this_thread(100'000) == EINVAL); }).join();
}

TEST_CASE("CPU lists are written as ranges") {
    using memgauge::format_cpu_list;
    CHECK(format_cpu_list({}).empty());
    CHECK(format_cpu_list({5}) == "5");
    CHECK(format_cpu_list({0, 1}) == "0-1");
    CHECK(format_cpu_list({0, 1, 2, 3, 8, 10, 11}) == "0-3,8,10-11");
}

TEST_CASE("bad CPU lists are refused with the CPU, the reason and the choices") {
    CHECK(refusal({1, 0}, {0, 1}) == "accepted");
    const std::string outside = refusal({0, 7}, {0, 1, 4});
    CHECK(outside.find("cpu 7 is not allowed to this process; allowed: 0-1,4") == 0);
    CHECK(refusal({-1}, {0, 1}).find("cpu -1 is not allowed") == 0);
    CHECK(refusal({1, 0, 1}, {0, 1}).find("cpu 1 is listed twice") == 0);
    CHECK(refusal({}, {0, 1}).find("at least one CPU") != std::string::npos);
}

TEST_CASE("a team outside the allowed CPUs is refused") {
    CHECK_THROWS_AS(memgauge::Team({100'000}), memgauge::RequestError);
    CHECK_THROWS_AS(memgauge::Team({}), memgauge::RequestError);
}
