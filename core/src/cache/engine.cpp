#include "cache/engine.hpp"

#include "cache/simulation_walk.hpp"

namespace memgauge::cache {

std::unique_ptr<Engine> make_engine(const CacheMachine& machine,
                                    const std::vector<CacheLevel>& levels, Part part) {
    const bool sectored = machine.sector_bytes < machine.line_bytes;
    if (machine.cores > 1) {
        return std::make_unique<Simulation<true, true>>(machine, levels, part);
    }
    if (sectored) return std::make_unique<Simulation<false, true>>(machine, levels, part);
    return std::make_unique<Simulation<false, false>>(machine, levels, part);
}

}  // namespace memgauge::cache
