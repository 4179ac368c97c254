#include "cache/levels/grain.hpp"

#include <algorithm>

#include "cache/loops/loop.hpp"

namespace memgauge::cache {

std::uint64_t Grain::steps_here(std::uint64_t address, std::int64_t stride,
                                std::uint64_t count) const {
    if (part.count == 1) return count;
    const std::uint64_t line_bytes = std::uint64_t{1} << line_bits;
    const std::uint64_t in_line = line_bytes / length_of(stride);
    const std::uint64_t onward = stride > 0 ? line_bytes : 0 - line_bytes;
    const std::uint64_t first = std::min(count, steps_to_border(address, stride, line_bytes));
    std::uint64_t here = is_here(address) ? first : 0;
    const std::uint64_t lines = (count - first) / in_line;
    // One in so many lines is.
    here += lines / part.count * in_line;
    const std::uint64_t others = lines % part.count;
    for (std::uint64_t line = 1; line <= others; ++line) {
        here += is_here(address + line * onward) ? in_line : 0;
    }
    const bool is_last_here = is_here(address + (lines + 1) * onward);
    return here + (is_last_here ? (count - first) % in_line : 0);
}

}  // namespace memgauge::cache
