#pragma once
// The check sum of zlib, PNG and gzip: CRC-32 of ISO 3309, reflected polynomial 0xEDB88320.

#include <cstdint>
#include <span>

namespace memgauge {

[[nodiscard]] std::uint32_t crc32(std::span<const std::uint8_t> bytes) noexcept;

}  // namespace memgauge
