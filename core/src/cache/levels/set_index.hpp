#pragma once
// Which set of a level a line belongs to.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "cache/levels/line_numbers.hpp"
#include "memgauge/cache_model.hpp"

namespace memgauge::cache {

__extension__ using Wide = unsigned __int128;

// The remainder of the line as memory counts them. Where the sets are a power of two that divides
// an area of line numbers, the low bits of a number are those of its line.
class SetIndex {
public:
    SetIndex() = default;
    SetIndex(std::size_t sets, const CacheMachine& machine);

    [[nodiscard]] bool is_masked() const { return masked_; }

    [[nodiscard, gnu::always_inline]] std::size_t of(Line number,
                                                     const LineNumbers& numbers) const {
        return masked_ ? number & mask_ : remainder(numbers.line(number));
    }

private:
    [[nodiscard]] std::size_t remainder(std::uint64_t line) const {
        if (reciprocal_ == 0) return line % sets_;
        const auto quotient =
            static_cast<std::uint64_t>(static_cast<Wide>(line) * reciprocal_ >> 64);
        return line - quotient * sets_;
    }

    Line mask_ = 0;
    bool masked_ = false;
    std::uint64_t reciprocal_ = 0;  // 0: none that is exact for all lines
    std::size_t sets_ = 1;
};

}  // namespace memgauge::cache
