#pragma once
// Loops of an engine: what of them is simulated step by step, and what in lockstep.

#include <algorithm>

#include "cache/simulation.hpp"
#include "cache/simulation_warp.hpp"

namespace memgauge::cache {

template <class Caches>
void Simulation<Caches>::walk(unsigned core, const Nest& nest) {
    OuterLoop loop(*this, core, nest);
    if constexpr (Caches::one_core) {
        // What the detectors keep is not compared.
        const auto period =
            warps_ && !watched_ ? worth_skipping(loop, nest.outer) : std::optional<Period>();
        if (period) return warp(loop, nest.outer, *period, of_outer_);
    }
    loop.run(nest.outer);
}

template <class Caches>
void Simulation<Caches>::step(unsigned core, std::span<StridedAccess> references) {
    for (StridedAccess& reference : references) {
        one(core, reference.first);
        reference.first.address += static_cast<std::uint64_t>(reference.stride);
    }
}

template <class Caches>
void Simulation<Caches>::walk_inner(unsigned core, std::span<StridedAccess> references,
                                    std::uint64_t count) {
    if (!watched_) return many_steps(core, references, count, nullptr);
    std::uint64_t done = 0;
    if (collapse(machine_, references)) {
        Steadiness steadiness(machine_, references);
        done = until_steady(core, references, count, steadiness);
        const std::uint64_t left = count - done;
        if (left > steadiness.least_steps()) {
            const std::uint64_t steps = left - steadiness.steps_at_end();
            many_steps(core, references, steps, &steadiness);
            detectors_[core].skip(references, steps, steadiness);
            done += steps;
        }
    }
    for (; done < count; ++done) step(core, references);
}

template <class Caches>
void Simulation<Caches>::many_steps(unsigned core, std::span<StridedAccess> references,
                                    std::uint64_t count, const Steadiness* steadiness) {
    InnerLoop loop(*this, core, references, steadiness);
    if constexpr (Caches::one_core) {
        // Most loops are short, and quickly found to be so.
        const auto accesses = static_cast<double>(count * references.size());
        const bool is_long = accesses >= Looks::least_left(ways_);
        const auto period =
            warps_ && is_long ? worth_skipping(loop, count) : std::optional<Period>();
        if (period) {
            const std::uint64_t first = std::min(count, loop.steps_to_bypass());
            loop.run(first);
            return warp(loop, count - first, *period, of_inner_);
        }
    }
    loop.run(count);
}

template <class Caches>
std::uint64_t Simulation<Caches>::until_steady(unsigned core, std::span<StridedAccess> references,
                                               std::uint64_t count, Steadiness& steadiness) {
    const auto make = [&](const CacheAccess& access) -> StoreStream* {
        if (access.kind != AccessKind::store) {
            one(core, access);
            return nullptr;
        }
        StoreStream& stream = detectors_[core].store(access);
        store_in_stream(core, access, stream);
        return &stream;
    };
    return cache::until_steady(detectors_[core], references, count, steadiness, make);
}

// The address from which on a store that continues a stream, or none, is to bypass.
template <class Caches>
std::uint64_t Simulation<Caches>::bypass_from(unsigned core, const StoreStream* stream) const {
    const bool bypasses = stream != nullptr && !detectors_[core].strided_under_way();
    return bypasses ? detectors_[core].bypass_begin(*stream) : ~0ull;
}

template <class Caches>
void Simulation<Caches>::in_lockstep(unsigned core, std::span<StridedAccess> references,
                                     std::uint64_t count, const Steadiness* steadiness) {
    loop_.begin(count);
    for (std::size_t r = 0; r < references.size(); ++r) {
        StoreStream* const stream = steadiness == nullptr ? nullptr : steadiness->stream(r);
        loop_.add(references[r], stream, bypass_from(core, stream), machine_);
        references[r].first.address += count * static_cast<std::uint64_t>(references[r].stride);
    }
    caches_.run(grain_, core, loop_);
    caches_.levels()[0].counts().hits += loop_.hits;
    for (std::size_t kind = 0; kind < pieces_.size(); ++kind) pieces_[kind] += loop_.pieces[kind];
}

}  // namespace memgauge::cache
