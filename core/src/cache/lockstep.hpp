#pragma once
// Loops over references, without touching what would stay as it is.
//
// An access alters nothing if its line is where the last access to that set of level 1 went, and
// has its marks: it is a hit and no more. So only two kinds of accesses are made for real: those of
// a reference that comes to another sector, and those of a reference of whose set another line was
// used since ("stale"). A whole step of the loop in which no reference came to another sector, and
// in which all that was made for real were hits that changed no marks, will leave everything as it
// is however often it is repeated: what it accesses is there and in the order in which it accesses
// it. Then all steps up to the next border of a sector are one.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "cache/detectors.hpp"
#include "cache/hierarchy.hpp"

namespace memgauge::cache {

// One reference of the loop.
struct Track {
    Access access;  // in the step in which it came to its sector
    std::uint64_t address = 0;
    std::int64_t stride = 0;
    std::uint64_t crosses_at = 0;    // step
    std::uint64_t steady_steps = 0;  // from border to border; 0: varies
    StoreStream* store_stream = nullptr;
    std::uint64_t bypass_from = ~0ull;  // address from which on lines bypass
    Set set = nullptr;                  // of level 1, of its line; none: no level is asked
    Line line = 0;
};

// Whether its accesses never reach over the border of a sector.
inline bool stays_within_sectors(const StridedAccess& reference, std::uint64_t sector_bytes) {
    const std::uint64_t bytes = reference.first.bytes;
    return sector_bytes % bytes == 0 && reference.first.address % bytes == 0 &&
           static_cast<std::uint64_t>(reference.stride) % bytes == 0;
}

// Steps of a stride until an address leaves its sector.
inline std::uint64_t steps_to_border(std::uint64_t address, std::int64_t stride,
                                     std::uint64_t sector_bytes) {
    const std::uint64_t offset = address % sector_bytes;
    if (stride == 0) return ~0ull;
    if (stride > 0) {
        const auto step = static_cast<std::uint64_t>(stride);
        return step >= sector_bytes ? 1 : (sector_bytes - offset + step - 1) / step;
    }
    const auto step = static_cast<std::uint64_t>(-stride);
    return step >= sector_bytes ? 1 : offset / step + 1;
}

inline std::uint64_t steady_steps(std::int64_t stride, std::uint64_t sector_bytes) {
    const auto length = static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
    if (length == 0) return 0;
    if (length >= sector_bytes) return 1;
    return sector_bytes % length == 0 ? sector_bytes / length : 0;
}

// The loop; `Caches` makes the accesses:
//   bool is_here(address)   whether its set is simulated here
//   Effect access(Track&)   for real, in the caches; tells `set` and `line`
//   bool take_disturbed()   whether level 1 lost lines to levels behind it since asked last
template <class Caches>
class Lockstep {
public:
    Lockstep(Caches& caches, std::uint64_t sector_bytes)
        : caches_(caches), sector_bytes_(sector_bytes) {}

    void add(const StridedAccess& reference, StoreStream* store_stream, std::uint64_t bypass_from) {
        Track& track = tracks_[size_++];
        track = {};
        track.access = reference.first;
        track.address = reference.first.address;
        track.stride = reference.stride;
        track.steady_steps = steady_steps(reference.stride, sector_bytes_);
        track.store_stream = store_stream;
        track.bypass_from = bypass_from;
    }

    void run(std::uint64_t count) {
        count_ = count;
        std::uint64_t step = 0;
        while (step < count) {
            const bool fixed = make(step);
            step = fixed || stale_ == 0 ? next_border() : step + 1;
        }
    }

    // Hits of level 1 that were not made for real; pieces by kind.
    [[nodiscard]] std::uint64_t hits() const { return hits_; }
    [[nodiscard]] std::uint64_t pieces(AccessKind kind) const {
        return pieces_[static_cast<std::size_t>(kind)];
    }

private:
    [[nodiscard]] std::uint64_t next_border() const {
        std::uint64_t next = count_;
        for (std::size_t r = 0; r < size_; ++r) next = std::min(next, tracks_[r].crosses_at);
        return next;
    }

    // One step; whether it is one that could be repeated for ever.
    bool make(std::uint64_t step) {
        bool fixed = true;
        for (std::size_t r = 0; r < size_; ++r) {
            Track& track = tracks_[r];
            if (track.crosses_at == step) {
                cross(track, r, step);
                fixed = false;
            } else if ((stale_ >> r & 1) != 0) {
                fixed &= repeat(track, r, step);
            }
        }
        return fixed;
    }

    void cross(Track& track, std::size_t r, std::uint64_t step) {
        track.access.address = track.address + step * static_cast<std::uint64_t>(track.stride);
        const std::uint64_t steps = steps_from(track, step);
        track.crosses_at = steps >= count_ - step ? count_ : step + steps;
        stale_ &= ~(1u << r);
        track.set = nullptr;
        if (!caches_.is_here(track.access.address)) return;
        const std::uint64_t here = track.crosses_at - step;
        pieces_[static_cast<std::size_t>(track.access.kind)] += here;
        const Effect effect = caches_.access(track);
        if (effect == Effect::past_caches) {
            track.set = nullptr;
            return;
        }
        hits_ += here - 1;
        others_are_stale(track);
    }

    [[nodiscard]] std::uint64_t steps_from(const Track& track, std::uint64_t step) const {
        if (step != 0 && track.steady_steps != 0) return track.steady_steps;
        return steps_to_border(track.access.address, track.stride, sector_bytes_);
    }

    // A reference that is where it was; whether nothing changed but the order.
    bool repeat(Track& track, std::size_t r, std::uint64_t step) {
        stale_ &= ~(1u << r);
        --hits_;  // it counts for itself
        const Effect effect = caches_.access(track);
        if (effect == Effect::past_caches) {
            hits_ -= track.crosses_at - step - 1;
            track.set = nullptr;
            return false;
        }
        others_are_stale(track);
        return effect == Effect::none;
    }

    void others_are_stale(const Track& track) {
        const bool all = caches_.take_disturbed();
        for (std::size_t r = 0; r < size_; ++r) {
            const Track& other = tracks_[r];
            const bool used = other.set == track.set && other.line != track.line;
            const bool is = used || (all && other.set != nullptr && &other != &track);
            stale_ |= static_cast<unsigned>(is) << r;
        }
    }

    Caches& caches_;
    std::uint64_t sector_bytes_;
    std::array<Track, most_streams> tracks_{};
    std::size_t size_ = 0;
    unsigned stale_ = 0;
    std::uint64_t count_ = 0;
    std::uint64_t hits_ = 0;
    std::array<std::uint64_t, 3> pieces_{};
};

}  // namespace memgauge::cache
