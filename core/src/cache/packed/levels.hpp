#pragma once
// The levels of one core at work on packed sets: the rules of cache_model.hpp where nothing but
// least recently used lines and one core need to be cared for.
//
// `Words` searches and moves 16 words at a time. Levels are counted from 0 here, in types as far as
// the way through them is one piece of code; see levels/depth.hpp.

#include <bit>
#include <utility>

#include "cache/levels/depth.hpp"
#include "cache/packed/state.hpp"
#include "cache/tracked.hpp"

namespace memgauge::cache {

template <class Words, PackedShape shape>
class PackedLevels {
public:
    using Lanes = Words;
    static constexpr bool sectored = shape.sectors > 1;
    static constexpr bool may_be_plain = true;

    explicit PackedLevels(PackedState& state) : state_(state) {}

    [[gnu::always_inline]] Outcome use(unsigned /*core*/, Piece piece, Cause cause, bool store) {
        PackedLevel& level = state_.levels[0];
        Word* const set = masked_set(level, piece.line);
        const Word key = key_of(piece.line);
        const Word wanted = store ? changed_bits(piece.sector) : 0;
        const Outcome hit{Effect::none, reinterpret_cast<Set>(set)};
        const Word front = *set;
        if ((front & line_mask) == key && is_valid(front, piece.sector)) {
            ++level.counted.hits;
            if ((wanted & ~front) != 0) *set = front | wanted;
            return hit;
        }
        const unsigned found = ways_of(level, set, key);
        if (found != 0) {
            const auto way = way_in(found);
            if (is_valid(set[way], piece.sector)) {
                ++level.counted.hits;
                to_front(set, way, set[way] | wanted);
                return hit;
            }
        }
        ++level.counted.misses;
        const Word moving = obtain(At<1>(), piece, cause);
        fill(At<0>(), level, set, key | moving | wanted, found != 0);
        return {Effect::missed, hit.set};
    }

    // The same, once compiled, for where it is called now and then.
    [[gnu::noinline]] static Outcome use_apart(PackedState& state, Piece piece, Cause cause,
                                               bool store) {
        return PackedLevels(state).use(0, piece, cause, store);
    }
    Outcome use_apart(unsigned /*core*/, Piece piece, Cause cause, bool store) {
        return use_apart(state_, piece, cause, store);
    }

    // A store that goes past the caches where no level has the sector.
    Outcome store_past(unsigned /*core*/, Piece piece) { return store_past(state_, piece); }

    // Whether level 1 has that line there with the sector valid, and changed where that is asked.
    [[nodiscard, gnu::always_inline]] bool is_nearest(Set in, Line line, std::uint8_t sector,
                                                      bool changed) const {
        const auto* const set = reinterpret_cast<const Word*>(in);
        const unsigned found = ways_of(state_.levels[0], set, key_of(line));
        return found != 0 && is_good(set[way_in(found)], sector, changed);
    }

    // The same access as if made again, if that is so.
    [[gnu::always_inline]] bool again(Set in, Line line, std::uint8_t sector, bool changed) {
        auto* const set = reinterpret_cast<Word*>(in);
        const unsigned found = ways_of(state_.levels[0], set, key_of(line));
        if (found == 0) return false;
        const unsigned way = way_in(found);
        const Word word = set[way];
        if (!is_good(word, sector, changed)) return false;
        to_front(set, way, word);
        return true;
    }

    // Whether level 1 lost lines because a level behind it did, since asked last.
    [[nodiscard, gnu::always_inline]] bool take_disturbed() {
        if (shape.independent || !state_.disturbed) [[likely]]
            return false;
        return std::exchange(state_.disturbed, false);
    }

    // Level 1, where nothing but its own accesses takes lines from it.
    [[nodiscard]] PlainLevel plain_level() const {
        if (state_.inclusive) return {};
        return {.sets = state_.levels[0].sets, .ways = state_.levels[0].ways};
    }

