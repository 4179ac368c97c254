#pragma once
// Repeats: passes of an inner loop that access the same sectors in the same order as the one
// before, such as those of a matrix product over columns of one sector. They are not simulated, and
// counted all the same.
//
// If a pass leaves the caches of a core as it found them, each further pass over the same sectors
// does the same. To see that, it is enough to compare the sets, in all levels, of the lines that
// the pass accesses: another set, or another line, is reached only by a line that was driven out
// of one of these and is none of the pass. The first level out of which such a line is driven has
// lost it for good, for only what is accessed moves to the front: that set is no longer the same.
//
// `Caches` of one core give, besides what warp.hpp asks for,
//   Copied                           what of a set is copied, for each way
//   void copy(level, set, Copied* to)
//   bool is_copy(level, set, const Copied* of)

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/detectors.hpp"
#include "cache/levels/grain.hpp"
#include "memgauge/cache_model.hpp"

namespace memgauge::cache {

// From this pass on, so many passes in which a reference that is moved by outer_stride after each
// accesses the same sectors; ~0: all.
std::uint64_t passes_alike(const StridedAccess& reference, std::uint64_t count,
                           std::int64_t outer_stride, std::uint64_t sector_bytes);

// The detectors after a pass, and what is accessed after it. None where a store of it may be to
// bypass: what that does is not only a matter of sectors.
std::optional<Detectors> after_quiet_pass(Detectors detectors, const CacheMachine& machine,
                                          std::vector<StridedAccess> references,
                                          std::uint64_t count,
                                          std::span<const StridedAccess> after);

// When to look whether passes repeat: the more seldom, the more often it was in vain.
class Attempts {
public:
    [[nodiscard]] bool is_due() {
        if (wait_ == 0) return true;
        --wait_;
        return false;
    }
    void succeeded() { pause_ = 0; }
    void failed() {
        constexpr unsigned longest = 127;
        pause_ = std::min(longest, 2 * pause_ + 1);
        wait_ = pause_;
    }

private:
    unsigned pause_ = 0;
    unsigned wait_ = 0;
};

// Pieces of memory, each `bytes` long and so far behind the one before.
struct Pieces {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::int64_t apart = 0;
    std::uint64_t count = 0;
};

// That cover all lines that a reference accesses in so many steps, and few others.
Pieces pieces_of(const StridedAccess& reference, std::uint64_t count, std::uint64_t line_bytes);

// The sets of some lines in all levels.
template <class Caches>
class SetsOfLines {
public:
    // In a part: of these, or all sets of a level that has not many more.
    void choose(const Caches& caches, const Grain& grain, std::span<const Pieces> pieces);
    [[nodiscard]] std::size_t size() const;

    void copy(const Caches& caches);
    [[nodiscard]] bool are_as_copied(const Caches& caches) const;

private:
    using Copied = typename Caches::Copied;

    struct OfLevel {
        std::size_t sets = 0;
        std::size_t ways = 0;
        bool all = false;
        std::vector<std::size_t> chosen;
        std::vector<std::uint64_t> chosen_at;  // by set, its number of a choice
        std::vector<Copied> copies;
    };

    void begin(const Caches& caches, Part part, std::uint64_t lines);
    void add(std::uint64_t line);

    std::vector<OfLevel> levels_;
    std::uint64_t choices_ = 0;
};

template <class Caches>
void SetsOfLines<Caches>::choose(const Caches& caches, const Grain& grain,
                                 std::span<const Pieces> pieces) {
    std::uint64_t lines = 0;
    for (const Pieces& some : pieces) {
        lines += some.count * (((some.bytes - 1) >> grain.line_bits) + 1);
    }
    begin(caches, grain.part, lines / grain.part.count);
    if (std::ranges::all_of(levels_, &OfLevel::all)) return;
    for (const Pieces& some : pieces) {
        for (std::uint64_t i = 0; i < some.count; ++i) {
            const std::uint64_t at = some.address + i * static_cast<std::uint64_t>(some.apart);
            const std::uint64_t last = (at + some.bytes - 1) >> grain.line_bits;
            for (std::uint64_t line = at >> grain.line_bits; line <= last; ++line) {
                if (grain.is_here(line << grain.line_bits)) add(line);
            }
        }
    }
}

template <class Caches>
void SetsOfLines<Caches>::begin(const Caches& caches, Part part, std::uint64_t lines) {
    ++choices_;
    levels_.resize(caches.depth());
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        OfLevel& level = levels_[l];
        level.sets = caches.sets(l);
        level.ways = caches.ways(l);
        level.chosen_at.resize(level.sets);
        const bool all = level.sets / part.count <= lines;
        if (all && level.all) continue;
        level.all = all;
        level.chosen.clear();
        for (std::size_t set = part.index; all && set < level.sets; set += part.count) {
            level.chosen.push_back(set);
        }
    }
}

template <class Caches>
void SetsOfLines<Caches>::add(std::uint64_t line) {
    for (OfLevel& level : levels_) {
        if (level.all) continue;
        const bool masked = (level.sets & (level.sets - 1)) == 0;
        const std::size_t set = masked ? line & (level.sets - 1) : line % level.sets;
        if (level.chosen_at[set] == choices_) continue;
        level.chosen_at[set] = choices_;
        level.chosen.push_back(set);
    }
}

template <class Caches>
std::size_t SetsOfLines<Caches>::size() const {
    std::size_t sets = 0;
    for (const OfLevel& level : levels_) sets += level.chosen.size();
    return sets;
}

template <class Caches>
void SetsOfLines<Caches>::copy(const Caches& caches) {
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        OfLevel& level = levels_[l];
        level.copies.resize(level.chosen.size() * level.ways);
        Copied* to = level.copies.data();
        for (const std::size_t set : level.chosen) {
            caches.copy(l, set, to);
            to += level.ways;
        }
    }
}

template <class Caches>
bool SetsOfLines<Caches>::are_as_copied(const Caches& caches) const {
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        const OfLevel& level = levels_[l];
        const Copied* of = level.copies.data();
        for (const std::size_t set : level.chosen) {
            if (!caches.is_copy(l, set, of)) return false;
            of += level.ways;
        }
    }
    return true;
}

}  // namespace memgauge::cache
