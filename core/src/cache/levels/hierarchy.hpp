#pragma once
// The levels of all cores at work on one piece after another, by the rules of cache_model.hpp.

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/levels/depth.hpp"
#include "cache/levels/level.hpp"
#include "cache/levels/line_numbers.hpp"
#include "cache/packed/words.hpp"
#include "cache/tracked.hpp"

namespace memgauge::cache {

// What a level's set has of a line: the way, or -1.
struct Place {
    Set set = nullptr;
    int way = -1;
};

// Levels are counted from 0 here, in types as far as the way through them is one piece of code.
template <bool many_cores>
class Hierarchy {
public:
    using Lanes = PortableWords;
    static constexpr bool sectored = true;
    // See PackedLevels::plain_level().
    static constexpr bool may_be_plain = false;
    static constexpr bool one_core = !many_cores;

    Hierarchy(const CacheMachine& machine, const std::vector<CacheLevel>& levels);

    [[gnu::always_inline]] Outcome use(unsigned core, Piece piece, Cause cause, bool store) {
        if constexpr (many_cores) {
            if (store) from_others(core, piece.line, true);
        }
        Place found = look(0, core, piece.line);
        Effect effect = Effect::none;
        if (holds(levels_[0], found, piece.sector)) {
            ++levels_[0].counts().hits;
            levels_[0].touch(found.set, found.way);
        } else {
            if constexpr (many_cores) {
                if (!store) from_others(core, piece.line, false);
            }
            ++levels_[0].counts().misses;
            effect = Effect::missed;
            found.way = fill(At<0>(), core, piece, cause, found);
        }
        if (store) levels_[0].changed(found.set, found.way) |= piece.sector;
        return {effect, found.set};
    }

    // The same, once compiled, for where it is called now and then.
    [[gnu::noinline]] Outcome use_apart(unsigned core, Piece piece, Cause cause, bool store) {
        return use(core, piece, cause, store);
    }

    // A store that goes past the caches where no level of the core has the sector.
    Outcome store_past(unsigned core, Piece piece);

    // Whether level 1 has that line there with the sector valid, and changed where that is asked.
    [[nodiscard]] bool is_nearest(Set set, Line line, std::uint8_t sector, bool changed) const {
        return way_of(set, line, sector, changed) >= 0;
    }

    // The same access as if made again, if that is so.
    [[nodiscard]] bool again(Set set, Line line, std::uint8_t sector, bool changed) {
        const int way = way_of(set, line, sector, changed);
        if (way >= 0) levels_[0].touch(set, way);
        return way >= 0;
    }

    [[nodiscard]] static PlainLevel plain_level() { return {}; }

    // Whether level 1 lost lines because a level behind it did, since asked last.
    [[nodiscard]] bool take_disturbed() { return std::exchange(disturbed_, false); }

    void access(const Grain& grain, unsigned core, std::span<const CacheAccess> accesses,
                PieceCounts& counts) {
        make_accesses(*this, grain, core, accesses, counts);
    }
    void run(const Grain& grain, unsigned core, Loop& loop) {
        run_lockstep(*this, grain, core, loop);
    }

    // By a prefetcher of the hardware.
    void prefetch(unsigned core, Piece piece);

    [[nodiscard]] LineNumbers& numbers() { return numbers_; }
    [[nodiscard]] std::span<Level> levels() { return {levels_.data(), count_}; }
    [[nodiscard]] MemoryCounts& memory() { return memory_; }

    // Of one core; see loops/warp.hpp.
    [[nodiscard]] std::size_t depth() const { return count_; }
    [[nodiscard]] std::size_t sets(std::size_t level) const { return levels_[level].sets(); }
    [[nodiscard]] std::size_t ways(std::size_t level) const { return levels_[level].ways(); }
    void list_lines(std::size_t level, std::size_t set, Held* lines) const {
        levels_[level].list_lines(set, numbers_, lines);
    }
    void hold(std::size_t level, std::size_t set, const Held* lines) {
        levels_[level].hold(set, numbers_, lines);
    }
    // See loops/repeats.hpp.
    using Copied = Held;
    void copy(std::size_t level, std::size_t set, Held* to) const { list_lines(level, set, to); }
    [[nodiscard]] bool is_copy(std::size_t level, std::size_t set, const Held* of) const {
        std::vector<Held> now(ways(level));
        list_lines(level, set, now.data());
        return std::equal(now.begin(), now.end(), of);
    }

    void write_back_all();
    void clear();

private:
    [[nodiscard]] int way_of(Set set, Line line, std::uint8_t sector, bool changed) const {
        const Level& level = levels_[0];
        const int way = level.find(set, line);
        const bool good = holds(level, {set, way}, sector) &&
                          (!changed || (level.changed(set, way) & sector) != 0);
        return good ? way : -1;
    }

