#pragma once
// The levels of one core with packed sets: what they hold, and what is compiled anew for each
// instruction set to work on it.

#include <array>
#include <bit>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "cache/levels/geometry.hpp"
#include "cache/levels/grain.hpp"
#include "cache/levels/line_numbers.hpp"
#include "cache/levels/marks.hpp"
#include "cache/levels/set_index.hpp"
#include "cache/loops/loop.hpp"
#include "cache/loops/warp.hpp"
#include "cache/packed/words.hpp"

namespace memgauge::cache {

inline constexpr unsigned most_packed_ways = 2 * words_together;

// Of a word: one sector has a bit for changed, and is valid where there is a line; two have a bit
// each for changed and, above these, for valid.
constexpr unsigned mark_bits(unsigned sectors) {
    return sectors == 1 ? 1 : 2 * sectors;
}

struct PackedLevel {
    struct Free {
        void operator()(Word* at) const { ::operator delete[](at, std::align_val_t{64}); }
    };

    [[nodiscard]] LevelCounts& counts() { return counted; }

    [[nodiscard]] std::span<Word> all() const { return {words.get(), sets * words_in_set}; }

    // Calls each(word) for each way.
    template <class Each>
    void each_way(const Each& each) const {
        for (std::size_t i = 0; i < all().size(); ++i) {
            if (i % words_in_set < ways) each(all()[i]);
        }
    }

    LevelCounts counted;
    std::unique_ptr<Word[], Free> words;
    SetIndex index;
    std::size_t sets = 0;
    unsigned words_in_set = 0;  // 16, or 32 where there are more ways
    unsigned ways = 0;
    unsigned ways_mask = 0;  // a bit for each
    Word heeded = 0;         // bits of a line that must not go without a word
    Inclusion inclusion = Inclusion::non_inclusive;
};

// What is known of the levels when their code is compiled.
struct PackedShape {
    unsigned sectors = 1;
    bool wide = false;        // some level has more than 16 ways
    bool independent = true;  // no level is inclusive or exclusive
};

struct PackedState {
    PackedState(const CacheMachine& machine, const std::vector<CacheLevel>& levels_of);

    [[nodiscard]] std::span<PackedLevel> in_use() { return {levels.data(), count}; }
    // As Level's; see loops/warp.hpp.
    void list_lines(const PackedLevel& level, std::size_t set, Held* lines) const;
    void hold(const PackedLevel& level, std::size_t set, const Held* lines);
    void write_back_all();
    void clear();

    std::array<PackedLevel, most_levels> levels;
    std::size_t count;
    PackedShape shape;
    Word empty;              // a way without a line: a number that no line has, no marks
    bool inclusive = false;  // some level is
    bool disturbed = false;  // level 1 lost lines because a level behind it did
    LineNumbers numbers;
    MemoryCounts memory;
};

struct PackedCalls {
    Outcome (*use)(PackedState&, Piece, Cause, bool store);
    Outcome (*store_past)(PackedState&, Piece);
    void (*run)(PackedState&, const Grain&, Loop&);
    void (*access)(PackedState&, const Grain&, std::span<const CacheAccess>, PieceCounts&);
};

// Null where the target has no such instructions.
const PackedCalls* portable_packed_calls(PackedShape shape);
const PackedCalls* avx2_packed_calls(PackedShape shape);
const PackedCalls* avx512_packed_calls(PackedShape shape);

}  // namespace memgauge::cache
