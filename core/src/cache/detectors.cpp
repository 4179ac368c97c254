#include "cache/detectors.hpp"

namespace memgauge::cache {

void Detectors::step(const Access& access) {
    Steps& steps = steps_[access.stream];
    const auto step = static_cast<std::int64_t>(access.address - steps.last_address);
    if (steps.begun) {
        steps.run = steps.run != 0 && step == steps.step ? steps.run + 1 : 1;
        steps.step = step;
        const auto length = static_cast<std::uint64_t>(step < 0 ? -step : step);
        if (length >= line_bytes_ && steps.run >= rules_.strided) strided_at_ = clock_;
    }
    steps.begun = true;
    steps.last_address = access.address;
}

StoreStream& Detectors::continued(std::uint64_t address) {
    StoreStream* oldest = streams_.data();
    StoreStream* latest = nullptr;
    for (unsigned i = 0; i < rules_.streams; ++i) {
        StoreStream& stream = streams_[i];
        if (stream.continued_at < oldest->continued_at) oldest = &stream;
        const bool goes_on =
            stream.end == address && clock_ - stream.continued_at - 1 <= rules_.gap;
        if (goes_on && (latest == nullptr || stream.continued_at > latest->continued_at)) {
            latest = &stream;
        }
    }
    if (latest != nullptr) return *latest;
    *oldest = {.began = address};
    return *oldest;
}

}  // namespace memgauge::cache
