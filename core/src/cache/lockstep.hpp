#pragma once
// Loops over references, without touching what would stay as it is.
//
// An access alters nothing if its line is where the last access to that set of level 1 went, and
// has its marks: it is a hit and no more. So only two kinds of accesses are made for real: those of
// a reference that comes to another sector, and those of a reference of whose set another line was
// used since ("stale"). After a step in whose end level 1 still holds all that it accessed, with
// their marks, one more such step would be hits only and leave the lines in the order in which they
// are: then all steps up to the next border of a sector are one.

#include <algorithm>
#include <array>
#include <bit>
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
    int way = -1;
    Line line = 0;
    std::uint8_t sector = 1;
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
//   Effect access(Track&)   for real, in the caches; tells where level 1 has it
//   bool again(Track&)      the same if it is where it was with its marks
//   bool is_there(Track&)   whether it is
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
        list_columns();
        std::uint64_t step = 0;
        while (step < count) {
            make(step, 0);
            step = stale_ == 0 || all_there() ? columns_to(next_border(), step + 1) : step + 1;
        }
    }

    // Hits of level 1 that were not made for real; pieces by kind.
    [[nodiscard]] std::uint64_t hits() const { return hits_; }
    [[nodiscard]] std::uint64_t pieces(AccessKind kind) const {
        return pieces_[static_cast<std::size_t>(kind)];
    }

private:
    // References that come to another sector in each step, of `run`'s loop.
    void list_columns() {
        for (std::size_t r = 0; r < size_; ++r) {
            if (tracks_[r].steady_steps == 1) columns_ |= 1u << r;
        }
    }

    [[nodiscard]] std::uint64_t next_border() const {
        std::uint64_t next = count_;
        for (std::size_t r = 0; r < size_; ++r) {
            if ((columns_ >> r & 1) == 0) next = std::min(next, tracks_[r].crosses_at);
        }
        return next;
    }

    [[nodiscard]] bool all_there() const {
        for (unsigned left = stale_ & ~columns_; left != 0; left &= left - 1) {
            if (!caches_.is_there(tracks_[static_cast<unsigned>(std::countr_zero(left))])) {
                return false;
            }
        }
        return true;
    }

    // Steps in which only columns come to other sectors, up to `end`. The step that is next.
    std::uint64_t columns_to(std::uint64_t end, std::uint64_t step) {
        if (columns_ == 0) return end;
        for (; step < end; ++step) {
            if (stale_ != 0) return step;
            for (unsigned left = columns_; left != 0; left &= left - 1) {
                const auto r = static_cast<unsigned>(std::countr_zero(left));
                cross_column(tracks_[r], step);
                if (stale_ >> r != 0) {
                    make(step, r + 1);
                    break;
                }
            }
        }
        return step;
    }

    void cross_column(Track& track, std::uint64_t step) {
        track.access.address += static_cast<std::uint64_t>(track.stride);
        track.crosses_at = step + 1;
        track.set = nullptr;
        if (!caches_.is_here(track.access.address)) return;
        ++pieces_[static_cast<std::size_t>(track.access.kind)];
        if (caches_.access(track) != Effect::past_caches) others_are_stale(track);
    }

    // What is left of a step, from a reference on.
    void make(std::uint64_t step, std::size_t first) {
        for (std::size_t r = first; r < size_; ++r) {
            Track& track = tracks_[r];
            if (track.crosses_at == step) {
                cross(track, r, step);
            } else if ((stale_ >> r & 1) != 0) {
                repeat(track, r, step);
            }
        }
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
        if (effect == Effect::past_caches) return;
        hits_ += here - 1;
        others_are_stale(track);
    }

    [[nodiscard]] std::uint64_t steps_from(const Track& track, std::uint64_t step) const {
        if (step != 0 && track.steady_steps != 0) return track.steady_steps;
        return steps_to_border(track.access.address, track.stride, sector_bytes_);
    }

    // A reference that is where it was.
    void repeat(Track& track, std::size_t r, std::uint64_t step) {
        stale_ &= ~(1u << r);
        if (!caches_.again(track)) {
            --hits_;  // it counts for itself
            if (caches_.access(track) == Effect::past_caches) {
                hits_ -= track.crosses_at - step - 1;
                return;
            }
        }
        others_are_stale(track);
    }

    void others_are_stale(const Track& track) {
        if (caches_.take_disturbed()) [[unlikely]]
            all_are_stale();
        for (std::size_t r = 0; r < size_; ++r) {
            const Track& other = tracks_[r];
            const bool used = other.set == track.set && other.line != track.line;
            stale_ |= static_cast<unsigned>(used) << r;
        }
        stale_ &= ~columns_;
    }

    void all_are_stale() {
        for (std::size_t r = 0; r < size_; ++r) {
            stale_ |= static_cast<unsigned>(tracks_[r].set != nullptr) << r;
        }
    }

    Caches& caches_;
    std::uint64_t sector_bytes_;
    std::array<Track, most_streams> tracks_{};
    std::size_t size_ = 0;
    unsigned stale_ = 0;  // bits of references
    unsigned columns_ = 0;
    std::uint64_t count_ = 0;
    std::uint64_t hits_ = 0;
    std::array<std::uint64_t, 3> pieces_{};
};

}  // namespace memgauge::cache
