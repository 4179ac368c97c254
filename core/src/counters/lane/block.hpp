#pragma once
// Samples of a lane, kept column by column, and the bytes they become in its file.
//
// A block is a header of 16 bytes (magic, samples, bytes and CRC-32 of what follows) and for each
// column (begin_ns, end_ns, slots in order): u8 bytes of a difference (0, 1, 2, 4, 8), u8 flags
// (1: a presence bitmap follows), i64 first value, the bitmap (bit i of byte i / 8, lowest first;
// 1: read), and differences to the value before. What is missing repeats its neighbour. All
// little-endian. Width 0: all values are equal and no difference follows.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memgauge/counters/source.hpp"

namespace memgauge {

class LaneBlock {
public:
    static constexpr std::size_t largest_samples = 65535;
    // Readings times columns: what a reader of the file has to hold at once.
    static constexpr std::size_t largest_values = std::size_t{1} << 20;
    static constexpr std::size_t header_bytes = 16;
    static constexpr std::uint32_t magic = 0x314b4c42;  // "BLK1"

    // Room for `samples` (1..largest_samples) readings of `slots` values; add() allocates nothing.
    LaneBlock(std::size_t slots, std::size_t samples);

    [[nodiscard]] bool empty() const noexcept { return samples_ == 0; }
    [[nodiscard]] bool full() const noexcept { return samples_ == capacity_; }
    [[nodiscard]] std::size_t samples() const noexcept { return samples_; }
    // Only while not full. A value of 2^63 or more is no reading: it is kept as missing.
    void add(const Reading& reading) noexcept;
    void clear() noexcept { samples_ = 0; }

    // Room that any block of this capacity fits in.
    [[nodiscard]] std::size_t most_bytes() const noexcept;
    // Writes the block; returns its bytes. Only when not empty.
    [[nodiscard]] std::size_t encode(std::span<std::uint8_t> into) noexcept;

private:
    [[nodiscard]] std::size_t columns() const noexcept { return slots_ + 2; }
    [[nodiscard]] std::span<std::int64_t> values(std::size_t column) noexcept;
    [[nodiscard]] std::span<const std::uint8_t> present(std::size_t slot) const noexcept;

    std::size_t slots_;
    std::size_t capacity_;
    std::size_t samples_ = 0;
    std::vector<std::int64_t> values_;   // capacity_ for each column
    std::vector<std::uint8_t> present_;  // capacity_ for each slot
};

}  // namespace memgauge
