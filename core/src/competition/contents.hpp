#pragma once
// What a destination must hold, stretch by stretch, however often and far it was worked on.

#include <cstddef>
#include <vector>

#include "kernels/arrays/ramp.hpp"
#include "kernels/arrays/replay.hpp"

namespace memgauge::competition {

// Where the walk of one operation around an array has come to.
struct Cursor {
    std::size_t at = 0;
    bool odd_lap = false;  // update then takes away what it added the lap before
};

// Where a walk of `count` elements around an array of `elements` ends.
Cursor moved_on(const Cursor& from, std::size_t count, std::size_t elements) noexcept;

// Calls visit(range, odd_lap) for the stretches of such a walk, none of which wraps.
template <class Visit>
void for_stretches(Cursor at, std::size_t count, std::size_t elements, const Visit& visit) {
    while (count > 0) {
        const std::size_t here = count < elements - at.at ? count : elements - at.at;
        visit(kernels::Range{at.at, here}, at.odd_lap);
        at = moved_on(at, here, elements);
        count -= here;
    }
}

// Elements next to each other that hold the same multiple of the ramp.
struct Holding {
    kernels::Range range{};
    kernels::Multiple now{};
    // Of updates that alternate, the value before the last is the next but one: see Contents.
    kernels::Multiple before{};
    unsigned updates = 0;  // since it was overwritten; at most settled_updates

    friend bool same_state(const Holding& one, const Holding& other) noexcept;
};

// Adding and taking away the same number in turn ends after the second step: with rounding to even
// ((x + y) - y + y) - y = (x + y) - y (Reiser and Knuth, "Evading the drift in floating-point
// addition", Information Processing Letters 3, 1975). So two values alternate from the third update
// on, and no number of updates uses up what rounding is allowed.
inline constexpr unsigned settled_updates = 3;

class Contents {
public:
    Contents(std::size_t elements, const kernels::Multiple& all);

    void overwrite(const kernels::Range& range, const kernels::Multiple& with);
    // Adds a multiple of the source: `scalar` times its own, of alternating sign.
    void update(const kernels::Range& range, double scalar);
    void reset(const kernels::Multiple& all);

    // Whether all of it is so, exactly.
    [[nodiscard]] bool is(const kernels::Multiple& all) const noexcept;
    // All of it in order, without gaps.
    [[nodiscard]] const std::vector<Holding>& holdings() const noexcept { return holdings_; }

private:
    // Cuts holdings in two, so that one begins there.
    void cut(std::size_t at);
    void merge();

    std::vector<Holding> holdings_;
};

}  // namespace memgauge::competition
