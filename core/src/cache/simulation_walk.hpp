#pragma once
// Loops of an engine: what of them is simulated step by step, and what in lockstep.

#include <algorithm>

#include "cache/lockstep.hpp"
#include "cache/simulation.hpp"

namespace memgauge::cache {

template <Traits traits>
struct Simulation<traits>::Tracked {
    Simulation& simulation;
    unsigned core;

    [[nodiscard]] bool is_here(std::uint64_t address) const { return simulation.is_here(address); }
    [[nodiscard]] bool take_disturbed() { return simulation.caches_.take_disturbed(); }

    [[gnu::always_inline]] Effect access(Track& track) {
        const Piece piece = simulation.piece_at(track.access.address, track.access.stream);
        track.line = piece.line;
        track.sector = piece.sector;
        const auto [effect, at] = made(track, piece);
        track.set = at.set;
        track.way = at.way;
        return effect;
    }

    [[gnu::always_inline]] Outcome made(Track& track, Piece piece) {
        const CacheAccess& access = track.access;
        if (access.kind == AccessKind::load) return caches().load(core, piece, Asker::load);
        if (access.kind == AccessKind::store_prefetch) {
            return caches().load(core, piece, Asker::software_prefetch);
        }
        if (access.address < track.bypass_from) return caches().store(core, piece);
        return simulation.past_caches(core, piece, access.address, *track.store_stream);
    }

    [[nodiscard]] bool is_there(const Track& track) const {
        return caches().is_nearest(track.line, track.sector, {track.set, track.way},
                                   track.access.kind == AccessKind::store);
    }

    [[gnu::always_inline]] bool again(const Track& track) {
        if (!is_there(track)) return false;
        caches().touch_nearest({track.set, track.way});
        return true;
    }

    [[nodiscard]] Hierarchy<traits>& caches() const { return simulation.caches_; }
};

template <Traits traits>
void Simulation<traits>::walk(unsigned core, const Nest& nest) {
    std::vector<StridedAccess> references(nest.references.begin(), nest.references.end());
    std::vector<StridedAccess> after(nest.after.begin(), nest.after.end());
    for (std::uint64_t i = 0; i < nest.outer; ++i) {
        for (std::size_t r = 0; r < references.size(); ++r) {
            const std::int64_t moved = nest.outer_strides.empty() ? 0 : nest.outer_strides[r];
            references[r].first.address =
                nest.references[r].first.address + i * static_cast<std::uint64_t>(moved);
        }
        walk_inner(core, references, nest.count);
        step(core, after);
    }
}

template <Traits traits>
void Simulation<traits>::step(unsigned core, std::span<StridedAccess> references) {
    for (StridedAccess& reference : references) {
        one(core, reference.first);
        reference.first.address += static_cast<std::uint64_t>(reference.stride);
    }
}

template <Traits traits>
bool Simulation<traits>::collapses(std::span<const StridedAccess> references) const {
    return !machine_.prefetchers.next_line && !machine_.prefetchers.stride &&
           references.size() <= most_streams &&
           std::ranges::all_of(references, [&](const StridedAccess& reference) {
               return stays_within_sectors(reference, machine_.sector_bytes);
           });
}

template <Traits traits>
void Simulation<traits>::walk_inner(unsigned core, std::span<StridedAccess> references,
                                    std::uint64_t count) {
    std::uint64_t done = 0;
    if (collapses(references)) {
        if (!watched_) return in_lockstep(core, references, count, nullptr);
        Steadiness steadiness(machine_, references);
        done = until_steady(core, references, count, steadiness);
        const std::uint64_t left = count - done;
        if (left > steadiness.least_steps()) {
            const std::uint64_t steps = left - steadiness.steps_at_end();
            in_lockstep(core, references, steps, &steadiness);
            detectors_[core].skip(references, steps, steadiness);
            done += steps;
        }
    }
    for (; done < count; ++done) step(core, references);
}

template <Traits traits>
std::uint64_t Simulation<traits>::until_steady(unsigned core, std::span<StridedAccess> references,
                                               std::uint64_t count, Steadiness& steadiness) {
    std::uint64_t done = 0;
    while (done < count && !steadiness.is_steady(detectors_[core])) {
        for (std::size_t r = 0; r < references.size(); ++r) {
            StridedAccess& reference = references[r];
            if (reference.first.kind == AccessKind::store) {
                StoreStream& stream = detectors_[core].store(reference.first);
                steadiness.saw(r, stream, stream.began != reference.first.address);
                store_in_stream(core, reference.first, stream);
            } else {
                one(core, reference.first);
            }
            reference.first.address += static_cast<std::uint64_t>(reference.stride);
        }
        steadiness.end_step();
        ++done;
    }
    return done;
}

template <Traits traits>
void Simulation<traits>::in_lockstep(unsigned core, std::span<StridedAccess> references,
                                     std::uint64_t count, const Steadiness* steadiness) {
    Tracked tracked{*this, core};
    static_cast<void>(caches_.take_disturbed());
    Lockstep<Tracked> loop(tracked, machine_.sector_bytes);
    for (std::size_t r = 0; r < references.size(); ++r) {
        StoreStream* const stream = steadiness == nullptr ? nullptr : steadiness->stream(r);
        const bool bypasses = stream != nullptr && !detectors_[core].strided_under_way();
        loop.add(references[r], stream, bypasses ? detectors_[core].bypass_begin(*stream) : ~0ull);
        references[r].first.address += count * static_cast<std::uint64_t>(references[r].stride);
    }
    loop.run(count);
    caches_.levels()[0].counts().hits += loop.hits();
    for (std::size_t kind = 0; kind < pieces_.size(); ++kind) {
        pieces_[kind] += loop.pieces(static_cast<AccessKind>(kind));
    }
}

}  // namespace memgauge::cache
