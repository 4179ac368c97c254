#pragma once
// The traffic that the kernels of this process are known to cause, as a counter source. It is a
// model, not a measurement: what a program's loads and stores ask of memory when no cache keeps
// anything, each line that an ordinary store writes being read first (write-allocate).

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "memgauge/counters/source.hpp"

namespace memgauge {

// One account for the whole process. Work is booked when it is done, by whoever did it: a reading
// on the far side of a barrier from the worker sees all of it.
class KnownTraffic {
public:
    static KnownTraffic& instance() noexcept;

    void add(std::uint64_t read_bytes, std::uint64_t write_bytes) noexcept;
    [[nodiscard]] std::uint64_t read_bytes() const noexcept;
    [[nodiscard]] std::uint64_t write_bytes() const noexcept;

private:
    std::atomic<std::uint64_t> read_bytes_{0};
    std::atomic<std::uint64_t> write_bytes_{0};
};

// Slot 0: bytes read, slot 1: bytes written, of all kernels of this process so far.
class ModelledSource final : public CounterSource {
public:
    [[nodiscard]] std::size_t slots() const noexcept override { return 2; }
    void read(SlotSpan into) noexcept override;
};

}  // namespace memgauge
