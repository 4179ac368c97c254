#include "cache/detectors.hpp"

#include <array>
#include <tuple>
#include <utility>

#include "cache/loops/steadiness.hpp"

namespace memgauge::cache {

void Detectors::step(const CacheAccess& access) {
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

void Detectors::skip(std::span<const StridedAccess> references, std::uint64_t count,
                     const Steadiness& steadiness) {
    const std::uint64_t accesses = count * references.size();
    std::array<bool, std::tuple_size_v<decltype(streams_)>> moved{};
    for (std::size_t r = 0; r < references.size(); ++r) {
        const StridedAccess& reference = references[r];
        if (reference.first.kind == AccessKind::store_prefetch) continue;
        Steps& steps = steps_[reference.first.stream];
        steps.last_address = reference.first.address - static_cast<std::uint64_t>(reference.stride);
        steps.run += count;
        if (rules_.strided != 0 && makes_strided_steps(reference, line_bytes_)) {
            strided_at_ = clock_ + accesses - (references.size() - 1 - r);
        }
        StoreStream* const stream = steadiness.stream(r);
        if (stream == nullptr) continue;
        // Two references may continue one stream by turns.
        if (std::exchange(moved[static_cast<std::size_t>(stream - streams_.data())], true))
            continue;
        stream->end += count * static_cast<std::uint64_t>(reference.stride);
        stream->continued_at += accesses;
    }
    clock_ += accesses;
}

}  // namespace memgauge::cache
