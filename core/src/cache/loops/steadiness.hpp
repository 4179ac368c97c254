#pragma once
// Whether the detectors of a core, in a loop, go on to the end as they do now, so that they need
// not be asked in each step.

#include <array>
#include <cstdint>
#include <span>

#include "cache/detectors.hpp"

namespace memgauge::cache {

class Steadiness {
public:
    Steadiness(const CacheMachine& machine, std::span<const StridedAccess> references);

    // Reference r made a store that is part of that stream.
    void saw(std::size_t r, StoreStream& stream, bool continued);
    void end_step();
    [[nodiscard]] bool is_steady(const Detectors& detectors) const;

    // Steps to be made one by one in the end, for what the detectors keep of stores that begin
    // streams; and what must be left for any other.
    [[nodiscard]] std::uint64_t steps_at_end() const { return begins_ ? steps_of_begins_ : 0; }
    [[nodiscard]] std::uint64_t least_steps() const {
        return steps_at_end() + 4 * steps_of_begins_;
    }

    // The stream that a reference continues in each step, or none.
    [[nodiscard]] StoreStream* stream(std::size_t r) const {
        return continued_[r] ? streams_[r] : nullptr;
    }
    [[nodiscard]] bool strides() const { return strides_; }

private:
    StoreStreams rules_;
    std::size_t references_;
    std::array<StoreStream*, most_streams> streams_{};
    std::array<bool, most_streams> continued_{};
    bool possible_ = true;
    bool strides_ = false;  // some reference makes strided steps
    bool begins_ = false;   // some store begins a stream each time
    bool continues_ = false;
    bool regular_ = true;  // all of this step were as in the step before
    std::uint64_t regular_steps_ = 0;
    std::uint64_t steps_ = 0;
    std::uint64_t steps_needed_ = 0;
    std::uint64_t steps_of_begins_ = 0;
};

// Makes steps one by one until the detectors go on as they do; how many. make(access) gives the
// store stream that it is part of, or none.
template <class Make>
std::uint64_t until_steady(const Detectors& detectors, std::span<StridedAccess> references,
                           std::uint64_t count, Steadiness& steadiness, const Make& make) {
    std::uint64_t done = 0;
    while (done < count && !steadiness.is_steady(detectors)) {
        for (std::size_t r = 0; r < references.size(); ++r) {
            CacheAccess& access = references[r].first;
            if (StoreStream* const stream = make(access)) {
                steadiness.saw(r, *stream, stream->began != access.address);
            }
            access.address += static_cast<std::uint64_t>(references[r].stride);
        }
        steadiness.end_step();
        ++done;
    }
    return done;
}

// Whether a reference's steps count as strided, once there are enough of them.
bool makes_strided_steps(const StridedAccess& reference, std::uint64_t line_bytes);

}  // namespace memgauge::cache
