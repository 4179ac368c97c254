#pragma once
// Warping: whole periods of a loop that are not simulated, and counted all the same.
//
// With set = line % sets in every level, a model of one core with least recently used lines knows
// no place from another: a state and accesses moved by s lines do the same, with all sets turned by
// s. So if all references of a loop go on alike, by s lines in a period of steps, and the state
// after a period is the one before it moved by s lines, then each further period does the same: it
// counts the same, and moves the state by s lines.
//
// Source: Morelli and Reineke, Warping Cache Simulation of Polyhedral Programs, PLDI 2022,
// doi:10.1145/3519939.3523714. There states are symbolic and cover more loops; here they are
// compared as they are.
//
// `Caches` of one core give
//   std::size_t depth()                          levels
//   std::size_t sets(level), ways(level)
//   void list_lines(level, set, Held* lines)         `ways` of them, the one used last first
//   void hold(level, set, const Held* lines)     instead of what the set holds

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/engine.hpp"

namespace memgauge::cache {

// A line of a set with its marks: its number, as memory counts lines, times `held_line`, and 16
// bits of marks as the caches keep them.
using Held = std::uint64_t;
inline constexpr Held held_line = 1u << 16;
inline constexpr Held none_held = ~Held{0};  // empty ways, behind all lines

// So many steps of a loop move all of its references by so many lines, into the same part of sets.
struct Period {
    std::uint64_t steps = 0;
    std::int64_t lines = 0;
};

// None where a period is longer than an area of line numbers: then areas may be left out.
std::optional<Period> period_of(std::int64_t stride, std::size_t line_bytes, unsigned parts);

inline std::size_t moved_set(std::size_t set, std::int64_t lines, std::size_t sets) {
    const auto count = static_cast<std::int64_t>(sets);
    return static_cast<std::size_t>((static_cast<std::int64_t>(set) + lines % count + count) %
                                    count);
}

// How a Snapshot is moved: what is held, and into which set.
struct ByLines {
    std::int64_t lines = 0;

    Held operator()(Held held) const { return held + static_cast<Held>(lines) * held_line; }
    [[nodiscard]] std::size_t set(std::size_t set, std::size_t sets) const {
        return moved_set(set, lines, sets);
    }
};

// What some sets of all levels hold.
class Snapshot {
public:
    // All sets of a part.
    template <class Caches>
    void choose_all(const Caches& caches, Part part);
    // Those of these lines that are in the part, and some others all over the levels.
    template <class Caches>
    void choose_some(const Caches& caches, Part part, std::span<const std::uint64_t> lines);
    // Of the sets chosen.
    [[nodiscard]] std::size_t ways() const;

    template <class Caches>
    void take(const Caches& caches);
    // Whether the caches now hold what they held, moved so.
    template <class Caches, class Move>
    [[nodiscard]] bool is_now(const Caches& caches, const Move& move) const;
    // Makes the caches hold that.
    template <class Caches, class Move>
    void put(Caches& caches, const Move& move) const;
    // Whether no line moved so is that.
    template <class Move>
    [[nodiscard]] bool is_without(Held held, const Move& move) const;

private:
    struct OfLevel {
        std::size_t sets = 0;
        std::size_t ways = 0;
        std::vector<std::size_t> chosen;
        std::vector<Held> held;
    };

    template <class Caches>
    void choose(const Caches& caches, Part part, std::size_t between);
    // `visit(level's number, set, what it held)`, moved so, for each set chosen, from the last
    // level on, until it is false.
    template <class Move, class Visit>
    bool each_moved(const Move& move, const Visit& visit) const;

    std::vector<OfLevel> levels_;
};

// When to look whether a loop has become steady, in lines that it accesses: seldom enough that
// looking costs little, whatever comes of it.
class Looks {
public:
    // Ways in all, and of those that a first look is at.
    Looks(double ways, std::size_t sampled) : ways_(ways), sampled_(static_cast<double>(sampled)) {}

    [[nodiscard]] double lines_to_next() const { return std::max(0.0, next_ - lines_); }
    // With fewer lines left, none is worth it.
    [[nodiscard]] static double least_left(double ways) { return 2 * ways; }

    void went(double lines) { lines_ += lines; }
    // In vain, at some sets, or at all.
    void looked_at_some();
    void looked_at_all();

private:
    double ways_;
    double sampled_;
    double lines_ = 0;
    double next_ = 0;
};

template <class Caches>
void Snapshot::choose(const Caches& caches, Part part, std::size_t between) {
    levels_.resize(caches.depth());
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        OfLevel& level = levels_[l];
        level = {.sets = caches.sets(l), .ways = caches.ways(l), .chosen = {}, .held = {}};
        for (std::size_t set = part.index; set < level.sets; set += part.count * between) {
            level.chosen.push_back(set);
        }
    }
}

template <class Caches>
void Snapshot::choose_all(const Caches& caches, Part part) {
    if (levels_.empty()) choose(caches, part, 1);
}

template <class Caches>
void Snapshot::choose_some(const Caches& caches, Part part, std::span<const std::uint64_t> lines) {
    constexpr std::size_t between = 61;
    choose(caches, part, between);
    for (OfLevel& level : levels_) {
        for (const std::uint64_t line : lines) {
            if (line % part.count == part.index) level.chosen.push_back(line % level.sets);
        }
    }
}

template <class Caches>
void Snapshot::take(const Caches& caches) {
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        OfLevel& level = levels_[l];
        level.held.resize(level.chosen.size() * level.ways);
        Held* to = level.held.data();
        for (const std::size_t set : level.chosen) {
            caches.list_lines(l, set, to);
            to += level.ways;
        }
    }
}

template <class Move, class Visit>
bool Snapshot::each_moved(const Move& move, const Visit& visit) const {
    std::vector<Held> moved;
    for (std::size_t l = levels_.size(); l-- > 0;) {
        const OfLevel& level = levels_[l];
        moved.resize(level.ways);
        const Held* from = level.held.data();
        for (const std::size_t set : level.chosen) {
            for (Held& held : moved) {
                held = *from == none_held ? none_held : move(*from);
                ++from;
            }
            if (!visit(l, move.set(set, level.sets), moved)) return false;
        }
    }
    return true;
}

template <class Caches, class Move>
bool Snapshot::is_now(const Caches& caches, const Move& move) const {
    std::vector<Held> now;
    return each_moved(move, [&](std::size_t l, std::size_t set, const std::vector<Held>& moved) {
        now.resize(moved.size());
        caches.list_lines(l, set, now.data());
        return now == moved;
    });
}

template <class Caches, class Move>
void Snapshot::put(Caches& caches, const Move& move) const {
    each_moved(move, [&](std::size_t l, std::size_t set, const std::vector<Held>& moved) {
        caches.hold(l, set, moved.data());
        return true;
    });
}

template <class Move>
bool Snapshot::is_without(Held held, const Move& move) const {
    return each_moved(
        move, [&](std::size_t /*level*/, std::size_t /*set*/, const std::vector<Held>& moved) {
            return std::ranges::find(moved, held) == moved.end();
        });
}

}  // namespace memgauge::cache
