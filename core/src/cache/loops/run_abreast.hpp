#pragma once
// Loops over references abreast, by their plan; see abreast.hpp.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "cache/loops/loop.hpp"

namespace memgauge::cache {

// `Caches` as Lockstep's, and besides
//   void find(Track&)  its line, by its address
//   void touch(Track&), touch_at(address)  in level 1, where the line is there
//   std::uint64_t steps_elsewhere(Track&, count)
template <class Caches>
class RunAbreast {
public:
    RunAbreast(const Caches& caches, const AbreastPlan& plan, Loop& loop)
        : caches_(caches), plan_(plan), loop_(loop) {}

    void run() {
        begin();
        // In step 0, nothing is left to be done.
        const auto first =
            std::ranges::upper_bound(plan_.events(), 0u, {}, &AbreastPlan::Event::step);
        auto event = first;
        const auto end = plan_.events().end();
        for (std::uint64_t begin = 0; begin < loop_.count; begin += plan_.period()) {
            for (; event != end && begin + event->step < loop_.count; ++event) {
                make(*event, begin + event->step);
            }
            event = plan_.events().begin();
        }
        settle();
        account();
    }

private:
    [[nodiscard]] bool joins(unsigned r) const { return (plan_.joining() >> r & 1) != 0; }

    [[nodiscard, gnu::always_inline]] static std::uint64_t at(const Track& track,
                                                              std::uint64_t step) {
        return track.begin + step * static_cast<std::uint64_t>(track.stride);
    }

    void begin() {
        for (std::size_t r = 0; r < loop_.size; ++r) {
            Track& track = loop_.tracks[r];
            track.access.address = track.begin;
            if (caches_.is_here(track.begin)) join(track, 0);
        }
    }

    [[gnu::always_inline]] void make(const AbreastPlan::Event& event, std::uint64_t step) {
        Track& track = loop_.tracks[event.reference];
        if (!event.parts) {
            track.access.address = at(track, step);
            join(track, step);
        } else if (!joins(event.reference)) {
            caches_.touch_at(at(track, step));
        } else if (track.set != nullptr) {
            caches_.touch(track);
        }
    }

    [[gnu::always_inline]] void join(Track& track, std::uint64_t step) {
        caches_.find(track);
        if (caches_.access(track) == Effect::past_caches) return go_past(track, step);
        ++real_;
    }

    [[gnu::noinline]] void go_past(const Track& track, std::uint64_t step) {
        const std::uint64_t steps =
            step == 0 ? steps_to_border(track.begin, track.stride, track.sector_bytes)
                      : track.steady_steps;
        past_ += std::min(steps, loop_.count - step);
    }

    // The accesses of the last step, of those whose order in sets matters.
    void settle() {
        for (unsigned left = plan_.meeting(); left != 0; left &= left - 1) {
            const auto r = static_cast<unsigned>(std::countr_zero(left));
            const Track& track = loop_.tracks[r];
            const std::uint64_t last = at(track, loop_.count - 1);
            if (!caches_.is_here(last) || (joins(r) && track.set == nullptr)) continue;
            caches_.touch_at(last);
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
    const AbreastPlan& plan_;
    Loop& loop_;
    std::uint64_t real_ = 0;  // accesses made for real
    std::uint64_t past_ = 0;  // steps of references whose stores bypass
};

}  // namespace memgauge::cache
