#pragma once
// What is said of a line, and of an access to it.

#include <array>
#include <cstddef>
#include <cstdint>

#include "cache/levels/line_numbers.hpp"
#include "memgauge/cache_model.hpp"

namespace memgauge::cache {

// A set of a level, as long as the level lives.
using Set = std::byte*;

// A bit for each sector.
struct Marks {
    std::uint8_t valid = 0;
    std::uint8_t changed = 0;
};

// What requested a sector from memory first; as AccessKind where a program did.
enum class Cause : std::uint8_t { load, allocate, software_prefetch, hardware_prefetch };

[[gnu::always_inline]] inline Cause cause_of(AccessKind kind) {
    return static_cast<Cause>(kind);
}

// What went over the border to memory, in sectors.
struct MemoryCounts {
    std::array<std::uint64_t, 4> reads{};  // by Cause
    std::array<std::uint64_t, most_streams> stream_reads{};
    std::uint64_t write_backs = 0;
    std::uint64_t bypasses = 0;
};

// What an access did to level 1.
enum class Effect : std::uint8_t { none, missed, past_caches };

struct Outcome {
    Effect effect = Effect::none;
    Set set = nullptr;  // of level 1, that has the line now
};

struct Piece {
    Line line = 0;
    std::uint8_t sector = 1;  // one bit
    std::uint8_t stream = 0;
};

using PieceCounts = std::array<std::uint64_t, 3>;  // by AccessKind

}  // namespace memgauge::cache
