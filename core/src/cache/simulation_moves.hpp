#pragma once
// Periods that a caller knows of: what was done since a mark, as if done again and again with
// memory that moves on; see loops/moves.hpp.

#include "cache/loops/moves.hpp"
#include "cache/simulation.hpp"
#include "cache/simulation_warp.hpp"

namespace memgauge::cache {

template <class Caches>
bool Simulation<Caches>::mark() {
    marked_.done = false;
    if constexpr (Caches::one_core) {
        if (!warps_) return false;
        marked_.all.choose_all(caches_, grain_.part);
        marked_.all.take(caches_);
        marked_.counts = counted();
        marked_.detectors = detectors_.front();
        marked_.done = true;
    }
    return marked_.done;
}

template <class Caches>
bool Simulation<Caches>::can_repeat(const Moves& moves, std::uint64_t times) const {
    if constexpr (Caches::one_core) {
        return marked_.done &&
               (!watched_ || detectors_.front().have_moved(marked_.detectors, moves)) &&
               marked_.all.is_now(caches_, ByMoves{moves}) &&
               marked_.all.is_without(ByMoves::gone, ByMoves{moves, times + 1});
    }
    return false;
}

template <class Caches>
void Simulation<Caches>::repeat(const Moves& moves, std::uint64_t times) {
    if constexpr (Caches::one_core) {
        for (const MovingMemory& memory : moves.memories()) {
            const std::uint64_t last = memory.begin + memory.bytes - 1;
            if (memory.shift != 0) caches_.numbers().reach(memory.begin, last);
        }
        marked_.all.put(caches_, ByMoves{moves, times + 1});
        detectors_.front().move(moves, times);
        count_again(marked_.counts, times);
        skipped_ += times;
        marked_.done = false;
    }
}

}  // namespace memgauge::cache