    [[nodiscard, gnu::always_inline]] Place look(std::size_t level, unsigned core,
                                                 Line line) const {
        const Set set = levels_[level].template set<many_cores>(core, line, numbers_);
        return {set, levels_[level].find(set, line)};
    }

    [[nodiscard]] static bool holds(const Level& level, Place at, std::uint8_t sector) {
        return at.way >= 0 && (level.valid(at.set, at.way) & sector) != 0;
    }

    [[nodiscard]] static Marks marks_of(const Level& level, Place at) {
        const std::uint8_t changed = level.changed(at.set, at.way);
        return {level.valid(at.set, at.way), changed};
    }

    // Asks level l and those behind it, or memory, and fills level l: what moves to the level in
    // front.
    template <class Depth>
    [[gnu::always_inline]] Marks obtain(Depth l, unsigned core, Piece piece, Cause cause) {
        if (l == count_) return from_memory(piece, cause);
        if constexpr (is_far<Depth>) {
            return obtain_far(l, core, piece, cause);
        } else {
            return obtain_at(l, core, piece, cause);
        }
    }

    [[gnu::noinline]] Marks obtain_far(Far l, unsigned core, Piece piece, Cause cause) {
        return obtain_at(l, core, piece, cause);
    }

    template <class Depth>
    [[gnu::always_inline]] Marks obtain_at(Depth l, unsigned core, Piece piece, Cause cause) {
        const Level& level = levels_[l];
        const Place found = look(l, core, piece.line);
        if (holds(level, found, piece.sector)) return hit(l, found, piece, cause);
        count(levels_[l].counts().misses, cause);
        if (level.inclusion() == Inclusion::exclusive) {
            return obtain(behind(l), core, piece, cause);
        }
        fill(l, core, piece, cause, found);
        return {piece.sector, 0};
    }

    // Fills level l, which has not the sector, from behind. The way there.
    template <class Depth>
    [[gnu::always_inline]] int fill(Depth l, unsigned core, Piece piece, Cause cause, Place found) {
        const Marks moving = obtain(behind(l), core, piece, cause);
        return place(l, core, piece.line, moving, found);
    }

    static void count(std::uint64_t& counter, Cause cause) {
        counter += cause != Cause::hardware_prefetch;
    }

    Marks from_memory(Piece piece, Cause cause) {
        ++memory_.reads[static_cast<std::size_t>(cause)];
        ++memory_.stream_reads[piece.stream];
        return {piece.sector, 0};
    }

    Marks hit(std::size_t l, Place found, Piece piece, Cause cause) {
        Level& level = levels_[l];
        count(level.counts().hits, cause);
        if (level.inclusion() == Inclusion::exclusive) {
            const Marks all = marks_of(level, found);
            level.release(found.set, found.way);
            return all;
        }
        level.touch(found.set, found.way);
        return {piece.sector, 0};
    }

    template <class Depth>
    [[gnu::always_inline]] int place(Depth l, unsigned core, Line line, Marks marks, Place at) {
        const Level& level = levels_[l];
        if (at.way >= 0) {
            level.changed(at.set, at.way) |= marks.changed;
            level.valid(at.set, at.way) |= marks.valid;
            level.touch(at.set, at.way);
            return at.way;
        }
        at.way = level.renew(at.set);
        if (level.tag(at.set, at.way) != empty_way) evict(l, core, at);
        level.tag(at.set, at.way) = line;
        level.changed(at.set, at.way) = marks.changed;
        level.valid(at.set, at.way) = marks.valid;
        return at.way;
    }

    template <class Depth>
    [[gnu::noinline]] void place(Depth l, unsigned core, Line line, Marks marks) {
        place(l, core, line, marks, look(l, core, line));
    }

    template <class Depth>
    [[gnu::always_inline]] void evict(Depth l, unsigned core, Place at) {
        Level& level = levels_[l];
        const Line line = level.tag(at.set, at.way);
        Marks marks = marks_of(level, at);
        if (level.inclusion() == Inclusion::inclusive) take_along(l, core, line, marks);
        if (marks.changed != 0) ++level.counts().write_backs;
        if (l + 1 < count_ && levels_[l + 1].inclusion() == Inclusion::exclusive) {
            place(behind(l), core, line, marks);
        } else if (marks.changed != 0) {
            write_back(behind(l), core, line, marks.changed);
        }
    }

    // To level l as a line of which only that is valid, or to memory.
    template <class Depth>
    [[gnu::noinline]] void write_back(Depth l, unsigned core, Line line, std::uint8_t changed) {
        if (l < count_) return place(l, core, line, {changed, changed});
        memory_.write_backs += static_cast<unsigned>(std::popcount(changed));
    }

