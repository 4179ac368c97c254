#include "cache/engine.hpp"

#include <algorithm>
#include <bit>

#include "cache/simulation_walk.hpp"

namespace memgauge::cache {
namespace {

// As Traits::plain.
bool is_plain(const CacheMachine& machine, const std::vector<CacheLevel>& levels) {
    const LineNumbers numbers(static_cast<unsigned>(std::countr_zero(machine.line_bytes)));
    return !machine.prefetchers.next_line && !machine.prefetchers.stride &&
           std::ranges::all_of(levels, [&](const CacheLevel& level) {
               const std::size_t sets = sets_of(level, machine);
               return level.replacement == Replacement::lru &&
                      ways_of(level, machine) <= wide_slots && std::has_single_bit(sets) &&
                      sets <= numbers.lines_in_area();
           });
}

}  // namespace

std::unique_ptr<Engine> make_engine(const CacheMachine& machine,
                                    const std::vector<CacheLevel>& levels, Part part) {
    constexpr Traits general{};
    constexpr Traits one_core{.many_cores = false};
    constexpr Traits plain{.many_cores = false, .sectored = false, .plain = true};
    constexpr Traits plain_sectors{.many_cores = false, .sectored = true, .plain = true};
    if (machine.cores > 1) return std::make_unique<Simulation<general>>(machine, levels, part);
    if (!is_plain(machine, levels)) {
        return std::make_unique<Simulation<one_core>>(machine, levels, part);
    }
    if (machine.sector_bytes < machine.line_bytes) {
        return std::make_unique<Simulation<plain_sectors>>(machine, levels, part);
    }
    return std::make_unique<Simulation<plain>>(machine, levels, part);
}

}  // namespace memgauge::cache
