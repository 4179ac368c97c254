// Metrics of a scripted daemon: values as they are, instances by name, and no difference across
// what is not known.

#include "memgauge/counters/pcp.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "counters/pcp/value.hpp"
#include "counters/pcp_daemon.hpp"

namespace {

using fake::Daemon;
using memgauge::PcpColumn;
using memgauge::PcpLibrary;
using memgauge::PcpRequest;
using memgauge::PcpSource;
using memgauge::PcpType;
using memgauge::pcp::Number;

using Values = std::vector<std::optional<std::uint64_t>>;

class Reading {
public:
    explicit Reading(PcpRequest request)
        : reader_({std::make_shared<PcpSource>(std::make_shared<PcpLibrary>(fake::calls()), "fake",
                                               std::move(request))}) {}

    Values take() {
        memgauge::Reading taken = reader_.make_reading();
        reader_.read(taken);
        Values values;
        for (std::size_t slot = 0; slot < taken.values.size(); ++slot) {
            values.push_back(taken.present[slot] != 0 ? std::optional(taken.values[slot])
                                                      : std::nullopt);
        }
        return values;
    }

    // After a loss, another connection takes a while.
    Values take_when_back() {
        for (int tries = 0; tries < 2000; ++tries) {
            Values values = take();
            for (std::size_t slot = 1; slot < values.size(); ++slot) {
                if (values[slot]) return values;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return {};
    }

private:
    memgauge::Reader reader_;
};

constexpr int counter64 = memgauge::pcp::type_i64;

PcpColumn column(const char* instance) {
    return {"nest.reads", instance, std::nullopt, true, std::nullopt, false};
}

PcpRequest both() {
    return {{column("cpu88"), column("cpu0")}, ""};
}

Daemon& serving(std::uint64_t cpu0, std::uint64_t cpu88) {
    Daemon& daemon = Daemon::instance();
    daemon.reset();
    daemon.metrics["nest.reads"] = {7, counter64, {{3, "cpu0", cpu0}, {1, "cpu88", cpu88}}};
    return daemon;
}

Number decoded(int announced, std::uint64_t bits, std::optional<unsigned> fraction = {}) {
    Daemon& daemon = Daemon::instance();
    daemon.reset();
    daemon.metrics["one"] = {1, announced, {{0, "", bits}}, true};
    const auto* set = fake::set_of(daemon, 1);
    return number(set->values[0], set->format, memgauge::pcp::type_of(announced), fraction);
}

}  // namespace

TEST_CASE("whole numbers below 2^63 are exact, others missing") {
    using namespace memgauge::pcp;
    const std::uint64_t largest = (std::uint64_t{1} << 63) - 1;
    CHECK(decoded(type_i64, largest).value == largest);
    CHECK(decoded(type_u64, largest).value == largest);
    CHECK_FALSE(decoded(type_u64, largest + 1).present);
    CHECK_FALSE(decoded(type_i64, ~std::uint64_t{0}).present);
    CHECK(decoded(type_u32, 0xffffffff).value == 0xffffffff);
    CHECK_FALSE(decoded(type_i32, 0xffffffff).present);
}

TEST_CASE("a fraction is kept in the parts asked for, and never taken for a whole number") {
    using namespace memgauge::pcp;
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    CHECK(decoded(type_f64, bits(0.5), 20).value == 1 << 19);
    CHECK(decoded(type_f64, bits(1.0), 20).value == 1 << 20);
    CHECK(decoded(type_f32, std::bit_cast<std::uint32_t>(2.25F), 8).value == 576);
    CHECK_FALSE(decoded(type_f64, bits(3.0)).present);
    CHECK_FALSE(decoded(type_i64, 3, 8).present);
    CHECK_FALSE(decoded(type_f64, bits(-1.0), 8).present);
    CHECK_FALSE(decoded(type_f64, bits(std::nan("")), 8).present);
    CHECK_FALSE(decoded(type_f64, bits(std::numeric_limits<double>::infinity()), 8).present);
    CHECK_FALSE(decoded(type_f64, bits(1e19), 0).present);
}

TEST_CASE("the eight nibbles of a unit are told apart") {
    memgauge::PcpMetric metric;
    memgauge::pcp::unpack_units(0x1f214300, metric);
    CHECK(metric.space == 1);
    CHECK(metric.time == -1);
    CHECK(metric.count == 2);
    CHECK(metric.space_scale == 1);
    CHECK(metric.time_scale == 4);
    CHECK(metric.count_scale == 3);
}

TEST_CASE("instances are found by name, wherever they stand") {
    Daemon& daemon = serving(11, 22);
    Reading reading(both());
    CHECK(reading.take() == Values{1, 22, 11});
    std::swap(daemon.metrics["nest.reads"].instances[0], daemon.metrics["nest.reads"].instances[1]);
    CHECK(reading.take() == Values{1, 22, 11});
    CHECK(daemon.fetches == 2);
}

TEST_CASE("after a loss values come again in another generation, under other numbers") {
    Daemon& daemon = serving(100, 200);
    Reading reading(both());
    CHECK(reading.take() == Values{1, 200, 100});
    daemon.up = false;
    CHECK(reading.take() == Values{2, std::nullopt, std::nullopt});
    const int fetches = daemon.fetches;
    CHECK(reading.take() == Values{2, std::nullopt, std::nullopt});
    CHECK(daemon.fetches == fetches);
    {
        const std::lock_guard lock(daemon.mutex);
        daemon.metrics["nest.reads"] = {9, counter64, {{1, "cpu0", 300}, {2, "cpu88", 400}}};
        daemon.up = true;
    }
    CHECK(reading.take_when_back() == Values{2, 400, 300});
}

TEST_CASE("a change of agents loses one reading, so that no difference spans it") {
    Daemon& daemon = serving(5, 6);
    Reading reading(both());
    CHECK(reading.take() == Values{1, 6, 5});
    daemon.flags = 2;
    CHECK(reading.take() == Values{2, std::nullopt, std::nullopt});
    CHECK(reading.take_when_back() == Values{2, 6, 5});
}

TEST_CASE("a counter that goes back or fails is missing once and then of a new generation") {
    Daemon& daemon = serving(50, 60);
    Reading reading(both());
    CHECK(reading.take() == Values{1, 60, 50});
    daemon.metrics["nest.reads"].instances[0].bits = 1;
    CHECK(reading.take() == Values{2, 60, std::nullopt});
    CHECK(reading.take() == Values{2, 60, 1});
    daemon.metrics["nest.reads"].error = -12386;
    CHECK(reading.take() == Values{3, std::nullopt, std::nullopt});
    daemon.metrics["nest.reads"].error = 0;
    CHECK(reading.take() == Values{3, 60, 1});
}

TEST_CASE("what does not count has no value") {
    Daemon& daemon = serving(50, 60);
    daemon.metrics["nest.duty"] = {
        8, memgauge::pcp::type_f64, {{0, "cpu0", std::bit_cast<std::uint64_t>(0.25)}}};
    daemon.metrics["agent.active"] = {9, memgauge::pcp::type_i32, {{0, "", 4}}, true};
    PcpColumn counter = column("cpu0");
    counter.duty = 1;
    counter.gated = true;
    const PcpColumn duty{"nest.duty", "cpu0", 20, false, std::nullopt, false};
    Reading reading({{counter, duty}, "agent.active"});
    CHECK(reading.take() == Values{1, 50, 1 << 18});
    daemon.metrics["nest.duty"].instances[0].bits = 0;
    CHECK(reading.take() == Values{2, std::nullopt, 0});
    daemon.metrics["nest.duty"].instances[0].bits = std::bit_cast<std::uint64_t>(1.0);
    CHECK(reading.take() == Values{2, 50, 1 << 20});
    daemon.metrics["agent.active"].instances[0].bits = 0;
    CHECK(reading.take() == Values{3, std::nullopt, 1 << 20});
}

TEST_CASE("one column that is not served is missing, none that is served is refused") {
    serving(1, 2);
    Reading reading({{column("cpu0"), column("cpu7")}, ""});
    CHECK(reading.take() == Values{1, 1, std::nullopt});
    const auto library = std::make_shared<PcpLibrary>(fake::calls());
    CHECK_THROWS_AS(PcpSource(library, "fake", {{column("cpu7")}, ""}), memgauge::RequestError);
    CHECK_THROWS_AS(PcpSource(library, "fake", {}), memgauge::RequestError);
    Daemon::instance().up = false;
    CHECK_THROWS_WITH_AS(PcpSource(library, "fake", both()),
                         "cannot connect to pmcd at fake: error -111", memgauge::RequestError);
}

TEST_CASE("all contexts are closed in the end") {
    Daemon& daemon = serving(1, 2);
    const int before = daemon.contexts;
    {
        Reading reading(both());
        daemon.up = false;
        reading.take();
    }
    CHECK(daemon.contexts == before);
}

TEST_CASE("what is missing is named before the library could end the process") {
    const char* real = std::getenv("PCP_CONF");
    const std::string kept = real != nullptr ? real : "";
    setenv("PCP_CONF", "/nonexistent/pcp.conf", 1);
    CHECK_THROWS_AS(PcpLibrary({"libpcp.so.3"}), memgauge::RequestError);
    setenv("PCP_CONF", "/proc/self/maps", 1);
    CHECK_THROWS_AS(PcpLibrary({"libmemgauge-nothing.so.1"}), memgauge::RequestError);
    if (real != nullptr) {
        setenv("PCP_CONF", kept.c_str(), 1);
    } else {
        unsetenv("PCP_CONF");
    }
}
