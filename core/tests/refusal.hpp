#pragma once
// What a call refuses to do, in its own words.

#include <string>
#include <string_view>

#include "memgauge/error.hpp"

namespace memgauge::test {

// Message of the RequestError that `call` ends with; empty where it does not.
std::string refusal(const auto& call) {
    try {
        call();
    } catch (const RequestError& error) {
        return error.what();
    }
    return "";
}

inline bool says(std::string_view message, std::string_view part) {
    return message.find(part) != std::string_view::npos;
}

}  // namespace memgauge::test
