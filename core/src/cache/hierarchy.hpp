#pragma once
// The levels of all cores at work on one piece after another, by the rules of cache_model.hpp.

#include <array>
#include <bit>
#include <unordered_map>
#include <vector>

#include "cache/level.hpp"
#include "cache/line_numbers.hpp"

namespace memgauge::cache {

// Who asked memory first.
enum class Asker : std::uint8_t { load, allocate, software_prefetch, hardware_prefetch };

// What went over the border to memory, in sectors.
struct MemoryCounts {
    std::array<std::uint64_t, 4> reads{};  // by Asker
    std::array<std::uint64_t, most_streams> stream_reads{};
    std::uint64_t write_backs = 0;
    std::uint64_t bypasses = 0;
};

struct Piece {
    Line line = 0;
    std::uint8_t sector = 1;  // one bit
    std::uint8_t stream = 0;
};

// `many_cores`: lines of other cores are looked after. `sectored`: lines have more than one sector.
template <bool many_cores, bool sectored>
class Hierarchy {
public:
    Hierarchy(const CacheMachine& machine, const std::vector<CacheLevel>& levels);

    // Whether level 1 had it.
    bool load(unsigned core, const Piece& piece, Asker asker = Asker::load) {
        const Place found = look(0, core, piece.line);
        if (holds(levels_[0], found, piece.sector)) {
            ++levels_[0].counts().hits;
            levels_[0].touch(found.set, found.way);
            return true;
        }
        if constexpr (many_cores) from_others(core, piece.line, false);
        fetch(core, piece, asker, 0, found);
        return false;
    }

    bool store(unsigned core, const Piece& piece) {
        if constexpr (many_cores) from_others(core, piece.line, true);
        Place found = look(0, core, piece.line);
        const bool hit = holds(levels_[0], found, piece.sector);
        if (hit) {
            ++levels_[0].counts().hits;
            levels_[0].touch(found.set, found.way);
        } else {
            found.way = fetch(core, piece, Asker::allocate, 0, found);
        }
        levels_[0].changed(found.set, found.way) |= piece.sector;
        return hit;
    }

    enum class Stored : std::uint8_t { hit, missed, bypassed };
    // A store that bypasses where no level of the core has the sector.
    Stored store_past(unsigned core, const Piece& piece) {
        if constexpr (many_cores) from_others(core, piece.line, true);
        if (held_anywhere(core, piece)) {
            return store(core, piece) ? Stored::hit : Stored::missed;
        }
        for (Level& level : levels_) ++level.counts().misses;
        ++memory_.bypasses;
        return Stored::bypassed;
    }

    // By a prefetcher of the hardware.
    void prefetch(unsigned core, const Piece& piece);

    [[nodiscard]] LineNumbers& numbers() { return numbers_; }
    [[nodiscard]] std::vector<Level>& levels() { return levels_; }
    [[nodiscard]] MemoryCounts& memory() { return memory_; }

    void write_back_all();
    void clear();

private:
    // What a level's set has of a line: the way, or -1.
    struct Place {
        Set set = nullptr;
        int way = -1;
    };

    [[nodiscard]] Place look(std::size_t level, unsigned core, Line line) const {
        const Set set = levels_[level].set(core, line, numbers_);
        return {set, levels_[level].find(set, line)};
    }

    [[nodiscard]] static bool holds(const Level& level, Place at, std::uint8_t sector) {
        if constexpr (sectored) return at.way >= 0 && (level.valid(at.set, at.way) & sector) != 0;
        return at.way >= 0;
    }

    [[nodiscard]] static Marks marks_of(const Level& level, Place at) {
        const std::uint8_t changed = level.changed(at.set, at.way);
        if constexpr (sectored) return {level.valid(at.set, at.way), changed};
        return {1, changed};
    }

    static void add(const Level& level, Place at, Marks marks) {
        level.changed(at.set, at.way) |= marks.changed;
        if constexpr (sectored) level.valid(at.set, at.way) |= marks.valid;
    }

