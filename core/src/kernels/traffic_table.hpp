#pragma once
// What one instruction-set file gives to the traffic generator. As table.hpp: nothing here could be
// emitted as code.

#include <cstddef>
#include <cstdint>

namespace memgauge::kernels {

// A piece handles one line of each of two sub-streams in each of its slots.
inline constexpr unsigned slots_per_piece = 8;
inline constexpr unsigned lines_per_piece = 2 * slots_per_piece;
inline constexpr std::size_t traffic_store_count = 2;
inline constexpr std::size_t traffic_order_count = 2;

// Whether slot `slot` of a piece reads when `reads` of its slots do: evenly spread, the last of
// them in the last slot.
constexpr bool reads_in_slot(unsigned slot, unsigned reads) {
    return (slot + 1) * reads / slots_per_piece > slot * reads / slots_per_piece;
}

// The memory of one thread, and what it does there.
struct TrafficTask {
    const double* reads = nullptr;  // regions of 2 * `distance` elements, their first a line's
    double* writes = nullptr;
    double ramp_begin = 0.0;      // held by writes[0]; each element holds a ramp step more
    std::size_t distance = 0;     // elements between the two sub-streams
    std::size_t span = 0;         // lines of a sub-stream: walked to the end, then again
    std::size_t random_mask = 0;  // lines - 1 of that part of a region which random order visits
    unsigned random_shift = 1;
    // Of every `whole` pieces `fraction` read in one slot more than the kernel's name says.
    std::size_t fraction = 0;
    std::size_t whole = 1;
    std::uint32_t delay = 0;  // units of pause after a piece
    // These move on. sequential: line of a sub-stream. random: state of the scrambled order.
    std::size_t read_at = 0;
    std::size_t write_at = 0;
    std::size_t remainder = 0;
    std::uint64_t chain = 1;
    double sum = 0.0;  // of what was read, so that no load is left out
};

// Runs so many pieces; returns how many of them read in one slot more.
using TrafficKernel = std::size_t (*)(TrafficTask&, std::size_t pieces) noexcept;

struct TrafficTable {
    std::size_t line_bytes;
    // By store kind, order and slots that read (the fewer, where pieces differ). Null where the
    // instruction set has no such store.
    TrafficKernel at[traffic_store_count][traffic_order_count][slots_per_piece + 1];
    // Orders the non-temporal stores before the time stamp; null where there are none.
    void (*close)() noexcept;
};

}  // namespace memgauge::kernels
