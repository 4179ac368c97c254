#include "cache/levels/geometry.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace memgauge::cache {
namespace {

constexpr std::size_t most_sectors = 8;
constexpr std::size_t most_tree_ways = 64;
constexpr std::size_t page_bytes = std::size_t{1} << page_bits;

[[noreturn]] void refuse(const CacheMachine& machine, const std::string& why) {
    throw RequestError("cache model of " + machine.name + ": " + why);
}

[[noreturn]] void refuse(const CacheMachine& machine, const CacheLevel& level,
                         const std::string& why) {
    refuse(machine, "level " + level.name + ": " + why);
}

void check_line(const CacheMachine& m) {
    if (!std::has_single_bit(m.line_bytes) || m.line_bytes < 8 || m.line_bytes > page_bytes) {
        refuse(m, "lines of " + std::to_string(m.line_bytes) +
                      " bytes; give a power of two from 8 to 4096");
    }
    if (!std::has_single_bit(m.sector_bytes) || m.sector_bytes > m.line_bytes ||
        m.line_bytes / m.sector_bytes > most_sectors) {
        refuse(m, "sectors of " + std::to_string(m.sector_bytes) +
                      " bytes; give a power of two that makes 1 to 8 of a line");
    }
}

void check_size(const CacheMachine& m, const CacheLevel& level) {
    const std::size_t row = m.line_bytes * (level.ways == 0 ? 1 : level.ways);
    if (level.bytes == 0 || level.ways > level.bytes || level.bytes % row != 0) {
        refuse(m, level,
               std::to_string(level.bytes) + " bytes are no multiple of ways x line, " +
                   std::to_string(row) + " bytes");
    }
    if (level.bytes / m.line_bytes >= (std::size_t{1} << 30)) {
        refuse(m, level, "more than 2^30 lines; give fewer bytes");
    }
    const std::size_t ways = ways_of(level, m);
    if (level.replacement == Replacement::tree_plru &&
        (!std::has_single_bit(ways) || ways > most_tree_ways)) {
        refuse(m, level,
               std::to_string(ways) +
                   " ways; tree-plru wants a power of two of at most 64, or choose lru");
    }
}

void check_sharing(const CacheMachine& m, const CacheLevel& front, const CacheLevel& level) {
    const bool nested = level.cores == 0 || (front.cores != 0 && level.cores % front.cores == 0);
    if (!nested) {
        refuse(m, level,
               "shared by " + std::to_string(level.cores) +
                   " cores; give a multiple of those that share " + front.name + ", or 0 for all");
    }
}

void check_borrowing(const CacheMachine& m, const CacheLevel& level) {
    if (level.borrows_idle && level.cores == 0) {
        refuse(m, level, "shared by all cores, so that none is idle; leave borrows_idle out");
    }
}

void check_detectors(const CacheMachine& m) {
    if (m.store_streams.streams == 0 || m.store_streams.streams > 16) {
        refuse(m, std::to_string(m.store_streams.streams) + " store streams; give 1 to 16");
    }
}

void check(const CacheMachine& m) {
    check_line(m);
    if (m.levels.empty()) refuse(m, "no levels; give at least one");
    if (m.cores == 0 || m.cores > most_cores) {
        refuse(m, std::to_string(m.cores) + " cores; give 1 to " + std::to_string(most_cores));
    }
    if (m.levels.front().inclusion != Inclusion::non_inclusive) {
        refuse(m, m.levels.front(), "nothing in front of it to include or exclude");
    }
    for (std::size_t i = 0; i < m.levels.size(); ++i) {
        check_size(m, m.levels[i]);
        check_borrowing(m, m.levels[i]);
        if (i > 0) check_sharing(m, m.levels[i - 1], m.levels[i]);
    }
    check_detectors(m);
}

}  // namespace

std::size_t ways_of(const CacheLevel& level, const CacheMachine& machine) {
    return level.ways == 0 ? level.bytes / machine.line_bytes : level.ways;
}

std::size_t sets_of(const CacheLevel& level, const CacheMachine& machine) {
    return level.bytes / (machine.line_bytes * ways_of(level, machine));
}

std::size_t instances_of(const CacheLevel& level, const CacheMachine& machine) {
    return level.cores == 0 ? 1 : (machine.cores + level.cores - 1) / level.cores;
}

std::vector<CacheLevel> simulated_levels(const CacheMachine& machine) {
    check(machine);
    std::vector<CacheLevel> levels;
    for (const CacheLevel& level : machine.levels) {
        levels.push_back(level);
        const std::size_t idle = level.borrows_idle ? machine.idle_cores / level.cores : 0;
        if (idle == 0) continue;
        CacheLevel borrowed = level;
        borrowed.name += " borrowed";
        borrowed.bytes *= idle;
        borrowed.cores = 0;
        borrowed.inclusion = Inclusion::exclusive;
        borrowed.borrows_idle = false;
        check_size(machine, borrowed);
        levels.push_back(borrowed);
    }
    // What the borrowed instances serve, the levels behind them serve too.
    for (std::size_t i = 1; i < levels.size(); ++i) {
        check_sharing(machine, levels[i - 1], levels[i]);
    }
    if (levels.size() > most_levels) {
        refuse(machine, std::to_string(levels.size()) + " levels; give at most " +
                            std::to_string(most_levels));
    }
    return levels;
}

void check_parts(const CacheMachine& machine, const std::vector<CacheLevel>& levels,
                 unsigned threads) {
    if (threads == 0) refuse(machine, "0 threads; give at least 1");
    if (threads == 1) return;
    if (machine.prefetchers.next_line) {
        refuse(machine,
               "its next-line prefetcher reaches from one part of the sets into another; "
               "use 1 thread");
    }
    for (const CacheLevel& level : levels) {
        const std::size_t sets = sets_of(level, machine);
        if (sets % threads != 0) {
            refuse(machine, level,
                   std::to_string(sets) + " sets do not part over " + std::to_string(threads) +
                       " threads; give a number that divides them");
        }
    }
}

bool is_one_core_lru(const CacheMachine& machine, const std::vector<CacheLevel>& levels) {
    return machine.cores == 1 && !machine.prefetchers.next_line && !machine.prefetchers.stride &&
           std::ranges::all_of(levels, [](const CacheLevel& level) {
               return level.replacement == Replacement::lru;
           });
}

}  // namespace memgauge::cache
