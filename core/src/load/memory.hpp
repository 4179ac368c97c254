#pragma once
// The memory that one generator reads from and writes to.

#include <cstddef>

#include "kernels/ramp.hpp"
#include "memgauge/traffic.hpp"

namespace memgauge::load {

// A region to read from, then one to write to, each walked as two sub-streams. The four lie apart
// by an odd number of lines that is 17 over a multiple of 64: a distance that is a multiple of a
// large power of two would put all into the same cache sets and memory banks, and loads from one
// page would wait for stores to the same place of another.
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

// One mapping of its own, so that no page is shared. Both regions hold the ramp x(i) of
// kernels/ramp.hpp, the write region from x(first_element) on: stores write the same again.
class Memory {
public:
    Memory(const TrafficRequest& request, const Layout& layout, std::size_t first_element);

    // Touches and fills, on the calling thread.
    void fill(const Team& team) const;
    // Elements of the write region that differ from what they should hold.
    [[nodiscard]] kernels::Deviation deviation(const Team& team) const;

    [[nodiscard]] double* reads() const noexcept;
    [[nodiscard]] double* writes() const noexcept;
    [[nodiscard]] std::size_t first_element() const noexcept { return first_element_; }
    [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
    [[nodiscard]] const Buffer& buffer() const noexcept { return buffer_; }

private:
    Layout layout_;
    std::size_t first_element_;
    Buffer buffer_;
};

}  // namespace memgauge::load
