#pragma once
// An engine: accesses are cut into pieces, watched by the detectors, and handed to the levels.

#include <algorithm>
#include <bit>
#include <vector>

#include "cache/detectors.hpp"
#include "cache/engine.hpp"
#include "cache/loops/repeats.hpp"
#include "cache/loops/steadiness.hpp"
#include "cache/loops/warp.hpp"
#include "cache/tracked.hpp"

namespace memgauge::cache {

__extension__ using WideSigned = __int128;

// `Caches`: Hierarchy or PackedCaches.
template <class Caches>
class Simulation final : public Engine {
public:
    // `options`: of the caches.
    template <class... Options>
    Simulation(const CacheMachine& machine, const std::vector<CacheLevel>& levels, Part part,
               Options... options);

    void access(unsigned core, std::span<const CacheAccess> accesses) override {
        if (plain_) {
            caches_.access(grain_, core, accesses, pieces_);
        } else {
            for (const CacheAccess& access : accesses) one(core, access);
        }
    }
    void walk(unsigned core, const Nest& nest) override;
    bool mark() override;
    [[nodiscard]] bool can_repeat(const Moves& moves, std::uint64_t times) const override;
    void repeat(const Moves& moves, std::uint64_t times) override;
    void write_back_all() override { caches_.write_back_all(); }
    void add_to(CacheCounts& counts) override;
    void reset_counts() override;
    void clear() override;
    [[nodiscard]] std::uint64_t skipped() const override { return skipped_; }

private:
    void one(unsigned core, const CacheAccess& access);
    void walk_inner(unsigned core, std::span<StridedAccess> references, std::uint64_t count);
    void step(unsigned core, std::span<StridedAccess> references);
    void in_lockstep(unsigned core, std::span<StridedAccess> references, std::uint64_t count,
                     const Steadiness* steadiness);
    [[nodiscard]] std::uint64_t bypass_from(unsigned core, const StoreStream* stream) const;
    // The same, with whole periods skipped where that pays.
    void many_steps(unsigned core, std::span<StridedAccess> references, std::uint64_t count,
                    const Steadiness* steadiness);
    // Steps made one by one until the detectors go on as they do.
    std::uint64_t until_steady(unsigned core, std::span<StridedAccess> references,
                               std::uint64_t count, Steadiness& steadiness);

    // Loops of which whole periods may be skipped; see loops/warp.hpp.
    class InnerLoop;
    class OuterLoop;
    // Passes that access the same sectors; see loops/repeats.hpp.
    class Passes;
    struct Snapshots {
        Snapshot all;
        Snapshot some;
    };
    static constexpr std::uint64_t least_periods = 4;

    template <class Walked>
    [[nodiscard]] std::optional<Period> worth_skipping(const Walked& loop,
                                                       std::uint64_t steps) const;
    template <class Walked>
    void warp(Walked& loop, std::uint64_t left, const Period& period, Snapshots& snapshots);
    template <class Walked>
    void skip(Walked& loop, const Period& period, std::uint64_t periods,
              const std::vector<std::uint64_t>& counts, const Snapshot& snapshot);
    [[nodiscard]] std::optional<Period> period_of(std::int64_t stride) const {
        return cache::period_of(stride, machine_.line_bytes, grain_.part.count);
    }
    [[nodiscard]] static std::vector<std::uint64_t> before(std::span<const std::uint64_t> lines,
                                                           const Period& period);
    [[nodiscard]] double lines_per_step(const StridedAccess& one) const;
    // All areas of so many steps of a reference, and of what lies as far on as so many bytes.
    void reach(const StridedAccess& one, std::uint64_t steps, std::int64_t bytes);
    // From the first to the last of so many periods.
    [[nodiscard]] std::int64_t to_last(const Period& period, std::uint64_t periods) const {
        return static_cast<std::int64_t>(periods - 1) * period.lines *
               static_cast<std::int64_t>(machine_.line_bytes);
    }
    template <class Visit>
    void each_count(const Visit& visit);
    [[nodiscard]] std::vector<std::uint64_t> counted();
    // So many times more what was counted since `before`.
    void count_again(const std::vector<std::uint64_t>& before, std::uint64_t times);

    [[nodiscard]] Piece at(std::uint64_t address, std::uint8_t stream) {
        return piece_at(caches_, grain_, address, stream);
    }
    void load(unsigned core, const CacheAccess& access, Cause cause);
    void store(unsigned core, const CacheAccess& access);
    void store_in_stream(unsigned core, const CacheAccess& access, StoreStream& stream);
    void after_miss(unsigned core, std::uint64_t address, std::uint8_t stream);
    void prefetch_ahead(unsigned core, const CacheAccess& access);

