#include "memgauge/counters/stimulus.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "memgauge/error.hpp"
#include "memgauge/team.hpp"

using memgauge::CounterSource;
using memgauge::Reader;
using memgauge::SlotSpan;
using memgauge::StimulusSource;
using memgauge::Team;

namespace {

class NoWork final : public memgauge::Job {
public:
    void run(memgauge::ThreadSlice&) noexcept override {}
};

// Shows a count that somebody else keeps.
class ShownCount final : public CounterSource {
public:
    explicit ShownCount(const std::uint64_t& count) : count_(count) {}
    [[nodiscard]] std::size_t slots() const noexcept override { return 1; }
    void read(SlotSpan into) noexcept override {
        into.values[0] = count_;
        into.present[0] = 1;
    }

private:
    const std::uint64_t& count_;
};

}  // namespace

TEST_CASE("what a stimulus causes after a region is counted in the region") {
    std::uint64_t count = 0;
    auto stimulus = std::make_shared<StimulusSource>([&count] { count += 7; });
    auto reader = std::make_shared<Reader>(
        std::vector<std::shared_ptr<CounterSource>>{stimulus, std::make_shared<ShownCount>(count)});
    CHECK(reader->slots() == 1);
    Team team({memgauge::allowed_cpus().front()});
    team.read_with(reader);
    NoWork work;
    memgauge::Job* jobs[] = {&work};
    static_cast<void>(team.run(jobs));
    REQUIRE(team.readings().has_value());
    CHECK(team.readings()->before.values[0] == 7);
    CHECK(team.readings()->after.values[0] == 14);
}

TEST_CASE("a stimulus without a function is refused") {
    CHECK_THROWS_AS(StimulusSource({}), memgauge::RequestError);
}
