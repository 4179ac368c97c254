#include "memory/areas/ranges.hpp"

#include <algorithm>
#include <limits>

#include "round_up.hpp"

namespace memgauge::memory {

AreaRanges::AreaRanges(std::size_t begin, std::size_t end, std::size_t granule)
    : begin_(begin), end_(std::max(begin, end)), granule_(granule) {}

std::size_t AreaRanges::rounded(std::size_t bytes) const noexcept {
    const bool fits = bytes <= std::numeric_limits<std::size_t>::max() - (granule_ - 1);
    return fits ? round_up(bytes, granule_) : 0;
}

std::optional<std::size_t> AreaRanges::take(std::size_t bytes) {
    const std::size_t wanted = rounded(bytes);
    std::size_t at = begin_;
    auto before = taken_.begin();
    while (before != taken_.end() && before->offset - at < wanted) {
        at = before->offset + before->bytes;
        ++before;
    }
    if (wanted == 0 || (before == taken_.end() && end_ - at < wanted)) return std::nullopt;
    taken_.insert(before, {at, wanted});
    return at;
}

void AreaRanges::give_back(std::size_t offset) noexcept {
    std::erase_if(taken_, [offset](const Range& range) { return range.offset == offset; });
}

std::size_t AreaRanges::largest_free() const noexcept {
    std::size_t at = begin_;
    std::size_t largest = 0;
    for (const Range& range : taken_) {
        largest = std::max(largest, range.offset - at);
        at = range.offset + range.bytes;
    }
    return std::max(largest, end_ - at);
}

}  // namespace memgauge::memory