    // Puts a line that level 1 has in front of its set.
    [[gnu::always_inline]] void touch(Line line) {
        const PackedLevel& level = state_.levels[0];
        Word* const set = masked_set(level, line);
        const Word key = key_of(line);
        if ((*set & line_mask) == key) return;
        const unsigned found = ways_of(level, set, key);
        if (found == 0) return;
        const unsigned way = way_in(found);
        to_front(set, way, set[way]);
    }

    [[nodiscard]] LineNumbers& numbers() { return state_.numbers; }

private:
    static constexpr unsigned mark_bits = cache::mark_bits(shape.sectors);
    static constexpr Word line_mask = ~((Word{1} << mark_bits) - 1);
    static constexpr Word all_changed = (Word{1} << shape.sectors) - 1;

    // Where the set of a line begins.
    [[nodiscard, gnu::always_inline]] static Word* masked_set(const PackedLevel& level, Line line) {
        if constexpr (!shape.whole) return level.masked_set(line);
        const std::size_t set = line & level.kept_mask;
        return level.words.get() + set * (shape.wide ? level.words_in_set : words_together);
    }
    [[nodiscard, gnu::always_inline]] Word* set_of(const PackedLevel& level, Line line) const {
        if (shape.independent || level.index.is_masked()) return masked_set(level, line);
        return level.set_at(level.index.of(line, state_.numbers));
    }

    [[nodiscard]] static bool is_exclusive(const PackedLevel& level) {
        return !shape.independent && level.inclusion == Inclusion::exclusive;
    }

    [[nodiscard]] static Word key_of(Line line) { return line << mark_bits; }
    [[nodiscard]] static Word changed_bits(std::uint8_t sector) {
        return sectored ? sector : Word{1};
    }
    [[nodiscard]] static Word valid_bits(Word sector) {
        return sectored ? sector << shape.sectors : 0;
    }
    [[nodiscard]] static bool is_valid(Word word, std::uint8_t sector) {
        return !sectored || (word & valid_bits(sector)) != 0;
    }
    [[nodiscard]] static bool is_good(Word word, std::uint8_t sector, bool changed) {
        return is_valid(word, sector) && (!changed || (word & changed_bits(sector)) != 0);
    }

    [[nodiscard]] static unsigned way_in(unsigned found) {
        return static_cast<unsigned>(std::countr_zero(found));
    }

    [[nodiscard, gnu::always_inline]] static unsigned ways_of(const PackedLevel& level,
                                                              const Word* set, Word key) {
        unsigned found = Words::ways_of(set, key, line_mask);
        if constexpr (shape.wide) {
            if (level.words_in_set != words_together) {
                found |= Words::ways_of(set + words_together, key, line_mask) << words_together;
            }
        }
        return found & level.ways_mask;
    }

    [[gnu::always_inline]] static void push(const PackedLevel& level, Word* set, Word word) {
        if constexpr (shape.wide) {
            if (level.words_in_set != words_together) {
                Words::push(set + words_together, set[words_together - 1]);
            }
        }
        Words::push(set, word);
    }

    [[gnu::always_inline]] static void to_front(Word* set, unsigned way, Word word) {
        if constexpr (shape.wide) {
            if (way >= words_together) {
                const Word passed = set[words_together - 1];
                Words::push(set, word);
                Words::to_front(set + words_together, way - words_together, passed);
                return;
            }
        }
        Words::to_front(set, way, word);
    }

    [[gnu::noinline]] static Outcome store_past(PackedState& state, Piece piece) {
        for (std::size_t l = 0; l < state.count; ++l) {
            const PackedLevel& level = state.levels[l];
            const Word* const set = PackedLevels(state).set_of(level, piece.line);
            const unsigned found = ways_of(level, set, key_of(piece.line));
            if (found != 0 && is_valid(set[way_in(found)], piece.sector)) {
                return use_apart(state, piece, Cause::allocate, true);
            }
        }
        for (std::size_t l = 0; l < state.count; ++l) ++state.levels[l].counted.misses;
        ++state.memory.bypasses;
        return {Effect::past_caches, nullptr};
    }

