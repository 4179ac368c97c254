#pragma once
// How deep a level lies, counted from 0, as code that goes from level to level is told.
//
// The way through the nearest levels is one piece of code, for which a level's number is a type.
// Those behind them few machines have: one more piece of code, called for each, knows their numbers
// as values. (Compiled anew for each level, they were half of the code.)

#include <cstddef>
#include <type_traits>

namespace memgauge::cache {

template <std::size_t level>
using At = std::integral_constant<std::size_t, level>;
using Far = std::size_t;

template <class Depth>
inline constexpr bool is_far = std::is_same_v<Depth, Far>;

inline constexpr std::size_t inlined_levels = 3;

template <std::size_t level>
constexpr auto behind(At<level> /*from*/) {
    if constexpr (level + 1 < inlined_levels) {
        return At<level + 1>();
    } else {
        return Far{level + 1};
    }
}
constexpr Far behind(Far level) {
    return level + 1;
}

}  // namespace memgauge::cache
