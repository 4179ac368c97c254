#pragma once
// A source without slots that calls a function whenever its reader reads. Placed first, what the
// function causes in the reading after a region still falls inside the region: so a test exercises
// counters that this machine's memory traffic does not reach.

#include <functional>
#include <utility>

#include "memgauge/counters/source.hpp"

namespace memgauge {

class StimulusSource final : public CounterSource {
public:
    // `act` must not throw. RequestError: empty.
    explicit StimulusSource(std::function<void()> act);

    [[nodiscard]] std::size_t slots() const noexcept override { return 0; }
    void read(SlotSpan) noexcept override { act_(); }

private:
    std::function<void()> act_;
};

}  // namespace memgauge
