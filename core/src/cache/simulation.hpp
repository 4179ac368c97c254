#pragma once
// An engine: accesses are cut into pieces, watched by the detectors, and handed to the levels.

#include <bit>
#include <vector>

#include "cache/detectors.hpp"
#include "cache/engine.hpp"
#include "cache/hierarchy.hpp"
#include "cache/steadiness.hpp"

namespace memgauge::cache {

template <Traits traits>
class Simulation final : public Engine {
public:
    Simulation(const CacheMachine& machine, const std::vector<CacheLevel>& levels, Part part);

    void access(unsigned core, std::span<const CacheAccess> accesses) override {
        if (plain_) {
            for (const CacheAccess& access : accesses) one_plain(core, access);
        } else {
            for (const CacheAccess& access : accesses) one(core, access);
        }
    }
    void walk(unsigned core, const Nest& nest) override;
    void write_back_all() override { caches_.write_back_all(); }
    void add_to(CacheCounts& counts) override;
    void reset_counts() override;
    void clear() override;

private:
    void one(unsigned core, const CacheAccess& access);
    // The same where nothing watches.
    [[gnu::always_inline]] void one_plain(unsigned core, const CacheAccess& access);
    // Lockstep's caches.
    struct Tracked;
    void walk_inner(unsigned core, std::span<StridedAccess> references, std::uint64_t count);
    void step(unsigned core, std::span<StridedAccess> references);
    void in_lockstep(unsigned core, std::span<StridedAccess> references, std::uint64_t count,
                     const Steadiness* steadiness);
    [[nodiscard]] bool collapses(std::span<const StridedAccess> references) const;
    // Steps made one by one until the detectors go on as they do.
    std::uint64_t until_steady(unsigned core, std::span<StridedAccess> references,
                               std::uint64_t count, Steadiness& steadiness);

    // Calls each(address) for the begin of each piece that lies in this part.
    template <class Each>
    void pieces(std::uint64_t address, std::uint64_t bytes, const Each& each);
    [[nodiscard]] bool is_here(std::uint64_t address) const {
        return part_.count == 1 || (address >> line_bits_) % part_.count == part_.index;
    }
    [[nodiscard]] Piece piece_at(std::uint64_t address, unsigned stream);

    void load(unsigned core, const CacheAccess& access, Asker asker);
    void store(unsigned core, const CacheAccess& access);
    void store_in_stream(unsigned core, const CacheAccess& access, StoreStream& stream);
    // Part of a write past the caches, or the begin of one, or a store as any.
    Outcome past_caches(unsigned core, Piece piece, std::uint64_t address, StoreStream& stream);
    void after_miss(unsigned core, std::uint64_t address, unsigned stream);
    void prefetch_ahead(unsigned core, const CacheAccess& access);

