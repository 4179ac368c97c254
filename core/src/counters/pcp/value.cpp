#include "counters/pcp/value.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace memgauge::pcp {

static_assert(std::endian::native == std::endian::little,
              "headers of blocks and units are laid out otherwise on big-endian machines");

namespace {

constexpr std::uint32_t length_mask = 0xffffff;
constexpr std::size_t header_bytes = 4;

// Blocks are aligned to four bytes only.
template <typename T>
bool take(const Value& value, int format, T& into) noexcept {
    if (format == in_place) {
        if (sizeof(T) != sizeof value.of.number) return false;
        std::memcpy(&into, &value.of.number, sizeof into);
        return true;
    }
    const Block* block = value.of.block;
    if (block == nullptr || (block->header & length_mask) != header_bytes + sizeof(T)) return false;
    std::memcpy(&into, block->bytes, sizeof into);
    return true;
}

template <typename T>
Number integer(const Value& value, int format) noexcept {
    T taken{};
    if (!take(value, format, taken) || taken < T{0}) return {};
    const auto wide = static_cast<std::uint64_t>(taken);
    return {wide < slot_limit, wide};
}

template <typename T>
Number fraction(const Value& value, int format, unsigned bits) noexcept {
    T taken{};
    if (!take(value, format, taken)) return {};
    const double scaled =
        std::round(std::ldexp(static_cast<double>(taken), static_cast<int>(bits)));
    // Not a number compares false.
    const bool usable = scaled >= 0.0 && scaled < static_cast<double>(slot_limit);
    return usable ? Number{true, static_cast<std::uint64_t>(scaled)} : Number{};
}

int nibble(std::uint32_t packed, unsigned index) noexcept {
    return static_cast<int>((packed >> (4 * index)) & 0xf);
}

int signed_nibble(std::uint32_t packed, unsigned index) noexcept {
    const int plain = nibble(packed, index);
    return plain < 8 ? plain : plain - 16;
}

}  // namespace

Number number(const Value& value, int format, PcpType type,
              std::optional<unsigned> fraction_bits) noexcept {
    if (is_integer(type) == fraction_bits.has_value()) return {};
    switch (type) {
        case PcpType::i32:
            return integer<std::int32_t>(value, format);
        case PcpType::u32:
            return integer<std::uint32_t>(value, format);
        case PcpType::i64:
            return integer<std::int64_t>(value, format);
        case PcpType::u64:
            return integer<std::uint64_t>(value, format);
        case PcpType::f32:
            return fraction<float>(value, format, fraction_bits.value_or(0));
        case PcpType::f64:
            return fraction<double>(value, format, fraction_bits.value_or(0));
        case PcpType::other:
            break;
    }
    return {};
}

PcpType type_of(int announced) noexcept {
    switch (announced) {
        case type_i32:
            return PcpType::i32;
        case type_u32:
            return PcpType::u32;
        case type_i64:
            return PcpType::i64;
        case type_u64:
            return PcpType::u64;
        case type_f32:
            return PcpType::f32;
        case type_f64:
            return PcpType::f64;
        default:
            return PcpType::other;
    }
}

bool is_integer(PcpType type) noexcept {
    return type < PcpType::f32;
}

void unpack_units(std::uint32_t packed, PcpMetric& into) noexcept {
    into.count_scale = signed_nibble(packed, 2);
    into.time_scale = nibble(packed, 3);
    into.space_scale = nibble(packed, 4);
    into.count = signed_nibble(packed, 5);
    into.time = signed_nibble(packed, 6);
    into.space = signed_nibble(packed, 7);
}

}  // namespace memgauge::pcp
