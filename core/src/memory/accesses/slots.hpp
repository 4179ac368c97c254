#pragma once
// Where the accesses of a pattern lie, from a counter alone: nothing is stored, so that any number
// of patterns share one buffer.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "memgauge/accesses.hpp"
#include "scramble.hpp"

namespace memgauge::memory {

inline constexpr std::size_t line_bytes = 64;  // on 128-byte lines: a half of one

// Every number below a power of two once, in a scrambled order, then again.
class Scramble {
public:
    // The first number is that at place `counter` of the order.
    Scramble(unsigned bits, std::uint64_t counter) noexcept;

    std::uint64_t next() noexcept { return scrambled_next(state_, mask_, shift_); }

private:
    std::uint64_t mask_;
    unsigned shift_;
    std::uint64_t state_ = 0;
};

// The offsets of accesses, one after the other; `spread` where lines are spread.
template <bool spread>
class SequentialSlots {
public:
    SequentialSlots(const AccessPattern& pattern, std::uint64_t counter) noexcept
        : stride_(pattern.stride_bytes),
          end_(pattern.slots * pattern.stride_bytes),
          spread_mask_(pattern.spread_lines - 1),
          slot_(static_cast<std::size_t>(counter % pattern.slots)),
          offset_(slot_ * stride_) {}

    std::size_t next() noexcept {
        std::size_t offset = offset_;
        const bool wraps = offset + stride_ == end_;
        offset_ = wraps ? 0 : offset + stride_;
        if constexpr (spread) {
            offset += (slot_ & spread_mask_) * line_bytes;
            slot_ = wraps ? 0 : slot_ + 1;
        }
        return offset;
    }

private:
    std::size_t stride_;
    std::size_t end_;
    std::size_t spread_mask_;
    std::size_t slot_;
    std::size_t offset_;  // of the slot
};

template <bool spread>
class RandomSlots {
public:
    RandomSlots(const AccessPattern& pattern, std::uint64_t counter) noexcept
        : scramble_(static_cast<unsigned>(std::countr_zero(pattern.slots)), counter),
          stride_(pattern.stride_bytes),
          spread_mask_(pattern.spread_lines - 1) {}

    std::size_t next() noexcept {
        const auto slot = static_cast<std::size_t>(scramble_.next());
        const std::size_t offset = slot * stride_;
        return spread ? offset + (slot & spread_mask_) * line_bytes : offset;
    }

private:
    Scramble scramble_;
    std::size_t stride_;
    std::size_t spread_mask_;
};

// Calls `use` with the offsets of `pattern` from its access number `counter` on.
template <class Use>
auto with_slots(const AccessPattern& pattern, std::uint64_t counter, Use use) {
    const bool spread = pattern.spread_lines > 1;
    if (pattern.order == AccessOrder::random) {
        return spread ? use(RandomSlots<true>(pattern, counter))
                      : use(RandomSlots<false>(pattern, counter));
    }
    return spread ? use(SequentialSlots<true>(pattern, counter))
                  : use(SequentialSlots<false>(pattern, counter));
}

// Lines that one access touches in each array.
constexpr std::size_t lines_of(const AccessPattern& pattern) noexcept {
    const bool within_a_line =
        pattern.kind == PatternKind::saxpy || pattern.access_bytes < line_bytes;
    return within_a_line ? 1 : pattern.access_bytes / line_bytes;
}

// From an element of x to the same of y: half the buffer in whole lines, made odd, so that the two
// never lie a power of two apart.
constexpr std::size_t y_offset(std::size_t buffer_bytes) noexcept {
    return (buffer_bytes / 2 / line_bytes | 1U) * line_bytes;
}

// RequestError: the pattern makes no sense, or leaves a buffer of that size.
void check(const AccessPattern& pattern, std::size_t buffer_bytes);

}  // namespace memgauge::memory
