#include "counters/lane/crc32.hpp"

#include <array>

namespace memgauge {
namespace {

constexpr std::array<std::uint32_t, 256> remainders() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t remainder = byte;
        for (int bit = 0; bit < 8; ++bit) {
            remainder = (remainder >> 1U) ^ ((remainder & 1U) != 0 ? 0xEDB88320U : 0U);
        }
        table[byte] = remainder;
    }
    return table;
}

constexpr auto byte_remainders = remainders();

}  // namespace

std::uint32_t crc32(std::span<const std::uint8_t> bytes) noexcept {
    std::uint32_t sum = 0xFFFFFFFFU;
    for (const std::uint8_t byte : bytes) {
        sum = (sum >> 8U) ^ byte_remainders[(sum ^ byte) & 0xFFU];
    }
    return ~sum;
}

}  // namespace memgauge
