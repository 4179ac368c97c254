#pragma once
// The outer loops of a nest: where each array stands when the two innermost loops begin.

#include <array>
#include <cstddef>

#include "nests/description.hpp"

namespace memgauge::nests {

// The loop around the two innermost ones.
inline constexpr std::size_t around_rows = innermost - 2;

// Elements from an array's begin.
using Offsets = std::array<std::size_t, most_references>;

class OuterLoops {
public:
    explicit OuterLoops(const Nest& nest) noexcept : nest_(&nest) { begin_part(); }

    [[nodiscard]] bool done() const noexcept { return part_ == nest_->part_count; }
    // Of the part that is under way.
    [[nodiscard]] const Loops& loops() const noexcept { return nest_->parts[part_]; }
    [[nodiscard]] const Offsets& offsets() const noexcept { return offsets_; }

    // Trips that the loop around the two innermost ones has yet to make after this one.
    [[nodiscard]] std::size_t trips_left() const noexcept {
        return loops().trips[around_rows] - trip_[around_rows] - 1;
    }
    [[nodiscard]] std::size_t trip() const noexcept { return trip_[around_rows]; }
    // As if so many of them were made.
    void skip(std::size_t trips) noexcept {
        trip_[around_rows] += trips;
        move(around_rows, trips);
    }

    void advance() noexcept {
        for (std::size_t loop = innermost - 1; loop-- > 0;) {
            if (++trip_[loop] < loops().trips[loop]) {
                move(loop, 1);
                return;
            }
            move(loop, std::size_t{0} - (trip_[loop] - 1));
            trip_[loop] = 0;
        }
        ++part_;
        begin_part();
    }

private:
    void begin_part() noexcept {
        trip_ = {};
        if (done()) return;
        for (std::size_t i = 0; i < nest_->references; ++i) {
            offsets_[i] = loops().references[i].first;
        }
    }
    // So many trips on; unsigned arithmetic wraps, so backwards too.
    void move(std::size_t loop, std::size_t trips) noexcept {
        for (std::size_t i = 0; i < nest_->references; ++i) {
            offsets_[i] += trips * loops().references[i].strides[loop];
        }
    }

    const Nest* nest_;
    std::size_t part_ = 0;
    std::array<std::size_t, innermost - 1> trip_{};
    Offsets offsets_{};
};

}  // namespace memgauge::nests
