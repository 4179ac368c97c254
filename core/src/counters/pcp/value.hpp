#pragma once
// Raw values of a fetch as whole numbers below 2^63.

#include <cstdint>
#include <optional>

#include "counters/pcp/abi.hpp"
#include "memgauge/counters/pcp.hpp"

namespace memgauge::pcp {

struct Number {
    bool present = false;
    std::uint64_t value = 0;
};

// What is negative, not finite, too large, or not of the type that was announced is not present.
[[nodiscard]] Number number(const Value& value, int format, PcpType type,
                            std::optional<unsigned> fraction_bits) noexcept;

[[nodiscard]] PcpType type_of(int announced) noexcept;
[[nodiscard]] bool is_integer(PcpType type) noexcept;

// Fills in the unit of a metric from its eight nibbles.
void unpack_units(std::uint32_t packed, PcpMetric& into) noexcept;

}  // namespace memgauge::pcp
