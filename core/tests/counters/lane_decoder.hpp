#pragma once
// Reads lane files from their description alone, byte by byte, to check what the core writes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memgauge::test {

struct DecodedLane {
    std::size_t columns = 0;
    std::vector<std::int64_t> begin_ns;
    std::vector<std::int64_t> end_ns;
    std::vector<std::vector<std::optional<std::int64_t>>> slots;
    std::vector<std::vector<unsigned>> widths;  // of each block's columns
    std::vector<std::size_t> samples;           // of each block
    std::size_t whole_bytes = 0;                // up to the last whole block
    bool torn = false;                          // something follows them
};

class LaneDecoder {
public:
    explicit LaneDecoder(std::string bytes) : bytes_(std::move(bytes)) {}

    DecodedLane decode() {
        if (bytes_.substr(0, 8) != "MGLANE1\n" || number(12, 4) != 0) return {};
        lane_.columns = number(8, 4);
        lane_.slots.resize(lane_.columns - 2);
        lane_.whole_bytes = 16;
        while (whole_block()) {
            block();
        }
        lane_.torn = lane_.whole_bytes != bytes_.size();
        return lane_;
    }

private:
    [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t width) const {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < width; ++i) {
            value |= std::uint64_t{static_cast<unsigned char>(bytes_.at(at + i))} << (8 * i);
        }
        return value;
    }

    [[nodiscard]] std::int64_t signed_number(std::size_t at, std::size_t width) const {
        const std::uint64_t value = number(at, width);
        const std::uint64_t sign = std::uint64_t{1} << (8 * width - 1);
        return static_cast<std::int64_t>((value ^ sign) - sign);
    }

    // Bit by bit, without a table.
    [[nodiscard]] std::uint32_t crc(std::size_t at, std::size_t size) const {
        std::uint32_t sum = ~std::uint32_t{0};
        for (std::size_t i = 0; i < size; ++i) {
            sum ^= static_cast<unsigned char>(bytes_.at(at + i));
            for (int bit = 0; bit < 8; ++bit) {
                sum = (sum >> 1U) ^ (0xEDB88320U & (0U - (sum & 1U)));
            }
        }
        return ~sum;
    }

    [[nodiscard]] bool whole_block() const {
        const std::size_t at = lane_.whole_bytes;
        if (at + 16 > bytes_.size() || bytes_.substr(at, 4) != "BLK1") return false;
        const std::size_t size = number(at + 8, 4);
        return at + 16 + size <= bytes_.size() && crc(at + 16, size) == number(at + 12, 4);
    }

    void block() {
        samples_ = number(lane_.whole_bytes + 4, 4);
        at_ = lane_.whole_bytes + 16;
        lane_.samples.push_back(samples_);
        lane_.widths.emplace_back();
        for (std::size_t column = 0; column < lane_.columns; ++column) {
            const auto values = decoded_column();
            for (const auto& value : values) {
                if (column == 0) lane_.begin_ns.push_back(value.value());
                if (column == 1) lane_.end_ns.push_back(value.value());
                if (column >= 2) lane_.slots[column - 2].push_back(value);
            }
        }
        lane_.whole_bytes += 16 + number(lane_.whole_bytes + 8, 4);
    }

    std::vector<std::optional<std::int64_t>> decoded_column() {
        const std::size_t width = number(at_, 1);
        const bool gaps = (number(at_ + 1, 1) & 1U) != 0;
        auto value = static_cast<std::uint64_t>(signed_number(at_ + 2, 8));
        const std::size_t bitmap = at_ + 10;
        at_ = bitmap + (gaps ? (samples_ + 7) / 8 : 0);
        lane_.widths.back().push_back(static_cast<unsigned>(width));
        std::vector<std::optional<std::int64_t>> values;
        for (std::size_t i = 0; i < samples_; ++i) {
            if (i > 0 && width > 0) {
                value += static_cast<std::uint64_t>(signed_number(at_, width));
                at_ += width;
            }
            const bool present = !gaps || ((number(bitmap + i / 8, 1) >> (i % 8)) & 1U) != 0;
            values.push_back(present ? std::optional(static_cast<std::int64_t>(value))
                                     : std::nullopt);
        }
        return values;
    }

    std::string bytes_;
    DecodedLane lane_;
    std::size_t samples_ = 0;
    std::size_t at_ = 0;
};

}  // namespace memgauge::test
