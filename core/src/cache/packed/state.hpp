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

    [[nodiscard]] std::span<Word> all() const { return {words.get(), sets << set_shift}; }

    // Where a set of the part begins.
    [[nodiscard, gnu::always_inline]] Word* set_at(std::size_t set) const {
        return words.get() + ((set & kept) << set_shift);
    }
    // The same by a line, where index.is_masked().
    [[nodiscard, gnu::always_inline]] Word* masked_set(Line line) const {
        return words.get() + (std::size_t{line & kept_mask} << set_shift);
    }

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
    // Of sets parted over few threads, a power of two, only those of the part are kept, one behind
    // the other: what is simulated stays small.
    std::size_t kept = ~std::size_t{0};  // bits of a set's number that count
    Line kept_mask = 0;                  // of a line's
    unsigned set_shift = 0;              // words from one number to the next: 2 to this power
    unsigned words_in_set = 0;           // 16, or 32 where there are more ways
    unsigned ways = 0;
    unsigned ways_mask = 0;  // a bit for each
    Word heeded = 0;         // bits of a line that must not go without a word
    Inclusion inclusion = Inclusion::non_inclusive;
};

// What is known of the levels when their code is compiled.
struct PackedShape {
    unsigned sectors = 1;
    bool wide = false;  // some level has more than 16 ways
    // No level is inclusive or exclusive, and all have a power of two of sets.
    bool independent = true;
    bool whole = true;  // these, and all sets are in the part
};

struct PackedState {
    PackedState(const CacheMachine& machine, const std::vector<CacheLevel>& levels_of,
                Part part = {});

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
