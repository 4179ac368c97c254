#pragma once
// Passes of the inner loop of a nest, of which some are found to repeat the one before.

#include <algorithm>
#include <vector>

#include "cache/loops/loop.hpp"
#include "cache/loops/repeats.hpp"
#include "cache/simulation.hpp"

namespace memgauge::cache {

template <class Caches>
class Simulation<Caches>::Passes {
public:
    Passes(Simulation& simulation, unsigned core, const Nest& nest)
        : simulation_(simulation),
          core_(core),
          nest_(nest),
          references_(nest.references.begin(), nest.references.end()),
          after_(nest.after.begin(), nest.after.end()),
          may_repeat_(simulation.warps_ && nest.outer > least_alike && nest.count > 0 &&
                      sectors_in_pass() >= least_sectors) {}

    // Where the next pass begins.
    [[nodiscard]] const std::vector<StridedAccess>& references() const { return references_; }
    [[nodiscard]] const std::vector<StridedAccess>& after() const { return after_; }

    void run(std::uint64_t passes) {
        if constexpr (!Caches::one_core) return make(passes);
        while (passes > 0) {
            const std::uint64_t alike = std::min(passes, may_repeat_ ? alike_from_here() : passes);
            may_repeat_&& alike >= least_alike ? make_alike(alike) : make(alike);
            passes -= alike;
        }
    }

    // As if so many were made.
    void move(std::uint64_t passes) {
        for (std::size_t r = 0; r < nest_.outer_strides.size(); ++r) {
            references_[r].first.address +=
                passes * static_cast<std::uint64_t>(nest_.outer_strides[r]);
        }
        for (StridedAccess& one : after_) {
            one.first.address += passes * static_cast<std::uint64_t>(one.stride);
        }
    }

private:
    // One that comes to new sectors, one to compare, and more that repeat it.
    static constexpr std::uint64_t least_alike = 4;
    static constexpr double least_sectors = 64;
    static constexpr int most_looks = 2;

    [[nodiscard]] double sectors_in_pass() const {
        const auto bytes = static_cast<double>(simulation_.machine_.sector_bytes);
        double sectors = 0;
        for (const StridedAccess& one : nest_.references) {
            const auto length = static_cast<double>(length_of(one.stride));
            sectors += static_cast<double>(nest_.count) * std::min(1.0, length / bytes);
        }
        return sectors / simulation_.grain_.part.count;
    }

    [[nodiscard]] std::uint64_t alike_from_here() const {
        const std::uint64_t sector_bytes = simulation_.machine_.sector_bytes;
        std::uint64_t passes = ~0ull;
        for (std::size_t r = 0; r < nest_.outer_strides.size() && passes > 1; ++r) {
            passes = std::min(passes, passes_alike(references_[r], nest_.count,
                                                   nest_.outer_strides[r], sector_bytes));
        }
        for (const StridedAccess& one : after_) {
            passes = std::min(passes, passes_alike(one, 1, one.stride, sector_bytes));
        }
        return passes;
    }

    void make(std::uint64_t passes) {
        for (std::uint64_t pass = 0; pass < passes; ++pass) {
            inner_ = references_;
            simulation_.walk_inner(core_, inner_, nest_.count);
            for (const StridedAccess& one : after_) simulation_.one(core_, one.first);
            move(1);
        }
    }

    void make_alike(std::uint64_t passes) {
        if (!simulation_.attempts_.is_due()) return make(passes);
        const std::uint64_t missed = misses();
        make(1);
        --passes;
        if (!choose_sets(passes, sectors_in_pass() + static_cast<double>(misses() - missed))) {
            simulation_.attempts_.failed();
            return make(passes);
        }
        std::uint64_t repeated = 0;
        for (int look = 0; look < most_looks && repeated == 0 && passes > 1; ++look) {
            repeated = make_and_repeat(passes);
            passes -= 1 + repeated;
        }
        repeated > 0 ? simulation_.attempts_.succeeded() : simulation_.attempts_.failed();
        make(passes);
    }

    // Of all levels: sets that are looked into once more.
    [[nodiscard]] std::uint64_t misses() const {
        std::uint64_t misses = 0;
        for (auto& level : simulation_.caches_.levels()) misses += level.counts().misses;
        return misses;
    }

    // Whether what so many passes look into, of which each looks into that many, is much more than
    // what is compared.
    [[nodiscard]] bool choose_sets(std::uint64_t passes, double sets_of_pass) {
        std::vector<Pieces> pieces;
        pieces.reserve(references_.size() + after_.size());
        for (const StridedAccess& one : references_) {
            pieces.push_back(pieces_of(one, nest_.count, simulation_.machine_.line_bytes));
        }
        for (const StridedAccess& one : after_) {
            pieces.push_back({one.first.address, one.first.bytes, 0, 1});
        }
        simulation_.of_pass_.choose(simulation_.caches_, simulation_.grain_, pieces);
        const auto compared = static_cast<double>(simulation_.of_pass_.size());
        return static_cast<double>(passes - 1) * sets_of_pass > 2 * compared;
    }

    // One pass, and if it changes nothing those of the others that do the same; their number.
    std::uint64_t make_and_repeat(std::uint64_t passes) {
        if (simulation_.watched_ && !look_ahead()) {
            make(1);
            return 0;
        }
        const std::vector<std::uint64_t> before = simulation_.counted();
        simulation_.of_pass_.copy(simulation_.caches_);
        make(1);
        if (!simulation_.of_pass_.are_as_copied(simulation_.caches_)) return 0;
        const std::uint64_t repeated = go_on(passes - 1);
        simulation_.count_again(before, repeated);
        simulation_.skipped_ += repeated;
        return repeated;
    }

    // The references and the detectors, over passes of which no store is to bypass; how many.
    std::uint64_t go_on(std::uint64_t passes) {
        if (!simulation_.watched_) {
            move(passes);
            return passes;
        }
        for (std::uint64_t pass = 0; pass < passes; ++pass) {
            const std::optional<Detectors> next = look_ahead();
            if (!next) return pass;
            simulation_.detectors_[core_] = *next;
            move(1);
        }
        return passes;
    }

    [[nodiscard]] std::optional<Detectors> look_ahead() const {
        return after_quiet_pass(simulation_.detectors_[core_], simulation_.machine_, references_,
                                nest_.count, after_);
    }

    Simulation& simulation_;
    unsigned core_;
    const Nest& nest_;
    std::vector<StridedAccess> references_;
    std::vector<StridedAccess> inner_;
    std::vector<StridedAccess> after_;
    bool may_repeat_;
};

}  // namespace memgauge::cache
