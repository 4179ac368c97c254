#pragma once
// Long work on ranges of elements, cut up so that a request to stop is seen in time.

#include <algorithm>
#include <cstddef>

#include "kernels/arrays/ramp.hpp"
#include "memgauge/team.hpp"

namespace memgauge::kernels {

// A few milliseconds of work.
inline constexpr std::size_t piece_elements = std::size_t{1} << 19;

// Calls visit(piece) in order of the range, until a stop is requested.
template <class Visit>
void for_pieces(const Team& team, const Range& range, const Visit& visit) {
    for (std::size_t done = 0; done < range.count && !team.stop_requested();) {
        const std::size_t count = std::min(piece_elements, range.count - done);
        visit(Range{range.first + done, count});
        done += count;
    }
}

}  // namespace memgauge::kernels