    // The line leaves; those behind it come one to the front.
    static void take_out(const PackedState& state, const PackedLevel& level, Word* set,
                         unsigned way) {
        if constexpr (shape.wide) {
            if (level.words_in_set != words_together) {
                Word* const rest = set + words_together;
                if (way < words_together) {
                    Words::take_out(set, way, *rest);
                    Words::take_out(rest, 0, state.empty);
                } else {
                    Words::take_out(rest, way - words_together, state.empty);
                }
                set[level.ways - 1] = state.empty;
                return;
            }
        }
        Words::take_out(set, way, state.empty);
        set[level.ways - 1] = state.empty;
    }

    // Asks level l and those behind it, or memory, and fills level l: the marks that move to the
    // level in front.
    template <class Depth>
    [[gnu::always_inline]] Word obtain(Depth l, Piece piece, Cause cause) {
        if (l == state_.count) return from_memory(piece, cause);
        if constexpr (is_far<Depth>) {
            return obtain_far(state_, l, piece, cause);
        } else {
            return obtain_at(l, piece, cause);
        }
    }

    [[gnu::noinline]] static Word obtain_far(PackedState& state, Far l, Piece piece, Cause cause) {
        return PackedLevels(state).obtain_at(l, piece, cause);
    }

    template <class Depth>
    [[gnu::always_inline]] Word obtain_at(Depth l, Piece piece, Cause cause) {
        PackedLevel& level = state_.levels[l];
        Word* const set = set_of(level, piece.line);
        const Word key = key_of(piece.line);
        const unsigned found = ways_of(level, set, key);
        if (found != 0) {
            const unsigned way = way_in(found);
            if (is_valid(set[way], piece.sector)) return hit(level, set, way, piece);
        }
        ++level.counted.misses;
        const Word moving = obtain(behind(l), piece, cause);
        if (is_exclusive(level)) return moving;
        fill(l, level, set, key | moving, found != 0);
        return valid_bits(piece.sector);
    }

    [[gnu::always_inline]] Word hit(PackedLevel& level, Word* set, unsigned way, Piece piece) {
        ++level.counted.hits;
        const Word word = set[way];
        if (is_exclusive(level)) {
            take_out(state_, level, set, way);
            return word & ~line_mask;
        }
        to_front(set, way, word);
        return valid_bits(piece.sector);
    }

    [[gnu::always_inline]] Word from_memory(Piece piece, Cause cause) {
        ++state_.memory.reads[static_cast<std::size_t>(cause)];
        ++state_.memory.stream_reads[piece.stream];
        return valid_bits(piece.sector);
    }

    // place(), where the line may be there with other sectors; lines of the set may have gone since
    // it was looked for.
    template <class Depth>
    [[gnu::always_inline]] void fill(Depth l, PackedLevel& level, Word* set, Word word,
                                     bool may_be_there) {
        if (sectored && may_be_there) {
            place(l, level, set, word);
        } else {
            make_room(l, level, set);
            push(level, set, word);
        }
    }

    template <class Depth>
    [[gnu::always_inline]] void place(Depth l, PackedLevel& level, Word* set, Word word) {
        const unsigned found = ways_of(level, set, word & line_mask);
        if (found != 0) {
            const unsigned way = way_in(found);
            to_front(set, way, set[way] | word);
            return;
        }
        make_room(l, level, set);
        push(level, set, word);
    }

    template <class Depth>
    [[gnu::always_inline]] void make_room(Depth l, PackedLevel& level, Word* set) {
        const Word victim = set[level.ways - 1];
        const Word heeded = shape.independent ? all_changed : level.heeded;
        // The word of the first line of all may have no bit.
        if ((victim & heeded) != 0 || heeded == ~Word{0}) evict(l, level, set, victim);
    }

