#pragma once
// Periods of a loop of which each memory moves by a distance of its own, or stays, as a matrix
// product does: the next row of A and of C, the same B.
//
// A model of one core with least recently used lines knows no line from another of the same set. So
// moves that leave each line in its sets, at all levels, and bring no two lines to one place, only
// rename lines: a state and accesses that are renamed do the same. If the state after a period is
// the one before it renamed, then each further period does the same. See loops/warp.hpp for loops
// that move as a whole, into other sets too.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/loops/warp.hpp"
#include "memgauge/cache_model.hpp"

namespace memgauge::cache {

class Moves {
public:
    // None where it is not sure that lines are but renamed; see CacheModel::repeat.
    static std::optional<Moves> of(std::span<const MovingMemory> memories,
                                   const CacheMachine& machine, std::uint64_t bytes_around_sets);

    // After so many moves; none where the line would leave the memory that it is of.
    [[nodiscard]] std::optional<std::uint64_t> moved(std::uint64_t line,
                                                     std::uint64_t times) const {
        for (const Lines& some : lines_) {
            if (line < some.first || line > some.last) continue;
            const std::uint64_t to = line + times * static_cast<std::uint64_t>(some.shift);
            return to < some.first || to > some.last ? std::nullopt : std::optional(to);
        }
        return line;
    }

    [[nodiscard]] std::int64_t bytes_of_stream(std::size_t stream) const {
        return of_streams_[stream];
    }
    [[nodiscard]] std::int64_t bytes_of_stores() const { return of_stores_; }
    [[nodiscard]] std::int64_t sectors_of_stores() const { return of_stores_ / sector_bytes_; }
    [[nodiscard]] std::span<const MovingMemory> memories() const { return memories_; }

private:
    struct Lines {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        std::int64_t shift = 0;
    };

    std::vector<MovingMemory> memories_;
    std::vector<Lines> lines_;
    std::array<std::int64_t, most_streams> of_streams_{};
    std::int64_t of_stores_ = 0;
    std::int64_t sector_bytes_ = 1;
};

// How a Snapshot is moved so many times.
struct ByMoves {
    const Moves& moves;
    std::uint64_t times = 1;

    // Of no line.
    static constexpr Held gone = none_held - 1;

    Held operator()(Held held) const {
        const auto to = moves.moved(held / held_line, times);
        return to ? *to * held_line + held % held_line : gone;
    }
    [[nodiscard]] static std::size_t set(std::size_t set, std::size_t /*sets*/) { return set; }
};

}  // namespace memgauge::cache
