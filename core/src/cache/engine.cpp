#include "cache/engine.hpp"

#include "cache/levels/hierarchy.hpp"
#include "cache/packed/caches.hpp"
#include "cache/simulation_moves.hpp"
#include "cache/simulation_walk.hpp"

namespace memgauge::cache {

std::unique_ptr<Engine> make_engine(const CacheMachine& machine,
                                    const std::vector<CacheLevel>& levels, Part part) {
    if (packs(machine, levels)) {
        return make_packed_engine(machine, levels, part, packed_isas().front());
    }
    if (machine.cores > 1) {
        return std::make_unique<Simulation<Hierarchy<true>>>(machine, levels, part);
    }
    return std::make_unique<Simulation<Hierarchy<false>>>(machine, levels, part);
}

std::unique_ptr<Engine> make_packed_engine(const CacheMachine& machine,
                                           const std::vector<CacheLevel>& levels, Part part,
                                           Isa isa) {
    return std::make_unique<Simulation<PackedCaches>>(machine, levels, part, part, isa);
}

}  // namespace memgauge::cache
