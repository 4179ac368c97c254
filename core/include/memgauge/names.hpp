#pragma once
// Enumerators by name. A list of names is in the order of the enumerators.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "memgauge/error.hpp"

namespace memgauge {

template <std::size_t count>
using Names = std::array<std::string_view, count>;

template <std::size_t count, class Enum>
constexpr std::string_view name_of(const Names<count>& names, Enum value) noexcept {
    const auto index = static_cast<std::size_t>(value);
    return index < count ? names[index] : std::string_view{"?"};
}

// RequestError: there is no such name; `what` it would be of, and the names there are.
template <class Enum, std::size_t count>
Enum value_of(const Names<count>& names, std::string_view what, std::string_view name) {
    std::string choices;
    for (std::size_t i = 0; i < count; ++i) {
        if (names[i] == name) return static_cast<Enum>(i);
        choices.append(i == 0 ? "" : ", ").append(names[i]);
    }
    throw RequestError("unknown " + std::string(what) + " '" + std::string(name) +
                       "'; choose among " + choices);
}

}  // namespace memgauge