    // Brings a sector to `first`, which has looked for it in vain. The way there.
    int fetch(unsigned core, const Piece& piece, Asker asker, std::size_t first, Place found);
    // The levels behind `first` are asked; what moves and from which level, or from memory.
    std::size_t ask_behind(unsigned core, const Piece& piece, Asker asker, std::size_t first,
                           std::array<Place, most_levels>& found, Marks& moving);
    [[nodiscard]] bool held_anywhere(unsigned core, const Piece& piece) const;

    int place(std::size_t level, unsigned core, Line line, Marks marks, Place found);
    void evict(std::size_t level, unsigned core, Place at);
    void to_behind(std::size_t level, unsigned core, Line line, Marks marks);
    // To a level as a line of which only that is valid, or to memory.
    void write_back(std::size_t level, unsigned core, Line line, std::uint8_t changed);
    void take_along(std::size_t level, unsigned core, Line line, Marks& marks);

    // What others have changed of a line is written back; the line is taken from them, or stays.
    void from_others(unsigned core, Line line, bool take);
    [[nodiscard]] std::size_t shared_level(unsigned core, unsigned other) const;

    std::vector<Level> levels_;
    LineNumbers numbers_;
    MemoryCounts memory_;
    unsigned cores_;
};

template <bool many_cores, bool sectored>
Hierarchy<many_cores, sectored>::Hierarchy(const CacheMachine& machine,
                                           const std::vector<CacheLevel>& levels)
    : numbers_(static_cast<unsigned>(std::countr_zero(machine.line_bytes))), cores_(machine.cores) {
    levels_.reserve(levels.size());
    for (const CacheLevel& level : levels) levels_.emplace_back(level, machine);
}

template <bool many_cores, bool sectored>
std::size_t Hierarchy<many_cores, sectored>::ask_behind(unsigned core, const Piece& piece,
                                                        Asker asker, std::size_t first,
                                                        std::array<Place, most_levels>& found,
                                                        Marks& moving) {
    const bool counted = asker != Asker::hardware_prefetch;
    if (counted) ++levels_[first].counts().misses;
    std::size_t l = first + 1;
    for (; l < levels_.size(); ++l) {
        Level& level = levels_[l];
        found[l] = look(l, core, piece.line);
        if (holds(level, found[l], piece.sector)) {
            if (counted) ++level.counts().hits;
            if (level.inclusion() == Inclusion::exclusive) {
                moving = marks_of(level, found[l]);
                level.release(found[l].set, found[l].way);
            } else {
                level.touch(found[l].set, found[l].way);
            }
            return l;
        }
        if (counted) ++level.counts().misses;
    }
    ++memory_.reads[static_cast<std::size_t>(asker)];
    ++memory_.stream_reads[piece.stream];
    return l;
}

template <bool many_cores, bool sectored>
int Hierarchy<many_cores, sectored>::fetch(unsigned core, const Piece& piece, Asker asker,
                                           std::size_t first, Place here) {
    std::array<Place, most_levels> found;
    found[first] = here;
    Marks moving{piece.sector, 0};
    std::size_t l = ask_behind(core, piece, asker, first, found, moving);
    int way = -1;
    while (l-- > first) {
        if (levels_[l].inclusion() == Inclusion::exclusive) continue;
        way = place(l, core, piece.line, moving, found[l]);
        moving = {piece.sector, 0};
    }
    return way;
}

template <bool many_cores, bool sectored>
bool Hierarchy<many_cores, sectored>::held_anywhere(unsigned core, const Piece& piece) const {
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        if (holds(levels_[l], look(l, core, piece.line), piece.sector)) return true;
    }
    return false;
}

template <bool many_cores, bool sectored>
int Hierarchy<many_cores, sectored>::place(std::size_t l, unsigned core, Line line, Marks marks,
                                           Place at) {
    Level& level = levels_[l];
    if (at.way >= 0) {
        add(level, at, marks);
    } else {
        at.way = level.victim(at.set);
        if (level.tag(at.set, at.way) != empty_way) evict(l, core, at);
        level.tag(at.set, at.way) = line;
        level.changed(at.set, at.way) = marks.changed;
        if constexpr (sectored) level.valid(at.set, at.way) = marks.valid;
    }
    level.touch(at.set, at.way);
    return at.way;
}