    void take_along(std::size_t l, unsigned core, Line line, Marks& marks);

    // What others have changed of a line is written back; the line is taken from them, or stays.
    void from_others(unsigned core, Line line, bool take);
    [[nodiscard]] std::size_t shared_level(unsigned core, unsigned other) const;
    [[nodiscard]] bool held_anywhere(unsigned core, Piece piece) const;

    std::array<Level, most_levels> levels_;
    std::size_t count_;
    LineNumbers numbers_;
    MemoryCounts memory_;
    unsigned cores_;
    bool disturbed_ = false;
};

template <bool many_cores>
Hierarchy<many_cores>::Hierarchy(const CacheMachine& machine, const std::vector<CacheLevel>& levels)
    : count_(levels.size()),
      numbers_(static_cast<unsigned>(std::countr_zero(machine.line_bytes))),
      cores_(machine.cores) {
    for (std::size_t l = 0; l < count_; ++l) levels_[l] = Level(levels[l], machine);
}

template <bool many_cores>
Outcome Hierarchy<many_cores>::store_past(unsigned core, Piece piece) {
    if constexpr (many_cores) from_others(core, piece.line, true);
    if (held_anywhere(core, piece)) return use_apart(core, piece, Cause::allocate, true);
    for (Level& level : levels()) ++level.counts().misses;
    ++memory_.bypasses;
    return {Effect::past_caches, nullptr};
}

template <bool many_cores>
bool Hierarchy<many_cores>::held_anywhere(unsigned core, Piece piece) const {
    for (std::size_t l = 0; l < count_; ++l) {
        if (holds(levels_[l], look(l, core, piece.line), piece.sector)) return true;
    }
    return false;
}

template <bool many_cores>
void Hierarchy<many_cores>::take_along(std::size_t l, unsigned core, Line line, Marks& marks) {
    const auto sharing = [&](const Level& level) {
        return level.cores() == 0 ? cores_ : level.cores();
    };
    const unsigned served = sharing(levels_[l]);
    const auto first = static_cast<unsigned>(levels_[l].instance_of(core) * served);
    for (std::size_t k = 0; k < l; ++k) {
        for (unsigned c = first; c < first + served && c < cores_; c += sharing(levels_[k])) {
            const Place at = look(k, c, line);
            if (at.way < 0) continue;
            const Marks there = marks_of(levels_[k], at);
            marks.valid |= there.valid;
            marks.changed |= there.changed;
            levels_[k].release(at.set, at.way);
            disturbed_ |= k == 0;
        }
    }
}

template <bool many_cores>
std::size_t Hierarchy<many_cores>::shared_level(unsigned core, unsigned other) const {
    std::size_t l = 0;
    while (l < count_ && levels_[l].instance_of(core) != levels_[l].instance_of(other)) ++l;
    return l;
}

template <bool many_cores>
void Hierarchy<many_cores>::from_others(unsigned core, Line line, bool take) {
    for (unsigned other = 0; other < cores_; ++other) {
        if (other == core) continue;
        const std::size_t shared = shared_level(core, other);
        std::uint8_t changed = 0;
        for (std::size_t l = 0; l < shared; ++l) {
            const Place at = look(l, other, line);
            if (at.way < 0) continue;
            changed |= levels_[l].changed(at.set, at.way);
            levels_[l].changed(at.set, at.way) = 0;
            if (take) levels_[l].release(at.set, at.way);
        }
        if (changed != 0) write_back(Far{shared}, core, line, changed);
    }
}

template <bool many_cores>
void Hierarchy<many_cores>::prefetch(unsigned core, Piece piece) {
    const Place here = look(0, core, piece.line);
    if (holds(levels_[0], here, piece.sector)) return;
    if constexpr (many_cores) from_others(core, piece.line, false);
    const Marks moving = obtain(At<1>(), core, piece, Cause::hardware_prefetch);
    // Level 2 keeps what it was filled with.
    if (count_ > 1 && levels_[1].inclusion() != Inclusion::exclusive) return;
    place(At<0>(), core, piece.line, moving, here);
}

template <bool many_cores>
void Hierarchy<many_cores>::write_back_all() {
    std::unordered_map<Line, std::uint8_t> changed;
    for (Level& level : levels()) {
        level.each_line([&](Set set, int way) {
            std::uint8_t& marks = level.changed(set, way);
            if (marks != 0) changed[level.tag(set, way)] |= marks;
            marks = 0;
        });
    }
    for (const auto& [line, marks] : changed) {
        memory_.write_backs += static_cast<unsigned>(std::popcount(marks));
    }
}

template <bool many_cores>
void Hierarchy<many_cores>::clear() {
    for (Level& level : levels()) level.clear();
    numbers_.clear();
}

}  // namespace memgauge::cache
