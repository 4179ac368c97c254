#pragma once
// When the references of a loop come to other sectors.

#include <array>
#include <cstdint>

#include "cache/loops/loop.hpp"

namespace memgauge::cache {

// A step, and the references that come to another sector in it.
struct Border {
    std::uint64_t step = 0;
    unsigned at = 0;
};

// Columns, which do so in each step, are left out. Where all others do so by the same period, or
// stay, they go round in one order. A template, so that it is compiled anew for each `Caches`.
template <class Caches>
class Schedule {
public:
    explicit Schedule(const Loop& loop) : loop_(loop) {
        std::uint64_t period = 0;
        for (std::size_t r = 0; r < loop.size; ++r) {
            const Track& track = loop.tracks[r];
            if (track.steady_steps == 1) {
                columns_ |= 1u << r;
            } else if (track.stride != 0) {
                if (period == 0) period = track.steady_steps;
                turns_ = turns_ && track.steady_steps == period && period != 0;
                moving_ |= 1u << r;
            }
        }
        period_ = period;
    }

    [[nodiscard]] unsigned columns() const { return columns_; }

    // The next border after a step that was one, or the loop's end.
    [[nodiscard, gnu::always_inline]] Border after(std::uint64_t step) {
        if (step == 0) begin();
        if (!turns_) return earliest(moving_);
        if (step != 0) {
            rounds_[turn_].step += period_;
            turn_ = turn_ + 1 == size_ ? 0 : turn_ + 1;
        }
        return capped(rounds_[turn_]);
    }

private:
    [[gnu::noinline]] void begin() {
        if (!turns_) return;
        for (unsigned left = moving_; left != 0;) {
            rounds_[size_] = earliest(left);
            left &= ~rounds_[size_].at;
            ++size_;
        }
        turns_ = size_ != 0;
    }

    [[nodiscard]] Border capped(Border border) const {
        if (border.step > loop_.count) border.step = loop_.count;
        return border;
    }

    [[nodiscard, gnu::noinline]] Border earliest(unsigned references) const {
        Border border{.step = ~0ull};
        for (unsigned left = references; left != 0; left &= left - 1) {
            const auto r = static_cast<unsigned>(std::countr_zero(left));
            const std::uint64_t at = loop_.tracks[r].crosses_at;
            border.at =
                (at < border.step ? 0 : border.at) | static_cast<unsigned>(at <= border.step) << r;
            border.step = at < border.step ? at : border.step;
        }
        return capped(border);
    }

    const Loop& loop_;
    unsigned columns_ = 0;
    unsigned moving_ = 0;
    bool turns_ = true;
    std::uint64_t period_ = 0;
    std::array<Border, most_streams> rounds_{};
    std::size_t size_ = 0;
    std::size_t turn_ = 0;
};

}  // namespace memgauge::cache
