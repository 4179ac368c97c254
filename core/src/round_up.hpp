#pragma once

#include <cstddef>

namespace memgauge {

// The least multiple that is no less than `value`, which leaves room for it.
constexpr std::size_t round_up(std::size_t value, std::size_t multiple) noexcept {
    return (value + multiple - 1) / multiple * multiple;
}

}  // namespace memgauge