    template <class Depth>
    [[gnu::always_inline]] void evict(Depth l, PackedLevel& level, Word* set, Word victim) {
        if constexpr (!shape.independent) {
            if (victim == state_.empty) return;
            if (state_.inclusive) {
                // Lines of the set may go while this one is on its way.
                set[level.ways - 1] = state_.empty;
                if (level.inclusion == Inclusion::inclusive)
                    victim = taken_along(state_, l, victim);
            }
        }
        const Word changed = victim & all_changed;
        level.counted.write_backs += changed != 0;
        if (!goes_whole(behind(l))) {
            if (changed == 0) return;
            victim = (victim & line_mask) | valid_bits(changed) | changed;
        }
        give(behind(l), state_, victim);
    }

    // Whether lines come to level l, which is an exclusive one, as they are.
    [[nodiscard, gnu::always_inline]] bool goes_whole(std::size_t l) const {
        return l < state_.count && is_exclusive(state_.levels[l]);
    }

    // To level l, or to memory.
    template <class Depth>
    [[gnu::noinline]] static void give(Depth l, PackedState& state, Word word) {
        if (l < state.count) {
            PackedLevel& level = state.levels[l];
            PackedLevels levels(state);
            levels.place(l, level, levels.set_of(level, word >> mark_bits), word);
        } else {
            state.memory.write_backs += static_cast<unsigned>(std::popcount(word & all_changed));
        }
    }

    // The line, with the marks that the levels in front had of it.
    [[gnu::noinline]] static Word taken_along(PackedState& state, std::size_t l, Word word) {
        for (std::size_t k = 0; k < l; ++k) {
            const PackedLevel& level = state.levels[k];
            Word* const set = PackedLevels(state).set_of(level, word >> mark_bits);
            const unsigned found = ways_of(level, set, word & line_mask);
            if (found == 0) continue;
            const unsigned way = way_in(found);
            word |= set[way];
            take_out(state, level, set, way);
            state.disturbed |= k == 0;
        }
        return word;
    }

    PackedState& state_;
};

template <class Words, PackedShape shape>
inline constexpr PackedCalls packed_calls_of{
    .use = &PackedLevels<Words, shape>::use_apart,
    .store_past =
        [](PackedState& state, Piece piece) {
            return PackedLevels<Words, shape>(state).store_past(0, piece);
        },
    .run =
        [](PackedState& state, const Grain& grain, Loop& loop) {
            PackedLevels<Words, shape> levels(state);
            run_lockstep(levels, grain, 0, loop);
        },
    .access =
        [](PackedState& state, const Grain& grain, std::span<const CacheAccess> accesses,
           PieceCounts& counts) {
            PackedLevels<Words, shape> levels(state);
            make_accesses(levels, grain, 0, accesses, counts);
        }};

#if defined(MEMGAUGE_FEW_SHAPES)

// One that does for every machine, and one as it is of those that know most beforehand.
template <class Words, unsigned sectors>
const PackedCalls* packed_calls(PackedShape shape) {
    constexpr bool wide = sectors > 1;
    return shape.whole && shape.wide == wide
               ? &packed_calls_of<Words, PackedShape{sectors, wide, true, true}>
               : &packed_calls_of<Words, PackedShape{sectors, true, false, false}>;
}

template <class Words>
const PackedCalls* packed_calls(PackedShape shape) {
    return shape.sectors == 1 ? packed_calls<Words, 1>(shape) : packed_calls<Words, 2>(shape);
}

#else

template <class Words, unsigned sectors, bool wide>
const PackedCalls* packed_calls(PackedShape shape) {
    if (!shape.independent)
        return &packed_calls_of<Words, PackedShape{sectors, wide, false, false}>;
    return shape.whole ? &packed_calls_of<Words, PackedShape{sectors, wide, true, true}>
                       : &packed_calls_of<Words, PackedShape{sectors, wide, true, false}>;
}

template <class Words>
const PackedCalls* packed_calls(PackedShape shape) {
    if (shape.sectors == 1) {
        return shape.wide ? packed_calls<Words, 1, true>(shape)
                          : packed_calls<Words, 1, false>(shape);
    }
    return shape.wide ? packed_calls<Words, 2, true>(shape) : packed_calls<Words, 2, false>(shape);
}

#endif

}  // namespace memgauge::cache