    CacheMachine machine_;
    Grain grain_;
    bool watched_;
    bool plain_;  // nothing watches, nothing is prefetched
    Caches caches_;
    Loop loop_;
    std::vector<Detectors> detectors_;
    PieceCounts pieces_{};
    bool warps_;
    double ways_ = 0;  // of all levels
    Snapshots of_inner_;
    Snapshots of_outer_;
    SetsOfLines<Caches> of_pass_;
    // See CacheModel::mark.
    struct Marked {
        Snapshot all;
        std::vector<std::uint64_t> counts;
        Detectors detectors;
        bool done = false;
    };
    Marked marked_;
    Attempts attempts_;
    std::uint64_t skipped_ = 0;
};

template <class Caches>
template <class... Options>
Simulation<Caches>::Simulation(const CacheMachine& machine, const std::vector<CacheLevel>& levels,
                               Part part, Options... options)
    : machine_(machine),
      grain_(machine, part),
      watched_(machine.store_streams.lines != 0 || machine.prefetchers.stride),
      plain_(!watched_ && !machine.prefetchers.next_line),
      caches_(machine, levels, options...),
      detectors_(machine.cores, Detectors(machine)),
      warps_(is_one_core_lru(machine, levels)) {
    for (std::size_t l = 0; l < levels.size(); ++l) {
        ways_ += static_cast<double>(caches_.sets(l) * caches_.ways(l));
    }
}

template <class Caches>
void Simulation<Caches>::one(unsigned core, const CacheAccess& access) {
    switch (access.kind) {
        case AccessKind::load:
            if (watched_) detectors_[core].load(access);
            load(core, access, Cause::load);
            break;
        case AccessKind::store:
            if (watched_) {
                store_in_stream(core, access, detectors_[core].store(access));
            } else {
                store(core, access);
            }
            break;
        case AccessKind::store_prefetch:
            if (watched_) detectors_[core].store_prefetch();
            load(core, access, Cause::software_prefetch);
            return;
    }
    if (machine_.prefetchers.stride) prefetch_ahead(core, access);
}

template <class Caches>
void Simulation<Caches>::load(unsigned core, const CacheAccess& access, Cause cause) {
    grain_.pieces(access.address, access.bytes, [&](std::uint64_t address) {
        ++pieces_[static_cast<std::size_t>(access.kind)];
        if (caches_.use(core, at(address, access.stream), cause, false).effect == Effect::missed) {
            after_miss(core, address, access.stream);
        }
    });
}

template <class Caches>
void Simulation<Caches>::store(unsigned core, const CacheAccess& access) {
    grain_.pieces(access.address, access.bytes, [&](std::uint64_t address) {
        ++pieces_[static_cast<std::size_t>(AccessKind::store)];
        if (caches_.use(core, at(address, access.stream), Cause::allocate, true).effect ==
            Effect::missed) {
            after_miss(core, address, access.stream);
        }
    });
}

template <class Caches>
void Simulation<Caches>::store_in_stream(unsigned core, const CacheAccess& access,
                                         StoreStream& stream) {
    grain_.pieces(access.address, access.bytes, [&](std::uint64_t address) {
        ++pieces_[static_cast<std::size_t>(AccessKind::store)];
        const bool past = detectors_[core].bypasses(stream, address);
        const Piece piece = at(address, access.stream);
        const Outcome outcome = past ? past_caches(caches_, grain_, core, piece, address, stream)
                                     : caches_.use(core, piece, Cause::allocate, true);
        if (outcome.effect == Effect::missed) after_miss(core, address, access.stream);
    });
}

template <class Caches>
void Simulation<Caches>::after_miss(unsigned core, std::uint64_t address, std::uint8_t stream) {
    if (!machine_.prefetchers.next_line) return;
    const std::uint64_t next = ((address >> grain_.line_bits) + 1) << grain_.line_bits;
    if (next >> page_bits != address >> page_bits) return;
    grain_.pieces(next, machine_.line_bytes,
                  [&](std::uint64_t sector) { caches_.prefetch(core, at(sector, stream)); });
}

template <class Caches>
void Simulation<Caches>::prefetch_ahead(unsigned core, const CacheAccess& access) {
    constexpr std::uint64_t third = 3;
    const Steps& steps = detectors_[core].steps(access.stream);
    if (steps.step == 0 || steps.run < third) return;
    // Steps of up to 2^48 bytes times 2^32 of them, possibly ending below address 0.
    const WideSigned target =
        static_cast<WideSigned>(access.address) +
        static_cast<WideSigned>(steps.step) * machine_.prefetchers.stride_ahead;
    const WideSigned page = access.address >> page_bits << page_bits;
    const WideSigned begin = std::max(target, page);
    const WideSigned end = std::min(target + access.bytes, page + (1 << page_bits));
    if (begin >= end) return;
    grain_.pieces(
        static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end - begin),
        [&](std::uint64_t address) { caches_.prefetch(core, at(address, access.stream)); });
}

template <class Caches>
void Simulation<Caches>::add_to(CacheCounts& counts) {
    counts.loads += pieces_[static_cast<std::size_t>(AccessKind::load)];
    counts.stores += pieces_[static_cast<std::size_t>(AccessKind::store)];
    counts.store_prefetches += pieces_[static_cast<std::size_t>(AccessKind::store_prefetch)];
    const auto levels = caches_.levels();
    for (std::size_t l = 0; l < levels.size(); ++l) {
        counts.levels[l].hits += levels[l].counts().hits;
        counts.levels[l].misses += levels[l].counts().misses;
        counts.levels[l].write_backs += levels[l].counts().write_backs;
    }
    const MemoryCounts& memory = caches_.memory();
    const auto read = [&](Cause cause) {
        return memory.reads[static_cast<std::size_t>(cause)] << grain_.sector_bits;
    };
    counts.load_read_bytes += read(Cause::load);
    counts.allocate_read_bytes += read(Cause::allocate);
    counts.software_prefetch_read_bytes += read(Cause::software_prefetch);
    counts.hardware_prefetch_read_bytes += read(Cause::hardware_prefetch);
    for (std::size_t s = 0; s < most_streams; ++s) {
        counts.stream_read_bytes[s] += memory.stream_reads[s] << grain_.sector_bits;
    }
    counts.write_back_bytes += memory.write_backs << grain_.sector_bits;
    counts.bypass_write_bytes += memory.bypasses << grain_.sector_bits;
}

template <class Caches>
void Simulation<Caches>::reset_counts() {
    pieces_.fill(0);
    for (auto& level : caches_.levels()) level.counts() = {};
    caches_.memory() = {};
    marked_.done = false;
}

template <class Caches>
void Simulation<Caches>::clear() {
    reset_counts();
    caches_.clear();
    detectors_.assign(machine_.cores, Detectors(machine_));
}

}  // namespace memgauge::cache
