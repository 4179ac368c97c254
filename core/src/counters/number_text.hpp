#pragma once
// Numbers in the text of small files, found without allocating.

#include <cstdint>
#include <string_view>

#include "memgauge/counters/number_files.hpp"

namespace memgauge {

struct FoundNumber {
    enum class State : std::uint8_t {
        number,
        missing,
        unfinished,  // the text is cut before its end is known
    };
    State state = State::missing;
    std::uint64_t value = 0;
};

// `ended`: no more text follows. The whole text as one number.
FoundNumber find_number(std::string_view text, bool ended) noexcept;
FoundNumber find_number(std::string_view text, bool ended, const NumberCell& cell) noexcept;

}  // namespace memgauge
