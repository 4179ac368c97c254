#pragma once
// The caches as Lockstep and a list of accesses use them.

#include <span>

#include "cache/levels/grain.hpp"
#include "cache/loops/lockstep.hpp"
#include "cache/loops/run_abreast.hpp"

namespace memgauge::cache {

// A piece of a store that bypasses: part of a write past the caches, or the begin of one, or a
// store as any.
template <class Caches>
Outcome past_caches(Caches& caches, const Grain& grain, unsigned core, Piece piece,
                    std::uint64_t address, StoreStream& stream) {
    const std::uint64_t sector = address >> grain.sector_bits;
    if (stream.bypassed_sector == sector) return {Effect::past_caches, nullptr};
    const Outcome outcome = caches.store_past(core, piece);
    if (outcome.effect == Effect::past_caches) stream.bypassed_sector = sector;
    return outcome;
}

template <class Caches>
class Tracked {
public:
    using Lanes = typename Caches::Lanes;
    static constexpr bool may_be_plain = Caches::may_be_plain;

    Tracked(Caches& caches, const Grain& grain, unsigned core)
        : caches_(caches), grain_(grain), core_(core) {}

    [[nodiscard, gnu::always_inline]] bool is_here(std::uint64_t address) const {
        return grain_.is_here(address);
    }
    [[nodiscard]] bool is_never_here(const Track& track) const {
        const auto around = static_cast<std::int64_t>(grain_.part.count) << grain_.line_bits;
        return track.stride % around == 0 && !is_here(track.access.address);
    }
    [[nodiscard, gnu::always_inline]] bool take_disturbed() { return caches_.take_disturbed(); }

    [[nodiscard]] PlainLevel plain_level() const {
        PlainLevel level = caches_.plain_level();
        level.line_bits = grain_.line_bits;
        level.part = grain_.part;
        return level;
    }
    // Bits of the references that may ever use a set of level 1 that another uses for another line.
    [[nodiscard]] unsigned meeting(const Loop& loop) const {
        return meeting_in(loop, plain_level());
    }
    // Steps of a reference that are simulated elsewhere.
    [[nodiscard]] std::uint64_t steps_elsewhere(const Track& track, std::uint64_t count) const {
        return count - grain_.steps_here(track.begin, track.stride, count);
    }

    // After the track came to another sector: which line that is of.
    [[gnu::always_inline]] void follow(Track& track) {
        if (Caches::sectored) track.sector = grain_.sector(track.access.address);
        if (track.in_area != 0) [[likely]] {
            --track.in_area;
            track.line += track.line_step;
        } else {
            track.line = caches_.numbers().number(track.access.address);
            if (track.line_step != 0) count_area(track);
        }
    }

    // The same, of a track that is not followed from sector to sector.
    [[gnu::always_inline]] void find(Track& track) {
        if (Caches::sectored) track.sector = grain_.sector(track.access.address);
        track.line = caches_.numbers().number(track.access.address);
    }

    [[gnu::always_inline]] Effect access(Track& track) {
        const CacheAccess& access = track.access;
        const Piece piece{track.line, Caches::sectored ? track.sector : std::uint8_t{1},
                          access.stream};
        const Outcome outcome =
            access.address < track.bypass_from
                ? caches_.use(core_, piece, cause_of(access.kind), is_store(track))
                : past_caches(caches_, grain_, core_, piece, access.address, *track.store_stream);
        track.set = outcome.set;
        return outcome.effect;
    }

    // Puts the track's line, which is there, in front of its set.
    [[gnu::always_inline]] void touch(const Track& track) { caches_.touch(track.line); }
    [[gnu::always_inline]] void touch_at(std::uint64_t address) {
        caches_.touch(caches_.numbers().number(address));
    }

    [[nodiscard, gnu::always_inline]] bool is_there(const Track& track) const {
        return caches_.is_nearest(track.set, track.line, track.sector, is_store(track));
    }

    [[gnu::always_inline]] bool again(const Track& track) {
        return caches_.again(track.set, track.line, track.sector, is_store(track));
    }

private:
    [[gnu::noinline]] static void count_area(Track& track) {
        constexpr std::uint64_t area_bytes = std::uint64_t{1} << LineNumbers::area_bits;
        const std::uint64_t at = track.access.address & (area_bytes - 1);
        track.in_area =
            track.stride > 0 ? (area_bytes - 1 - at) / track.advance : at / (0 - track.advance);
    }

    [[nodiscard]] static bool is_store(const Track& track) {
        return track.access.kind == AccessKind::store;
    }

    Caches& caches_;
    const Grain& grain_;
    unsigned core_;
};

template <class Caches>
void run_lockstep(Caches& caches, const Grain& grain, unsigned core, Loop& loop) {
    static_cast<void>(caches.take_disturbed());
    Tracked<Caches> tracked(caches, grain, core);
    if constexpr (Caches::may_be_plain) {
        if (const AbreastPlan* plan = loop.abreast.plan(loop, tracked.plain_level())) {
            return RunAbreast(tracked, *plan, loop).run();
        }
    }
    Lockstep(tracked, loop).run();
}

// Where nothing watches.
template <class Caches>
void make_accesses(Caches& caches, const Grain& grain, unsigned core,
                   std::span<const CacheAccess> accesses, PieceCounts& counts) {
    for (const CacheAccess& access : accesses) {
        grain.pieces(access.address, access.bytes, [&](std::uint64_t address) {
            ++counts[static_cast<std::size_t>(access.kind)];
            caches.use(core, piece_at(caches, grain, address, access.stream), cause_of(access.kind),
                       access.kind == AccessKind::store);
        });
    }
}

}  // namespace memgauge::cache
