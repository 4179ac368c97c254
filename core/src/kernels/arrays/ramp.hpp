#pragma once
// What the arrays hold: multiples of x(i) = 1 + i * 2^-40 (double) or 1 + (i mod 2^23) * 2^-23
// (float). All x(i) and their multiples by powers of two are exact; none is zero, none repeats
// within 8 TiB (float: 32 MiB, all that 24 bits of precision between 1 and 2 can distinguish).

#include <cstddef>

#include "memgauge/kernels.hpp"

namespace memgauge::kernels {

// An element's index and how many follow it; elements of a wrapping ramp are split at the wraps.
struct Range {
    std::size_t first;
    std::size_t count;
};

double ramp_step_of(ElementType element) noexcept;
// x(index).
double ramp_at(ElementType element, std::size_t index) noexcept;
// The longest beginning of `range` over which the ramp does not wrap.
Range before_wrap(ElementType element, const Range& range) noexcept;

// How far elements are from `factor` * x(index).
struct Deviation {
    double sum = 0.0;        // of relative errors; one that is not below 1 (or no number) counts 1
    std::size_t failed = 0;  // elements whose relative error is not within the tolerance
    std::size_t first_failed = 0;

    void add(const Deviation& found) noexcept;  // of elements that lie behind
};

// `values` holds the elements of `range`.
Deviation deviation(ElementType element, const void* values, const Range& range, double factor,
                    double tolerance) noexcept;

// Flips the highest bit of the fraction of one element: a large error, but still a number.
void flip_bit(ElementType element, std::byte* at) noexcept;

}  // namespace memgauge::kernels
