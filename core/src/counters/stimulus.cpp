#include "memgauge/counters/stimulus.hpp"

#include "memgauge/error.hpp"

namespace memgauge {

StimulusSource::StimulusSource(std::function<void()> act) : act_(std::move(act)) {
    if (!act_) throw RequestError("stimulus: no function to call; give one");
}

}  // namespace memgauge
