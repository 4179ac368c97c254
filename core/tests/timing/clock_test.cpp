#include "memgauge/clock.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "timing/counter.hpp"

using memgauge::Clock;
using memgauge::ClockSource;
using memgauge::Ticks;

TEST_CASE("the clock never goes backwards") {
    const Clock& clock = Clock::instance();
    Ticks last = clock.now();
    for (int reading = 0; reading < 100'000; ++reading) {
        const Ticks next = clock.now();
        REQUIRE(next >= last);
        last = next;
    }
}

TEST_CASE("the clock keeps pace with the raw clock") {
    const Clock& clock = Clock::instance();
    for (int sample = 0; sample < 50; ++sample) {
        const std::uint64_t before = memgauge::timing::raw_ns();
        const std::int64_t now = clock.to_ns(clock.now());
        const std::uint64_t after = memgauge::timing::raw_ns();
        const auto epoch = clock.info().epoch_raw_ns;
        // The anchor itself is known to a fraction of a microsecond when nothing interrupts.
        CHECK(now + 100'000 >= static_cast<std::int64_t>(before - epoch));
        CHECK(now - 100'000 <= static_cast<std::int64_t>(after - epoch));
    }
}

TEST_CASE("what the clock says of itself is measured") {
    const auto& info = Clock::instance().info();
    CHECK(info.ns_per_tick > 0.0);
    CHECK(info.cost_ns > 0.0);
    CHECK(info.resolution_ns > 0.0);
    CHECK(std::isfinite(info.resolution_ns));
    CHECK(info.calibration_error_ppm >= 0.0);
    CHECK(info.calibration_error_ppm < 1000.0);
    CHECK(info.epoch_raw_ns > 0);
    CHECK(!memgauge::to_string(info.source).empty());
    if (info.source == ClockSource::monotonic_raw) {
        CHECK(info.ns_per_tick == 1.0);
    }
}

TEST_CASE("ticks convert to nanoseconds without overflow or loss over days") {
    const Clock& clock = Clock::instance();
    const double ns_per_tick = clock.info().ns_per_tick;
    const Ticks start = clock.now();
    const std::int64_t start_ns = clock.to_ns(start);
    for (const double days : {0.001, 1.0, 30.0, 3650.0}) {
        const double wanted_ns = days * 86400e9;
        const Ticks ticks = clock.from_duration_ns(wanted_ns);
        const std::int64_t got = clock.to_ns(start + ticks) - start_ns;
        CHECK(std::abs(static_cast<double>(got) - wanted_ns) <=
              wanted_ns * 1e-15 + ns_per_tick + 1.0);
        // One microsecond more is one microsecond more, however far away.
        const Ticks step = clock.from_duration_ns(1000.0);
        const auto later = clock.to_ns(start + ticks + step) - clock.to_ns(start + ticks);
        CHECK(std::abs(static_cast<double>(later) - 1000.0) <= ns_per_tick + 1.0);
        const std::int64_t before = clock.to_ns(start - ticks) - start_ns;
        CHECK(std::abs(static_cast<double>(before) + wanted_ns) <=
              wanted_ns * 1e-15 + ns_per_tick + 1.0);
    }
}

TEST_CASE("durations that are no durations become zero or the largest tick") {
    const Clock& clock = Clock::instance();
    CHECK(clock.from_duration_ns(0.0) == 0);
    CHECK(clock.from_duration_ns(-5.0) == 0);
    CHECK(clock.from_duration_ns(std::nan("")) == 0);
    CHECK(clock.from_duration_ns(1e300) == std::numeric_limits<Ticks>::max());
    CHECK(clock.from_duration_ns(std::numeric_limits<double>::infinity()) ==
          std::numeric_limits<Ticks>::max());
}

TEST_CASE("all threads see one clock") {
    std::vector<const Clock*> seen(4);
    std::vector<std::thread> threads;
    for (auto& slot : seen) {
        threads.emplace_back([&slot] { slot = &Clock::instance(); });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    for (const Clock* clock : seen) {
        CHECK(clock == &Clock::instance());
    }
}
