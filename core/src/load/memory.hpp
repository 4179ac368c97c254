#pragma once
// The memory that one generator reads from and writes to.

#include <cstddef>

#include "kernels/arrays/ramp.hpp"
#include "memgauge/traffic.hpp"

namespace memgauge::load {

// A region to read from, then one to write to, each walked as two sub-streams. The four lie apart
// by an odd number of lines that is 17 over a multiple of 64: a distance that is a multiple of a
// large power of two would put all into the same cache sets and memory banks, and loads from one
// page would wait for stores to the same place of another. Regions of two buffers are laid as far
// apart within a page.
struct Layout {
    std::size_t line_bytes;
    std::size_t distance_lines;  // between sub-streams

    // A whole number of slots of a piece.
    [[nodiscard]] std::size_t span_lines() const noexcept { return distance_lines - 1; }
    [[nodiscard]] std::size_t region_lines() const noexcept { return 2 * distance_lines; }
    // The part of a region that random order visits.
    [[nodiscard]] std::size_t random_lines() const noexcept;
    [[nodiscard]] std::size_t region_elements() const noexcept {
        return region_lines() * line_bytes / sizeof(double);
    }
};

// Regions of at least so many bytes. RequestError: too few for two pieces, or more than can be
// addressed.
Layout lay_out(std::size_t bytes, std::size_t line_bytes);

// Regions that fit into so many bytes each. RequestError: too few.
Layout lay_out_within(std::size_t bytes, std::size_t line_bytes);

// Where a write region that is a buffer of its own begins in it, when that of the reads begins with
// its own: as far from a page's begin as if it followed the reads.
inline constexpr std::size_t writes_offset_lines = 34;

// Where a generator reads and writes. The write region holds the ramp of
// kernels/arrays/ramp.hpp from x(first_element) on: stores write the same again.
struct Regions {
    Layout layout;
    double* reads;
    double* writes;
    std::size_t first_element;
};

// One mapping of its own, so that no page is shared. Both regions hold the same ramp.
class Memory {
public:
    Memory(const TrafficRequest& request, const Layout& layout, std::size_t first_element,
           const StopCheck& stop = {});

    // Touches and fills, on the calling thread.
    void fill(const Team& team) const;
    // Elements of the write region that differ from what they should hold.
    [[nodiscard]] kernels::Deviation deviation(const Team& team) const;

    [[nodiscard]] const Regions& regions() const noexcept { return regions_; }
    [[nodiscard]] const Buffer& buffer() const noexcept { return buffer_; }

private:
    Buffer buffer_;
    Regions regions_;
};

}  // namespace memgauge::load
