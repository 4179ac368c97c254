#pragma once
// Loops over references, without touching what would stay as it is.
//
// An access alters nothing if its line is where the last access to that set of level 1 went, and
// has its marks: it is a hit and no more. So only two kinds of accesses are made for real: those of
// a reference that comes to another sector, and those of a reference of whose set another line was
// used since ("stale"). After a step in whose end level 1 still holds all that it accessed, with
// their marks, one more such step would be hits only and leave the lines in the order in which they
// are: then all steps up to the next border of a sector are one.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "cache/loops/loop.hpp"
#include "cache/loops/schedule.hpp"

namespace memgauge::cache {

// The loop; `Caches` makes the accesses:
//   void follow(Track&)     after it came to another sector, finds its line
//   bool is_here(address)   whether its set is simulated here
//   bool is_never_here(Track&)  nor any that it will come to, border by border
//   Effect access(Track&)   for real, in the caches; returns where level 1 has it
//   bool again(Track&)      the same if it is where it was with its marks
//   bool is_there(Track&)   whether it is
//   bool take_disturbed()   whether level 1 lost lines to levels behind it since asked last
//   unsigned meeting(Loop&) which may ever use a set that another uses for another line
//   Lanes                   which of 16 values are equal, and putting one
template <class Caches>
class Lockstep {
public:
    Lockstep(const Caches& caches, Loop& loop)
        : caches_(caches),
          loop_(loop),
          schedule_(loop),
          columns_(schedule_.columns()),
          tracked_(caches.meeting(loop)) {}

    void run() {
        Border border = first_step();
        for (std::uint64_t step = 0; step < loop_.count;) {
            const bool at_border = step == border.step;
            make(step, at_border ? border.at | columns_ : columns_);
            if (at_border) border = schedule_.after(step);
            // One more step like this one would change nothing.
            const bool settled = columns_ == 0 && (stale_ == 0 || all_there());
            step = settled ? border.step : step + 1;
        }
        account();
    }

private:
    using Lanes = typename Caches::Lanes;

    [[nodiscard]] static unsigned first_of(unsigned bits) {
        return static_cast<unsigned>(std::countr_zero(bits));
    }

    [[nodiscard]] Border first_step() const { return {.step = 0, .at = (1u << loop_.size) - 1}; }

    [[nodiscard]] bool all_there() const {
        for (unsigned left = stale_; left != 0; left &= left - 1) {
            if (!caches_.is_there(loop_.tracks[first_of(left)])) return false;
        }
        return true;
    }

    [[gnu::always_inline]] void make(std::uint64_t step, unsigned crossing) {
        unsigned left = crossing | stale_;
        while (left != 0) {
            const unsigned r = first_of(left);
            if ((crossing >> r & 1) != 0) [[likely]] {
                cross(loop_.tracks[r], r, step);
            } else {
                refresh(loop_.tracks[r], r, step);
            }
            left = (crossing | stale_) & ~1u << r;
        }
    }

    // Comes to its next sector.
    [[gnu::always_inline]] void cross(Track& track, unsigned r, std::uint64_t step) {
        const unsigned bit = 1u << r;
        move(track, step);
        caches_.follow(track);
        stale_ &= ~bit;
        if (!caches_.is_here(track.access.address)) return stay_elsewhere(track, r, step);
        if (caches_.access(track) == Effect::past_caches) return go_past(track, r, step);
        ++real_;
        if ((tracked_ & bit) == 0) return;
        look_for_disturbance(bit);
        const unsigned met =
            Lanes::meeting(sets_.data(), lines_.data(), low_bits(track.set), track.line) & there_ &
            ~bit;
        stale_ |= met;
        if ((columns_ & bit) == 0) stay(track, r, met);
    }

    // Where it comes from sector to sector by the same steps, it is known so far where it came
    // from.
    [[gnu::always_inline]] static void move(Track& track, std::uint64_t step) {
        if (track.steady_steps != 0) [[likely]] {
            track.access.address += track.advance;
            track.crosses_at += track.steady_steps;
        } else {
            move_unsteadily(track, step);
        }
    }

