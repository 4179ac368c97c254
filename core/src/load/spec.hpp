#pragma once
// What a TrafficSpec means on this processor.

#include <cstddef>

#include "kernels/traffic_table.hpp"
#include "memgauge/traffic.hpp"

namespace memgauge::load {

// Which kernel, and how pieces of it and of the one that reads in a slot more alternate.
struct Mix {
    kernels::TrafficKernel kernel;
    void (*close)() noexcept;  // null when nothing is to be ordered
    unsigned slots;            // that read, in a piece
    std::size_t fraction;      // of every `whole` pieces so many read in one slot more
    std::size_t whole;
};

// RequestError as check().
Mix mix_of(const TrafficSpec& spec);

// Bytes of a line: the same for all specs.
std::size_t cache_line_bytes() noexcept;

}  // namespace memgauge::load
