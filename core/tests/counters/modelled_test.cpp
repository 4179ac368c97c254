// The account of known traffic: what the kernels between two readings move, and nothing else.

#include "memgauge/counters/modelled.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memgauge/stream_arrays.hpp"
#include "memgauge/team.hpp"

namespace {

using memgauge::KernelSpec;
using memgauge::Operation;
using memgauge::StreamArrays;
using memgauge::Team;

struct Difference {
    std::uint64_t read_bytes;
    std::uint64_t write_bytes;
};

Difference over(Team& team) {
    const auto& readings = *team.readings();
    return {readings.after.values[0] - readings.before.values[0],
            readings.after.values[1] - readings.before.values[1]};
}

class Fixture {
public:
    Fixture() {
        team.read_with(std::make_shared<memgauge::Reader>(
            std::vector<std::shared_ptr<memgauge::CounterSource>>{
                std::make_shared<memgauge::ModelledSource>()}));
    }

    Team team{[] {
        std::vector<int> cpus = memgauge::allowed_cpus();
        if (cpus.size() > 2) cpus.resize(2);
        return cpus;
    }()};
    StreamArrays arrays{team, request()};

private:
    static memgauge::ArraysRequest request() {
        memgauge::ArraysRequest made;
        made.elements = std::size_t{1} << 16;
        made.blocks = 4;
        return made;
    }
};

TEST_CASE_FIXTURE(Fixture, "the timed blocks are counted, lead-in and other calls are not") {
    const KernelSpec spec{.operation = Operation::add};
    arrays.run(spec, {.blocks = 4});
    arrays.run(spec, {.blocks = 4, .lead_in_blocks = 3, .iterations = 5});
    const Difference moved = over(team);
    const std::uint64_t elements = arrays.elements() * 5;
    CHECK(moved.read_bytes == elements * 24);  // two operands, and each written line before
    CHECK(moved.write_bytes == elements * 8);
}

TEST_CASE_FIXTURE(Fixture, "a kernel that writes what it read has no line to read first") {
    arrays.run({.operation = Operation::update}, {.blocks = 4});
    const Difference moved = over(team);
    CHECK(moved.read_bytes == arrays.elements() * 16);
    CHECK(moved.write_bytes == arrays.elements() * 8);
}

TEST_CASE_FIXTURE(Fixture, "a prefix that is walked to stay in a cache moves nothing") {
    arrays.run({.operation = Operation::read}, {.prefix_elements = 512, .repeats = 100});
    const Difference moved = over(team);
    CHECK(moved.read_bytes == 0);
    CHECK(moved.write_bytes == 0);
}

}  // namespace