    CacheMachine machine_;
    Part part_;
    unsigned line_bits_;
    unsigned sector_bits_;
    unsigned sectors_mask_;
    bool watched_;
    bool plain_;  // nothing watches, nothing is prefetched
    Hierarchy<traits> caches_;
    std::vector<Detectors> detectors_;
    std::array<std::uint64_t, 3> pieces_{};  // by AccessKind
};

template <Traits traits>
Simulation<traits>::Simulation(const CacheMachine& machine, const std::vector<CacheLevel>& levels,
                               Part part)
    : machine_(machine),
      part_(part),
      line_bits_(static_cast<unsigned>(std::countr_zero(machine.line_bytes))),
      sector_bits_(static_cast<unsigned>(std::countr_zero(machine.sector_bytes))),
      sectors_mask_(static_cast<unsigned>(machine.line_bytes / machine.sector_bytes - 1)),
      watched_(machine.store_streams.lines != 0 || machine.prefetchers.stride),
      plain_(!watched_ && !machine.prefetchers.next_line),
      caches_(machine, levels),
      detectors_(machine.cores, Detectors(machine)) {}

template <Traits traits>
template <class Each>
void Simulation<traits>::pieces(std::uint64_t address, std::uint64_t bytes, const Each& each) {
    const std::uint64_t last = (address + bytes - 1) >> sector_bits_;
    for (std::uint64_t sector = address >> sector_bits_; sector <= last; ++sector) {
        const std::uint64_t begin = sector << sector_bits_;
        if (is_here(begin)) each(begin);
    }
}

template <Traits traits>
Piece Simulation<traits>::piece_at(std::uint64_t address, unsigned stream) {
    if constexpr (!traits.sectored) {
        return {caches_.numbers().number(address), 1, static_cast<std::uint8_t>(stream)};
    }
    const auto sector = static_cast<unsigned>(address >> sector_bits_) & sectors_mask_;
    return {caches_.numbers().number(address), static_cast<std::uint8_t>(1u << sector),
            static_cast<std::uint8_t>(stream)};
}

template <Traits traits>
inline void Simulation<traits>::one_plain(unsigned core, const CacheAccess& access) {
    const std::uint64_t last = access.address + access.bytes - 1;
    if ((access.address ^ last) >> sector_bits_ != 0) return one(core, access);
    if (!is_here(access.address)) return;
    const Piece piece = piece_at(access.address, access.stream);
    ++pieces_[static_cast<std::size_t>(access.kind)];
    if (access.kind == AccessKind::store) {
        caches_.store(core, piece);
    } else {
        caches_.load(core, piece,
                     access.kind == AccessKind::load ? Asker::load : Asker::software_prefetch);
    }
}

template <Traits traits>
void Simulation<traits>::one(unsigned core, const CacheAccess& access) {
    switch (access.kind) {
        case AccessKind::load:
            if (watched_) detectors_[core].load(access);
            load(core, access, Asker::load);
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
            load(core, access, Asker::software_prefetch);
            return;
    }
    if (machine_.prefetchers.stride) prefetch_ahead(core, access);
}

template <Traits traits>
void Simulation<traits>::load(unsigned core, const CacheAccess& access, Asker asker) {
    pieces(access.address, access.bytes, [&](std::uint64_t address) {
        ++pieces_[static_cast<std::size_t>(access.kind)];
        if (caches_.load(core, piece_at(address, access.stream), asker).effect == Effect::missed) {
            after_miss(core, address, access.stream);
        }
    });
}

template <Traits traits>
void Simulation<traits>::store(unsigned core, const CacheAccess& access) {
    pieces(access.address, access.bytes, [&](std::uint64_t address) {
        ++pieces_[static_cast<std::size_t>(AccessKind::store)];
        if (caches_.store(core, piece_at(address, access.stream)).effect == Effect::missed) {
            after_miss(core, address, access.stream);
        }
    });
}

template <Traits traits>
void Simulation<traits>::store_in_stream(unsigned core, const CacheAccess& access,
                                         StoreStream& stream) {
    pieces(access.address, access.bytes, [&](std::uint64_t address) {
        ++pieces_[static_cast<std::size_t>(AccessKind::store)];
        const bool past = detectors_[core].bypasses(stream, address);
        const Piece piece = piece_at(address, access.stream);
        const auto [effect, at] =
            past ? past_caches(core, piece, address, stream) : caches_.store(core, piece);
        if (effect == Effect::missed) after_miss(core, address, access.stream);
    });
}

template <Traits traits>
Outcome Simulation<traits>::past_caches(unsigned core, Piece piece, std::uint64_t address,
                                        StoreStream& stream) {
    const std::uint64_t sector = address >> sector_bits_;
    if (stream.bypassed_sector == sector) return {Effect::past_caches, {}};
    const Outcome outcome = caches_.store_past(core, piece);
    if (outcome.effect == Effect::past_caches) stream.bypassed_sector = sector;
    return outcome;
}

template <Traits traits>
void Simulation<traits>::after_miss(unsigned core, std::uint64_t address, unsigned stream) {
    if (!machine_.prefetchers.next_line) return;
    const std::uint64_t next = ((address >> line_bits_) + 1) << line_bits_;
    if (next >> page_bits != address >> page_bits) return;
    pieces(next, machine_.line_bytes,
           [&](std::uint64_t sector) { caches_.prefetch(core, piece_at(sector, stream)); });
}

template <Traits traits>
void Simulation<traits>::prefetch_ahead(unsigned core, const CacheAccess& access) {
    constexpr std::uint64_t third = 3;
    const Steps& steps = detectors_[core].steps(access.stream);
    if (steps.step == 0 || steps.run < third) return;
    const auto ahead = static_cast<std::uint64_t>(steps.step) * machine_.prefetchers.stride_ahead;
    const std::uint64_t target = access.address + ahead;
    pieces(target, access.bytes, [&](std::uint64_t address) {
        // The first piece begins where the access does.
        const std::uint64_t begin = address < target ? target : address;
        if (begin >> page_bits != access.address >> page_bits) return;
        caches_.prefetch(core, piece_at(address, access.stream));
    });
}

template <Traits traits>
void Simulation<traits>::add_to(CacheCounts& counts) {
    counts.loads += pieces_[static_cast<std::size_t>(AccessKind::load)];
    counts.stores += pieces_[static_cast<std::size_t>(AccessKind::store)];
    counts.store_prefetches += pieces_[static_cast<std::size_t>(AccessKind::store_prefetch)];
    const std::span<Level> levels = caches_.levels();
    for (std::size_t l = 0; l < levels.size(); ++l) {
        counts.levels[l].hits += levels[l].counts().hits;
        counts.levels[l].misses += levels[l].counts().misses;
        counts.levels[l].write_backs += levels[l].counts().write_backs;
    }
    const MemoryCounts& memory = caches_.memory();
    const auto read = [&](Asker asker) {
        return memory.reads[static_cast<std::size_t>(asker)] << sector_bits_;
    };
    counts.load_read_bytes += read(Asker::load);
    counts.allocate_read_bytes += read(Asker::allocate);
    counts.software_prefetch_read_bytes += read(Asker::software_prefetch);
    counts.hardware_prefetch_read_bytes += read(Asker::hardware_prefetch);
    for (std::size_t s = 0; s < most_streams; ++s) {
        counts.stream_read_bytes[s] += memory.stream_reads[s] << sector_bits_;
    }
    counts.write_back_bytes += memory.write_backs << sector_bits_;
    counts.bypass_write_bytes += memory.bypasses << sector_bits_;
}

template <Traits traits>
void Simulation<traits>::reset_counts() {
    pieces_.fill(0);
    for (Level& level : caches_.levels()) level.counts() = {};
    caches_.memory() = {};
}

template <Traits traits>
void Simulation<traits>::clear() {
    reset_counts();
    caches_.clear();
    detectors_.assign(machine_.cores, Detectors(machine_));
}

}  // namespace memgauge::cache
