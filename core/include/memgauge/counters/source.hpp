#pragma once
// What can be read at once while something runs: a group of a PMU, files kept open, a daemon's
// answer. A source is opened with all it needs; reading it allocates nothing and throws nothing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "memgauge/clock.hpp"

namespace memgauge {

// All that is present in a slot stays below; what is larger is missing.
inline constexpr std::uint64_t slot_limit = std::uint64_t{1} << 63;

// Raw values of slots, as they were read: no scale applied. A slot that could not be read is
// missing, never zero; its value is then unspecified.
struct SlotSpan {
    std::span<std::uint64_t> values;
    std::span<std::uint8_t> present;  // 1: read, 0: missing

    void mark_all_missing() const noexcept { std::ranges::fill(present, std::uint8_t{0}); }
};

class CounterSource {
public:
    CounterSource() = default;
    virtual ~CounterSource() = default;
    CounterSource(const CounterSource&) = delete;
    CounterSource& operator=(const CounterSource&) = delete;

    // Fixed from construction on.
    [[nodiscard]] virtual std::size_t slots() const noexcept = 0;
    // Both spans have slots() entries. One thread at a time. Must end within a time the source
    // states, whatever the other side does.
    virtual void read(SlotSpan into) noexcept = 0;
};

struct Reading {
    Ticks begin = 0;  // before the first source was read
    Ticks end = 0;    // after the last
    std::vector<std::uint64_t> values;
    std::vector<std::uint8_t> present;
};

// Sources read together, one after the other; their slots follow each other in that order.
class Reader {
public:
    // RequestError: no source, a null one, or one listed twice.
    explicit Reader(std::vector<std::shared_ptr<CounterSource>> sources);

    [[nodiscard]] std::size_t slots() const noexcept { return slots_; }
    // A reading with room for all slots, so that read() allocates nothing.
    [[nodiscard]] Reading make_reading() const;
    void read(Reading& into) noexcept;

private:
    std::vector<std::shared_ptr<CounterSource>> sources_;
    std::size_t slots_ = 0;
};

}  // namespace memgauge
