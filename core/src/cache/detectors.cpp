#include "cache/detectors.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "cache/loops/moves.hpp"
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

// Those that may still be continued, the one continued last first. Of the others it is all one
// which a new one replaces first, for they go before any of these.
std::vector<StoreStream> Detectors::live_streams() const {
    std::vector<StoreStream> live;
    for (unsigned i = 0; i < rules_.streams; ++i) {
        if (clock_ - streams_[i].continued_at <= rules_.gap) live.push_back(streams_[i]);
    }
    std::ranges::sort(live, std::ranges::greater(), &StoreStream::continued_at);
    return live;
}

// In accesses, up to where they do not matter any more.
std::uint64_t Detectors::since_strided() const {
    return std::min<std::uint64_t>(clock_ - strided_at_, std::uint64_t{rules_.window} + 1);
}

bool Detectors::have_moved(const Detectors& before, const Moves& moves) const {
    const auto same_steps = [&](std::uint8_t stream) {
        const Steps& now = steps_[stream];
        const Steps& was = before.steps_[stream];
        // Runs differ no more once they are strided.
        const std::uint64_t longest = std::max(1U, rules_.strided);
        const auto shift = static_cast<std::uint64_t>(moves.bytes_of_stream(stream));
        return now.begun == was.begun && now.step == was.step &&
               std::min(now.run, longest) == std::min(was.run, longest) &&
               (!now.begun || now.last_address == was.last_address + shift);
    };
    for (std::uint8_t stream = 0; stream < most_streams; ++stream) {
        if (!same_steps(stream)) return false;
    }
    const auto shift = static_cast<std::uint64_t>(moves.bytes_of_stores());
    const auto sectors = static_cast<std::uint64_t>(moves.sectors_of_stores());
    const auto same_stream = [&](const StoreStream& now, const StoreStream& was) {
        const bool none = was.bypassed_sector == StoreStream{}.bypassed_sector;
        return now.began == was.began + shift && now.end == was.end + shift &&
               clock_ - now.continued_at == before.clock_ - was.continued_at &&
               now.bypassed_sector == was.bypassed_sector + (none ? 0 : sectors);
    };
    return since_strided() == before.since_strided() &&
           std::ranges::equal(live_streams(), before.live_streams(), same_stream);
}

void Detectors::move(const Moves& moves, std::uint64_t times) {
    for (std::uint8_t stream = 0; stream < most_streams; ++stream) {
        if (!steps_[stream].begun) continue;
        const auto shift = static_cast<std::uint64_t>(moves.bytes_of_stream(stream));
        steps_[stream].last_address += times * shift;
    }
    const auto shift = static_cast<std::uint64_t>(moves.bytes_of_stores());
    const auto sectors = static_cast<std::uint64_t>(moves.sectors_of_stores());
    for (StoreStream& stream : streams_) {
        if (clock_ - stream.continued_at > rules_.gap) continue;
        stream.began += times * shift;
        stream.end += times * shift;
        if (stream.bypassed_sector == StoreStream{}.bypassed_sector) continue;
        stream.bypassed_sector += times * sectors;
    }
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
