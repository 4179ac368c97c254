#pragma once
// A core's levels with packed sets, by the instructions that this processor has.

#include <cstring>
#include <span>

#include "cache/packed/state.hpp"
#include "memgauge/kernels.hpp"

namespace memgauge::cache {

// Whether packed sets will do: one core, least recently used lines, no prefetchers, at most 32 ways
// and two sectors, and a first level whose number of sets is a power of two.
bool packs(const CacheMachine& machine, const std::vector<CacheLevel>& levels);

// Those that packed sets are compiled for, best first.
std::vector<Isa> packed_isas();

class PackedCaches {
public:
    static constexpr bool sectored = true;
    static constexpr bool one_core = true;

    PackedCaches(const CacheMachine& machine, const std::vector<CacheLevel>& levels, Part part,
                 Isa isa);

    Outcome use(unsigned /*core*/, Piece piece, Cause cause, bool store) {
        return calls_->use(state_, piece, cause, store);
    }
    Outcome store_past(unsigned /*core*/, Piece piece) { return calls_->store_past(state_, piece); }
    // None prefetches.
    void prefetch(unsigned /*core*/, Piece /*piece*/) {}

    void access(const Grain& grain, unsigned /*core*/, std::span<const CacheAccess> accesses,
                PieceCounts& counts) {
        calls_->access(state_, grain, accesses, counts);
    }
    void run(const Grain& grain, unsigned /*core*/, Loop& loop) {
        calls_->run(state_, grain, loop);
    }

    [[nodiscard]] LineNumbers& numbers() { return state_.numbers; }
    [[nodiscard]] std::span<PackedLevel> levels() { return state_.in_use(); }
    [[nodiscard]] MemoryCounts& memory() { return state_.memory; }

    [[nodiscard]] std::size_t depth() const { return state_.count; }
    [[nodiscard]] std::size_t sets(std::size_t level) const { return state_.levels[level].sets; }
    [[nodiscard]] std::size_t ways(std::size_t level) const { return state_.levels[level].ways; }
    void list_lines(std::size_t level, std::size_t set, Held* lines) const {
        state_.list_lines(state_.levels[level], set, lines);
    }
    void hold(std::size_t level, std::size_t set, const Held* lines) {
        state_.hold(state_.levels[level], set, lines);
    }
    // See loops/repeats.hpp.
    using Copied = Word;
    void copy(std::size_t level, std::size_t set, Word* to) const {
        std::memcpy(to, words(level, set), ways(level) * sizeof(Word));
    }
    [[nodiscard]] bool is_copy(std::size_t level, std::size_t set, const Word* of) const {
        return std::memcmp(of, words(level, set), ways(level) * sizeof(Word)) == 0;
    }

    void write_back_all() { state_.write_back_all(); }
    void clear() { state_.clear(); }

private:
    [[nodiscard]] const Word* words(std::size_t level, std::size_t set) const {
        return state_.levels[level].set_at(set);
    }

    PackedState state_;
    const PackedCalls* calls_;
};

}  // namespace memgauge::cache