    [[gnu::noinline]] static void move_unsteadily(Track& track, std::uint64_t step) {
        track.access.address = track.begin + step * static_cast<std::uint64_t>(track.stride);
        const std::uint64_t steps =
            steps_to_border(track.access.address, track.stride, track.sector_bytes);
        track.crosses_at = track.stride == 0 ? steps : step + steps;
    }

    // It is now there in level 1, with others that use the same set.
    [[gnu::always_inline]] void stay(const Track& track, unsigned r, unsigned met) {
        if ((met | meets_[r]) != 0) [[unlikely]] {
            leave(r);
            meets_[r] = met;
            for (unsigned left = met; left != 0; left &= left - 1) {
                meets_[first_of(left)] |= 1u << r;
            }
        }
        Lanes::put(sets_.data(), r, low_bits(track.set));
        Lanes::put(lines_.data(), r, track.line);
        there_ |= 1u << r;
    }

    void leave(unsigned r) {
        for (unsigned left = meets_[r]; left != 0; left &= left - 1) {
            meets_[first_of(left)] &= ~(1u << r);
        }
        meets_[r] = 0;
        there_ &= ~(1u << r);
    }

    [[nodiscard]] std::uint64_t steps_left(const Track& track, std::uint64_t step) const {
        return std::min(track.crosses_at, loop_.count) - step;
    }

    [[gnu::noinline]] void stay_elsewhere(const Track& track, unsigned r, std::uint64_t step) {
        leave(r);
        std::uint64_t& steps = elsewhere_[static_cast<std::size_t>(track.access.kind)];
        steps += steps_left(track, step);
        if ((columns_ >> r & 1) == 0 || !caches_.is_never_here(track)) return;
        steps += loop_.count - step - 1;
        columns_ &= ~(1u << r);
    }

    [[gnu::noinline]] void go_past(const Track& track, unsigned r, std::uint64_t step) {
        leave(r);
        past_ += steps_left(track, step);
    }

    // A reference that is where it was, while its set was used for another line.
    [[gnu::noinline]] void refresh(Track& track, unsigned r, std::uint64_t step) {
        stale_ &= ~(1u << r);
        if (!caches_.again(track)) {
            if (caches_.access(track) == Effect::past_caches) return go_past(track, r, step);
            ++real_;
            look_for_disturbance(1u << r);
        }
        stale_ |= meets_[r];
    }

    // Sets of one level lie in less than 4 GiB, at multiples of their alignment.
    [[nodiscard]] static std::uint32_t low_bits(Set set) {
        return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(set));
    }

    // Where a level behind took lines from level 1, any but the one just used may be gone.
    [[gnu::always_inline]] void look_for_disturbance(unsigned bit) {
        if (caches_.take_disturbed()) [[unlikely]]
            stale_ |= there_ & ~bit;
    }

    void account() {
        loop_.pieces = {};
        for (std::size_t r = 0; r < loop_.size; ++r) {
            loop_.pieces[static_cast<std::size_t>(loop_.tracks[r].access.kind)] += loop_.count;
        }
        loop_.hits = loop_.size * loop_.count - past_ - real_;
        for (std::size_t kind = 0; kind < elsewhere_.size(); ++kind) {
            loop_.pieces[kind] -= elsewhere_[kind];
            loop_.hits -= elsewhere_[kind];
        }
    }

    Caches caches_;
    Loop& loop_;
    Schedule<Caches> schedule_;
    unsigned stale_ = 0;  // bits of references
    unsigned columns_;    // that come to another sector in each step
    unsigned tracked_;    // that may ever use a set that another uses for another line
    unsigned there_ = 0;  // others, whose lines are in level 1
    // Of these: where their lines are, and which others they meet in sets.
    alignas(64) std::array<std::uint32_t, most_streams> sets_{};
    alignas(64) std::array<std::uint32_t, most_streams> lines_{};
    std::array<unsigned, most_streams> meets_{};
    std::uint64_t real_ = 0;  // accesses made for real
    std::uint64_t past_ = 0;  // steps of references whose stores bypass
    PieceCounts elsewhere_{};
};

}  // namespace memgauge::cache