template <bool many_cores, bool sectored>
void Hierarchy<many_cores, sectored>::evict(std::size_t l, unsigned core, Place at) {
    Level& level = levels_[l];
    const Line line = level.tag(at.set, at.way);
    Marks marks = marks_of(level, at);
    if (level.inclusion() == Inclusion::inclusive) take_along(l, core, line, marks);
    if (marks.changed != 0) ++level.counts().write_backs;
    to_behind(l, core, line, marks);
}

template <bool many_cores, bool sectored>
void Hierarchy<many_cores, sectored>::to_behind(std::size_t l, unsigned core, Line line,
                                                Marks marks) {
    const std::size_t behind = l + 1;
    if (behind < levels_.size() && levels_[behind].inclusion() == Inclusion::exclusive) {
        place(behind, core, line, marks, look(behind, core, line));
    } else if (marks.changed != 0) {
        write_back(behind, core, line, marks.changed);
    }
}

template <bool many_cores, bool sectored>
void Hierarchy<many_cores, sectored>::write_back(std::size_t l, unsigned core, Line line,
                                                 std::uint8_t changed) {
    if (l < levels_.size()) {
        place(l, core, line, {changed, changed}, look(l, core, line));
    } else {
        memory_.write_backs += static_cast<unsigned>(std::popcount(changed));
    }
}

template <bool many_cores, bool sectored>
void Hierarchy<many_cores, sectored>::take_along(std::size_t l, unsigned core, Line line,
                                                 Marks& marks) {
    const std::size_t instance = levels_[l].instance_of(core);
    const unsigned sharing = levels_[l].cores() == 0 ? cores_ : levels_[l].cores();
    const auto first = static_cast<unsigned>(instance * sharing);
    for (std::size_t k = 0; k < l; ++k) {
        const unsigned step = levels_[k].cores() == 0 ? cores_ : levels_[k].cores();
        for (unsigned c = first; c < first + sharing && c < cores_; c += step) {
            const Place at = look(k, c, line);
            if (at.way < 0) continue;
            const Marks there = marks_of(levels_[k], at);
            marks.valid |= there.valid;
            marks.changed |= there.changed;
            levels_[k].release(at.set, at.way);
        }
    }
}

template <bool many_cores, bool sectored>
std::size_t Hierarchy<many_cores, sectored>::shared_level(unsigned core, unsigned other) const {
    std::size_t l = 0;
    while (l < levels_.size() && levels_[l].instance_of(core) != levels_[l].instance_of(other)) ++l;
    return l;
}

template <bool many_cores, bool sectored>
void Hierarchy<many_cores, sectored>::from_others(unsigned core, Line line, bool take) {
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
        if (changed != 0) write_back(shared, core, line, changed);
    }
}

template <bool many_cores, bool sectored>
void Hierarchy<many_cores, sectored>::prefetch(unsigned core, const Piece& piece) {
    Place found = look(0, core, piece.line);
    if (holds(levels_[0], found, piece.sector)) return;
    if constexpr (many_cores) from_others(core, piece.line, false);
    std::size_t first = 0;
    if (levels_.size() > 1 && levels_[1].inclusion() != Inclusion::exclusive) {
        first = 1;
        found = look(1, core, piece.line);
        if (holds(levels_[1], found, piece.sector)) {
            levels_[1].touch(found.set, found.way);
            return;
        }
    }
    fetch(core, piece, Asker::hardware_prefetch, first, found);
}

template <bool many_cores, bool sectored>
void Hierarchy<many_cores, sectored>::write_back_all() {
    std::unordered_map<Line, std::uint8_t> changed;
    for (Level& level : levels_) {
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

template <bool many_cores, bool sectored>
void Hierarchy<many_cores, sectored>::clear() {
    for (Level& level : levels_) level.clear();
    numbers_.clear();
}

}  // namespace memgauge::cache
