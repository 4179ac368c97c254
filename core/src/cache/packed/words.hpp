#pragma once
// The lines of 16 ways in order of use, as 32-bit words, searched and moved several at a time.
//
// A word holds the line's number and, in the bits below it, its marks. The line used last is in
// word 0.

#include <array>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace memgauge::cache {

using Word = std::uint32_t;

inline constexpr unsigned words_together = 16;

// In the compiler's vectors; `Vectors` are those of an instruction set:
//   Words, lanes             so many words
//   counted()                0, 1, 2, ...
//   shifted(before, words)   lane i is that of i - 1, lane 0 the last one of `before`
//   shifted_back(words, after)  lane i is that of i + 1, the last one lane 0 of `after`
//   bits(masks)              bit i: of all masks together, lane i is all ones
template <class Vectors>
struct PackedWords {
    using Words = typename Vectors::Words;
    static constexpr unsigned vectors = words_together / Vectors::lanes;
    using All = std::array<Words, vectors>;

    // Bit w: way w holds the line, whatever its marks.
    [[gnu::always_inline]] static unsigned ways_of(const Word* set, Word line, Word line_mask) {
        All same;
        for (unsigned v = 0; v < vectors; ++v) {
            same[v] = reinterpret_cast<Words>((load(set, v) & line_mask) == all(line));
        }
        return Vectors::bits(same);
    }

    // The word comes to the front, all others go one back; the last is lost.
    [[gnu::always_inline]] static void push(Word* set, Word word) {
        Words before = all(word);
        for (unsigned v = 0; v < vectors; ++v) {
            const Words words = load(set, v);
            store(set, v, Vectors::shifted(before, words));
            before = words;
        }
    }

    // The word comes to the front, in place of that of way `way`; those in front of it go one back.
    [[gnu::always_inline]] static void to_front(Word* set, unsigned way, Word word) {
        const Words last = all(way);
        Words before = all(word);
        for (unsigned v = 0; v < vectors; ++v) {
            const Words words = load(set, v);
            const auto moves = reinterpret_cast<Words>(counted(v) <= last);
            store(set, v, (Vectors::shifted(before, words) & moves) | (words & ~moves));
            before = words;
        }
    }

    // The word of way `way` leaves; those behind it come one to the front, and `next` behind them.
    [[gnu::always_inline]] static void take_out(Word* set, unsigned way, Word next) {
        const Words first = all(way);
        for (unsigned v = 0; v < vectors; ++v) {
            const Words words = load(set, v);
            const Words after = v + 1 < vectors ? load(set, v + 1) : all(next);
            const auto moves = reinterpret_cast<Words>(counted(v) >= first);
            store(set, v, (Vectors::shifted_back(words, after) & moves) | (words & ~moves));
        }
    }

    // Bit i: set i is that one and line i another.
    [[gnu::always_inline]] static unsigned meeting(const Word* sets, const Word* lines, Word set,
                                                   Word line) {
        All met;
        for (unsigned v = 0; v < vectors; ++v) {
            met[v] = reinterpret_cast<Words>(load(sets, v) == all(set)) &
                     reinterpret_cast<Words>(load(lines, v) != all(line));
        }
        return Vectors::bits(met);
    }

    // By whole vectors: what was stored alone a moment ago is late in coming back as part of one.
    [[gnu::always_inline]] static void put(Word* at, unsigned lane, Word word) {
        const Words here = all(lane);
        for (unsigned v = 0; v < vectors; ++v) {
            const auto it = reinterpret_cast<Words>(counted(v) == here);
            store(at, v, (all(word) & it) | (load(at, v) & ~it));
        }
    }

private:
    [[gnu::always_inline]] static Words all(Word word) { return Words{} + word; }
    [[gnu::always_inline]] static Words counted(unsigned vector) {
        return Vectors::counted() + vector * Vectors::lanes;
    }
    [[gnu::always_inline]] static Words load(const Word* from, unsigned vector) {
        Words words;
        std::memcpy(&words, from + vector * Vectors::lanes, sizeof words);
        return words;
    }
    [[gnu::always_inline]] static void store(Word* to, unsigned vector, Words words) {
        std::memcpy(to + vector * Vectors::lanes, &words, sizeof words);
    }
};

// 16 bytes, which all our processors have.
struct FourWords {
    using Words [[gnu::vector_size(16)]] = Word;
    static constexpr unsigned lanes = 4;

    [[gnu::always_inline]] static Words counted() { return Words{0, 1, 2, 3}; }
    [[gnu::always_inline]] static Words shifted(Words before, Words words) {
        return __builtin_shufflevector(before, words, 3, 4, 5, 6);
    }
    [[gnu::always_inline]] static Words shifted_back(Words words, Words after) {
        return __builtin_shufflevector(words, after, 1, 2, 3, 4);
    }

    [[gnu::always_inline]] static unsigned bits(const std::array<Words, 4>& masks) {
#if defined(__SSE2__)
        const auto half = [&](unsigned v) {
            return _mm_packs_epi32(reinterpret_cast<__m128i>(masks[v]),
                                   reinterpret_cast<__m128i>(masks[v + 1]));
        };
        return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(half(0), half(2))));
#else
        const Words first = {1, 2, 4, 8};
        const Words all = (masks[0] & first) | (masks[1] & first << 4) | (masks[2] & first << 8) |
                          (masks[3] & first << 12);
        return all[0] | all[1] | all[2] | all[3];
#endif
    }
};

using PortableWords = PackedWords<FourWords>;

}  // namespace memgauge::cache
