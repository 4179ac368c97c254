#pragma once
// Which parts of an area are in use: ranges of whole granules, the lowest free ones first.

#include <cstddef>
#include <optional>
#include <vector>

namespace memgauge::memory {

class AreaRanges {
public:
    // From `begin` to `end`, both multiples of `granule`.
    AreaRanges(std::size_t begin, std::size_t end, std::size_t granule);

    // Where a range of so many bytes, rounded up to whole granules, begins; none: it does not fit.
    [[nodiscard]] std::optional<std::size_t> take(std::size_t bytes);
    void give_back(std::size_t offset) noexcept;
    [[nodiscard]] std::size_t largest_free() const noexcept;
    [[nodiscard]] std::size_t granule() const noexcept { return granule_; }
    // Zero where that overflows.
    [[nodiscard]] std::size_t rounded(std::size_t bytes) const noexcept;

private:
    struct Range {
        std::size_t offset;
        std::size_t bytes;
    };

    std::size_t begin_;
    std::size_t end_;
    std::size_t granule_;
    std::vector<Range> taken_;  // by offset
};

}  // namespace memgauge::memory
