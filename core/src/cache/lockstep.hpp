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
    CacheAccess access;  // in the step in which it came to its sector
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
        set_of_.fill(no_set);
        for (std::size_t r = 0; r < size_; ++r) {
            if (tracks_[r].steady_steps == 1) columns_ |= 1u << r;
        }
        Border border{.step = 0, .at = (1u << size_) - 1};
        while (border.step < count) {
            make(border.step, border.at);
            border = next_border(border.step + 1);
        }
    }

    // Hits of level 1 that were not made for real; pieces by kind.
    [[nodiscard]] std::uint64_t hits() const { return hits_; }
    [[nodiscard]] std::uint64_t pieces(AccessKind kind) const {
        return pieces_[static_cast<std::size_t>(kind)];
    }

private:
    // A step, and the references that come to another sector in it.
    struct Border {
        std::uint64_t step = 0;
        unsigned at = 0;
    };

    static constexpr std::uint32_t no_set = 1;

    [[nodiscard]] static unsigned first_of(unsigned bits) {
        return static_cast<unsigned>(std::countr_zero(bits));
    }

    // The next step that is not like the one before.
    [[nodiscard]] Border next_border(std::uint64_t step) {
        Border border{.step = count_};
        for (unsigned left = ((1u << size_) - 1) & ~columns_; left != 0; left &= left - 1) {
            const unsigned r = first_of(left);
            const std::uint64_t at = tracks_[r].crosses_at;
            border.at =
                (at < border.step ? 0 : border.at) | static_cast<unsigned>(at <= border.step) << r;
            border.step = std::min(border.step, at);
        }
        if (columns_ != 0) {
            step = columns_to(border.step, step);
        } else if (stale_ == 0 || all_there()) {
            return border;
        }
        return step == border.step ? Border{step, border.at | columns_} : Border{step, columns_};
    }

    [[nodiscard]] bool all_there() const {
        for (unsigned left = stale_; left != 0; left &= left - 1) {
            if (!caches_.is_there(tracks_[first_of(left)])) return false;
        }
        return true;
    }

    // Steps in which columns alone come to other sectors and nothing is stale, up to `end`. The
    // step that is next.
    std::uint64_t columns_to(std::uint64_t end, std::uint64_t step) {
        for (; step < end && stale_ == 0; ++step) {
            for (unsigned left = columns_; left != 0; left &= left - 1) {
                const unsigned r = first_of(left);
                cross_column(tracks_[r], r);
                if (stale_ >> r != 0) {
                    make(step, columns_, r + 1);
                    break;
                }
            }
        }
        return step;
    }

    void cross_column(Track& track, unsigned r) {
        track.access.address += static_cast<std::uint64_t>(track.stride);
        if (!caches_.is_here(track.access.address)) return;
        ++pieces_[static_cast<std::size_t>(track.access.kind)];
        if (caches_.access(track) == Effect::past_caches) return;
        look_for_disturbance();
        stale_ |= meeting(track, r);
    }

    // A step, from a reference on.
    void make(std::uint64_t step, unsigned crossing, unsigned first = 0) {
        const unsigned from_first = ~0u << first;
        for (unsigned left = (crossing | stale_) & from_first; left != 0;) {
            const unsigned r = first_of(left);
            const unsigned bit = 1u << r;
            stale_ &= ~bit;
            if ((crossing & bit) != 0) {
                cross(tracks_[r], r, step);
            } else if (caches_.again(tracks_[r])) {
                stale_ |= meets_[r];
            } else {
                repeat(tracks_[r], r, step);
            }
            left = (crossing | stale_) & from_first & ~(bit | (bit - 1));
        }
    }

    void cross(Track& track, unsigned r, std::uint64_t step) {
        track.access.address = track.address + step * static_cast<std::uint64_t>(track.stride);
        const std::uint64_t steps = steps_from(track, step);
        track.crosses_at = steps >= count_ - step ? count_ : step + steps;
        leave(r);
        if (!caches_.is_here(track.access.address)) return;
        const std::uint64_t here = track.crosses_at - step;
        pieces_[static_cast<std::size_t>(track.access.kind)] += here;
        const Effect effect = caches_.access(track);
        if (effect == Effect::past_caches) return;
        hits_ += here - 1;
        look_for_disturbance();
        if ((columns_ >> r & 1) == 0) {
            come(track, r);
            stale_ |= meets_[r];
        } else {
            stale_ |= meeting(track, r);
        }
    }

    [[nodiscard]] std::uint64_t steps_from(const Track& track, std::uint64_t step) const {
        if (step != 0 && track.steady_steps != 0) return track.steady_steps;
        return steps_to_border(track.access.address, track.stride, sector_bytes_);
    }

    // A reference that is where it was, but its line is not.
    [[gnu::noinline]] void repeat(Track& track, unsigned r, std::uint64_t step) {
        --hits_;  // it counts for itself
        if (caches_.access(track) == Effect::past_caches) {
            hits_ -= track.crosses_at - step - 1;
            leave(r);
            return;
        }
        look_for_disturbance();
        stale_ |= meets_[r];
    }

    // References but columns that use other lines of the same set. One by one: what was stored
    // alone a moment ago is late in coming back as part of a vector.
    [[nodiscard]] unsigned meeting(const Track& track, unsigned r) const {
        const std::uint32_t set = low_bits(track.set);
        unsigned met = 0;
        for (unsigned other = 0; other < size_; ++other) {
            met |= static_cast<unsigned>(set_of_[other] == set && line_of_[other] != track.line)
                   << other;
        }
        return met & ~(1u << r);
    }

    void come(const Track& track, unsigned r) {
        set_of_[r] = low_bits(track.set);
        line_of_[r] = track.line;
        meets_[r] = meeting(track, r);
        for (unsigned left = meets_[r]; left != 0; left &= left - 1) {
            meets_[first_of(left)] |= 1u << r;
        }
    }

    void leave(unsigned r) {
        for (unsigned left = meets_[r]; left != 0; left &= left - 1) {
            meets_[first_of(left)] &= ~(1u << r);
        }
        meets_[r] = 0;
        set_of_[r] = no_set;
    }

    // Sets of one level lie in less than 4 GiB, at multiples of their alignment.
    [[nodiscard]] static std::uint32_t low_bits(Set set) {
        return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(set));
    }

    // Where a level behind took lines from level 1, any may be gone.
    void look_for_disturbance() {
        if (!caches_.take_disturbed()) [[likely]]
            return;
        for (std::size_t r = 0; r < size_; ++r) {
            stale_ |= static_cast<unsigned>(set_of_[r] != no_set) << r;
        }
    }

    Caches& caches_;
    std::uint64_t sector_bytes_;
    std::array<Track, most_streams> tracks_{};
    // Of references but columns: where their lines are, and which others they meet in sets.
    std::array<std::uint32_t, most_streams> set_of_{};
    std::array<Line, most_streams> line_of_{};
    std::array<unsigned, most_streams> meets_{};
    std::size_t size_ = 0;
    unsigned stale_ = 0;    // bits of references
    unsigned columns_ = 0;  // that come to another sector in each step
    std::uint64_t count_ = 0;
    std::uint64_t hits_ = 0;
    std::array<std::uint64_t, 3> pieces_{};
};

}  // namespace memgauge::cache
