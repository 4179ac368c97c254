#pragma once
// A loop over references as Lockstep runs it, and what it counted.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "cache/detectors.hpp"
#include "cache/levels/marks.hpp"
#include "cache/loops/abreast.hpp"

namespace memgauge::cache {

// Whether its accesses never reach over the border of a sector.
inline bool stays_within_sectors(const StridedAccess& reference, std::uint64_t sector_bytes) {
    const std::uint64_t bytes = reference.first.bytes;
    const std::uint64_t all =
        reference.first.address | static_cast<std::uint64_t>(reference.stride);
    return std::has_single_bit(bytes) && bytes <= sector_bytes && (all & (bytes - 1)) == 0;
}

// Whether a loop over these may be run in lockstep.
inline bool collapse(const CacheMachine& machine, std::span<const StridedAccess> references) {
    return !machine.prefetchers.next_line && !machine.prefetchers.stride &&
           references.size() <= most_streams &&
           std::ranges::all_of(references, [&](const StridedAccess& reference) {
               return stays_within_sectors(reference, machine.sector_bytes);
           });
}

[[gnu::always_inline]] inline std::uint64_t length_of(std::int64_t stride) {
    const auto length = static_cast<std::uint64_t>(stride);
    return stride < 0 ? 0 - length : length;
}

// From border to border of a sector; 0: varies, or none.
inline std::uint64_t steady_steps(std::int64_t stride, std::uint64_t sector_bytes) {
    const std::uint64_t length = length_of(stride);
    if (length >= sector_bytes) return 1;
    return std::has_single_bit(length) ? sector_bytes >> std::countr_zero(length) : 0;
}

// Steps of a stride until an address leaves its sector.
[[gnu::always_inline]] inline std::uint64_t steps_to_border(std::uint64_t address,
                                                            std::int64_t stride,
                                                            std::uint64_t sector_bytes) {
    if (stride == 0) return ~0ull;
    const std::uint64_t length = length_of(stride);
    if (length >= sector_bytes) return 1;
    const std::uint64_t offset = address & (sector_bytes - 1);
    const std::uint64_t bytes = stride > 0 ? sector_bytes - offset + length - 1 : offset + length;
    return std::has_single_bit(length) ? bytes >> std::countr_zero(length) : bytes / length;
}

// One reference of the loop.
struct Track {
    CacheAccess access;            // its address somewhere in the sector where it is
    std::uint64_t crosses_at = 0;  // step in which it comes to another sector
    std::uint64_t steady_steps = 0;
    std::uint64_t advance = 0;          // bytes from sector to sector, where that is steady
    std::uint64_t bypass_from = ~0ull;  // address from which on lines bypass
    Set set = nullptr;                  // of level 1, of its line
    Line line = 0;
    Line line_step = 0;         // from sector to sector, where those are lines
    std::uint64_t in_area = 0;  // so many more sectors lie in the same area of lines' numbers
    std::uint8_t sector = 1;
    std::uint64_t begin = 0;
    std::int64_t stride = 0;
    std::uint64_t sector_bytes = 0;
    StoreStream* store_stream = nullptr;
};

struct Loop {
    void begin(std::uint64_t steps) {
        count = steps;
        size = 0;
    }

    void add(const StridedAccess& reference, StoreStream* store_stream, std::uint64_t bypass_from,
             const CacheMachine& machine) {
        const std::uint64_t sector_bytes = machine.sector_bytes;
        Track& track = tracks[size++];
        track.access = reference.first;
        track.begin = reference.first.address;
        track.stride = reference.stride;
        track.sector_bytes = sector_bytes;
        track.store_stream = store_stream;
        track.bypass_from = bypass_from;
        track.steady_steps = steady_steps(track.stride, sector_bytes);
        track.crosses_at = 0;
        track.line_step = 0;
        track.in_area = 0;
        if (track.steady_steps == 0) return;
        // As if the first sector were come to from the one before.
        track.advance = static_cast<std::uint64_t>(track.stride) * track.steady_steps;
        track.access.address -= track.advance;
        if ((track.advance & (machine.line_bytes - 1)) == 0) {
            const auto advance = static_cast<std::int64_t>(track.advance);
            track.line_step = static_cast<Line>(advance >> std::countr_zero(machine.line_bytes));
        }
        track.crosses_at =
            steps_to_border(track.begin, track.stride, sector_bytes) - track.steady_steps;
    }

    std::array<Track, most_streams> tracks{};
    AbreastPlans abreast;
    std::size_t size = 0;
    std::uint64_t count = 0;
    // What came of it: hits of level 1 that were not made for real; pieces.
    std::uint64_t hits = 0;
    PieceCounts pieces{};
};

// Whether two may ever use one set for different lines. Of one pace, they stay as far apart as they
// are, but that `b` makes its step before `a`.
[[gnu::always_inline]] inline bool may_meet(const Track& a, const Track& b,
                                            const PlainLevel& level) {
    if (a.stride != b.stride || a.steady_steps <= 1) return true;
    const auto apart = static_cast<std::int64_t>(a.begin - b.begin);
    const std::int64_t least = std::min(apart, apart - a.stride) >> level.line_bits;
    const std::int64_t most = -(-std::max(apart, apart - a.stride) >> level.line_bits);
    for (std::int64_t lines = least; lines <= most; ++lines) {
        if (lines != 0 && (static_cast<std::uint64_t>(lines) & (level.sets - 1)) == 0) return true;
    }
    return false;
}

// Bits of the references that may.
inline unsigned meeting_in(const Loop& loop, const PlainLevel& level) {
    if (level.sets == 0) return (1u << loop.size) - 1;
    unsigned found = 0;
    for (unsigned r = 0; r < loop.size; ++r) {
        for (unsigned other = 0; other < r; ++other) {
            const bool meet = may_meet(loop.tracks[r], loop.tracks[other], level);
            found |= meet ? 1u << r | 1u << other : 0;
        }
    }
    return found;
}

}  // namespace memgauge::cache
