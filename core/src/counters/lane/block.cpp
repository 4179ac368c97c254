#include "counters/lane/block.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "counters/lane/crc32.hpp"

namespace memgauge {
namespace {

static_assert(std::endian::native == std::endian::little, "lane files are little-endian");

constexpr std::size_t column_header_bytes = 10;

// Appends to memory that is known to suffice.
class Bytes {
public:
    explicit Bytes(std::span<std::uint8_t> into) noexcept : into_(into) {}
    template <class Number>
    void put(Number number) noexcept {
        std::memcpy(into_.data() + size_, &number, sizeof number);
        size_ += sizeof number;
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    std::span<std::uint8_t> into_;
    std::size_t size_ = 0;
};

// Modulo 2^64, as the reader adds them up again.
std::int64_t difference(std::int64_t from, std::int64_t to) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(to) -
                                     static_cast<std::uint64_t>(from));
}

template <class Width>
bool fits(std::int64_t low, std::int64_t high) noexcept {
    return low >= std::numeric_limits<Width>::min() && high <= std::numeric_limits<Width>::max();
}

std::uint8_t width_of(std::span<const std::int64_t> values) noexcept {
    std::int64_t low = 0;
    std::int64_t high = 0;
    for (std::size_t i = 1; i < values.size(); ++i) {
        const std::int64_t step = difference(values[i - 1], values[i]);
        low = std::min(low, step);
        high = std::max(high, step);
    }
    if (low == 0 && high == 0) return 0;
    if (fits<std::int8_t>(low, high)) return 1;
    if (fits<std::int16_t>(low, high)) return 2;
    return fits<std::int32_t>(low, high) ? 4 : 8;
}

template <class Width>
void put_differences(Bytes& bytes, std::span<const std::int64_t> values) noexcept {
    for (std::size_t i = 1; i < values.size(); ++i) {
        bytes.put(static_cast<Width>(difference(values[i - 1], values[i])));
    }
}

void put_differences(Bytes& bytes, std::span<const std::int64_t> values, unsigned width) noexcept {
    switch (width) {
        case 1:
            return put_differences<std::int8_t>(bytes, values);
        case 2:
            return put_differences<std::int16_t>(bytes, values);
        case 4:
            return put_differences<std::int32_t>(bytes, values);
        case 8:
            return put_differences<std::int64_t>(bytes, values);
        default:
            return;
    }
}

void put_bitmap(Bytes& bytes, std::span<const std::uint8_t> present) noexcept {
    for (std::size_t first = 0; first < present.size(); first += 8) {
        unsigned byte = 0;
        for (std::size_t i = first; i < std::min(first + 8, present.size()); ++i) {
            byte |= (present[i] != 0 ? 1U : 0U) << (i - first);
        }
        bytes.put(static_cast<std::uint8_t>(byte));
    }
}

// What is missing takes the value before it, at the beginning the first that was read: the widths
// of differences are then those of what was read.
void fill_gaps(std::span<std::int64_t> values, std::span<const std::uint8_t> present) noexcept {
    const auto first = std::ranges::find_if(present, [](std::uint8_t is) { return is != 0; });
    const auto at = static_cast<std::size_t>(first - present.begin());
    std::int64_t last = first == present.end() ? 0 : values[at];
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (present[i] == 0) {
            values[i] = last;
        } else {
            last = values[i];
        }
    }
}

void put_column(Bytes& bytes, std::span<const std::int64_t> values,
                std::span<const std::uint8_t> present) noexcept {
    const std::uint8_t width = width_of(values);
    const bool gaps = std::ranges::find(present, std::uint8_t{0}) != present.end();
    bytes.put(width);
    bytes.put(static_cast<std::uint8_t>(gaps ? 1 : 0));
    bytes.put(values.front());
    if (gaps) put_bitmap(bytes, present);
    put_differences(bytes, values, width);
}

}  // namespace

LaneBlock::LaneBlock(std::size_t slots, std::size_t samples)
    : slots_(slots),
      capacity_(samples),
      values_((slots + 2) * samples),
      present_(slots * samples) {}

std::span<std::int64_t> LaneBlock::values(std::size_t column) noexcept {
    return std::span(values_).subspan(column * capacity_, samples_);
}

std::span<const std::uint8_t> LaneBlock::present(std::size_t slot) const noexcept {
    return std::span(present_).subspan(slot * capacity_, samples_);
}

void LaneBlock::add(const Reading& reading) noexcept {
    const Clock& clock = Clock::instance();
    values_[samples_] = clock.to_ns(reading.begin);
    values_[capacity_ + samples_] = clock.to_ns(reading.end);
    for (std::size_t slot = 0; slot < slots_; ++slot) {
        const auto value = static_cast<std::int64_t>(reading.values[slot]);
        values_[(slot + 2) * capacity_ + samples_] = value;
        present_[slot * capacity_ + samples_] = reading.present[slot] != 0 && value >= 0 ? 1 : 0;
    }
    ++samples_;
}

std::size_t LaneBlock::most_bytes() const noexcept {
    const std::size_t bitmap = (capacity_ + 7) / 8;
    return header_bytes + columns() * (column_header_bytes + bitmap + capacity_ * 8);
}

std::size_t LaneBlock::encode(std::span<std::uint8_t> into) noexcept {
    Bytes payload(into.subspan(header_bytes));
    for (std::size_t column = 0; column < columns(); ++column) {
        if (column < 2) {
            put_column(payload, values(column), {});
        } else {
            fill_gaps(values(column), present(column - 2));
            put_column(payload, values(column), present(column - 2));
        }
    }
    Bytes header(into);
    header.put(magic);
    header.put(static_cast<std::uint32_t>(samples_));
    header.put(static_cast<std::uint32_t>(payload.size()));
    header.put(crc32(into.subspan(header_bytes, payload.size())));
    return header_bytes + payload.size();
}

}  // namespace memgauge
