#pragma once
// How arrays are divided: equal parts, one per thread; equal blocks within a part.

#include <cstddef>

#include "kernels/arrays/ramp.hpp"
#include "memgauge/stream_arrays.hpp"

namespace memgauge::kernels {

struct ArrayLayout {
    std::size_t threads;
    std::size_t blocks;              // of each thread
    std::size_t elements_per_block;  // a whole number of 256-byte pieces

    [[nodiscard]] std::size_t part_elements() const noexcept { return blocks * elements_per_block; }
    [[nodiscard]] std::size_t elements() const noexcept { return threads * part_elements(); }
    [[nodiscard]] Range block(std::size_t rank, std::size_t index) const noexcept {
        return {rank * part_elements() + index % blocks * elements_per_block, elements_per_block};
    }
    // The blocks first .. first + count - 1 (wrapping) of a thread, as up to two ranges: the second
    // is empty when they do not wrap. `count` is at most `blocks`.
    struct Ranges {
        Range front;
        Range back;
    };
    [[nodiscard]] Ranges ranges(std::size_t rank, std::size_t first,
                                std::size_t count) const noexcept;
};

// Rounds the elements of an array up. RequestError: too few for so many threads and blocks, or
// more than can be addressed.
ArrayLayout lay_out(const ArraysRequest& request, std::size_t threads);

// RequestError when the slice asks for blocks or repeats that the layout does not have.
void check_slice(const SliceRequest& slice, Operation operation, const ArrayLayout& layout);

}  // namespace memgauge::kernels
