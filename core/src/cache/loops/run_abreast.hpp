#pragma once
// Loops over references abreast, by their plan; see abreast.hpp.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "cache/loops/loop.hpp"

namespace memgauge::cache {

// `Caches` as Lockstep's, and besides
//   void touch(Track&), touch_at(address)  in level 1, where the line is there
//   std::uint64_t steps_elsewhere(Track&, count)
template <class Caches>
class RunAbreast {
public:
    RunAbreast(const Caches& caches, Loop& loop)
        : caches_(caches), loop_(loop), joining_(loop.abreast.joining()) {}

    void run() {
        const AbreastPlan& plan = loop_.abreast;
        make(0, (1u << loop_.size) - 1, plan.begin()->parting);
        const AbreastPlan::Turn* turn = plan.begin() + 1;
        for (std::uint64_t begin = 0; begin < loop_.count; begin += plan.period()) {
            for (; turn != plan.end(); ++turn) {
                const std::uint64_t step = begin + turn->step;
                if (step >= loop_.count) break;
                make(step, turn->joining, turn->parting);
            }
            turn = plan.begin();
        }
        settle();
        account();
    }

private:
    [[gnu::always_inline]] void make(std::uint64_t step, unsigned joining, unsigned parting) {
        for (unsigned left = joining | parting; left != 0; left &= left - 1) {
            const auto r = static_cast<unsigned>(std::countr_zero(left));
            Track& track = loop_.tracks[r];
            if ((joining >> r & 1) != 0) join(track, step);
            if ((parting >> r & 1) != 0) part(track, (joining_ >> r & 1) != 0);
        }
    }

    [[gnu::always_inline]] void join(Track& track, std::uint64_t step) {
        track.access.address += track.advance;
        caches_.follow(track);
        track.set = nullptr;
        if (!caches_.is_here(track.access.address)) return;
        if (caches_.access(track) == Effect::past_caches) return go_past(track, step);
        ++real_;
    }

    // One that only parts goes on to the sector from which it will part next.
    [[gnu::always_inline]] void part(Track& track, bool joins) {
        if (joins) {
            if (track.set != nullptr) caches_.touch(track);
            return;
        }
        if (caches_.is_here(track.access.address)) caches_.touch(track);
        track.access.address += track.advance;
        caches_.follow(track);
    }

    [[gnu::noinline]] void go_past(const Track& track, std::uint64_t step) {
        const std::uint64_t steps =
            step == 0 ? steps_to_border(track.begin, track.stride, track.sector_bytes)
                      : track.steady_steps;
        past_ += std::min(steps, loop_.count - step);
    }

    // The accesses of the last step, of those whose order in sets matters.
    void settle() {
        for (unsigned left = loop_.abreast.meeting(); left != 0; left &= left - 1) {
            const auto r = static_cast<unsigned>(std::countr_zero(left));
            const Track& track = loop_.tracks[r];
            if ((joining_ >> r & 1) != 0) {
                if (track.set != nullptr) caches_.touch(track);
                continue;
            }
            const std::uint64_t address =
                track.begin + (loop_.count - 1) * static_cast<std::uint64_t>(track.stride);
            if (caches_.is_here(address)) caches_.touch_at(address);
        }
    }

    void account() {
        loop_.pieces = {};
        loop_.hits = 0 - past_ - real_;
        for (std::size_t r = 0; r < loop_.size; ++r) {
            const Track& track = loop_.tracks[r];
            const std::uint64_t here = loop_.count - caches_.steps_elsewhere(track, loop_.count);
            loop_.pieces[static_cast<std::size_t>(track.access.kind)] += here;
            loop_.hits += here;
        }
    }

    Caches caches_;
    Loop& loop_;
    unsigned joining_;
    std::uint64_t real_ = 0;  // accesses made for real
    std::uint64_t past_ = 0;  // steps of references whose stores bypass
};

}  // namespace memgauge::cache
