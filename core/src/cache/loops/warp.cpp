#include "cache/loops/warp.hpp"

#include <algorithm>
#include <numeric>

#include "cache/levels/line_numbers.hpp"

namespace memgauge::cache {

std::optional<Period> period_of(std::int64_t stride, std::size_t line_bytes, unsigned parts) {
    constexpr std::int64_t area = std::int64_t{1} << LineNumbers::area_bits;
    if (stride == 0 || stride > area || stride < -area) return std::nullopt;
    // Lines of one part.
    const auto apart = static_cast<std::int64_t>(line_bytes * parts);
    const std::int64_t steps = apart / std::gcd(stride, apart);
    const std::int64_t bytes = steps * stride;
    if (bytes > area || bytes < -area) return std::nullopt;
    return Period{static_cast<std::uint64_t>(steps), bytes / static_cast<std::int64_t>(line_bytes)};
}

std::size_t Snapshot::ways() const {
    return std::accumulate(levels_.begin(), levels_.end(), std::size_t{0},
                           [](std::size_t sum, const OfLevel& level) {
                               return sum + level.chosen.size() * level.ways;
                           });
}

// To look at a way takes a small part of the time of a line that is simulated.
void Looks::looked_at_some() {
    constexpr double lines_for_each_way = 8;
    constexpr double part = 1.0 / 8;
    next_ = lines_ + std::max({part * ways_, part * lines_, lines_for_each_way * sampled_});
}

void Looks::looked_at_all() {
    constexpr double lines_for_each_way = 16;
    next_ = lines_ + std::max(lines_, lines_for_each_way * ways_);
}

}  // namespace memgauge::cache
