#pragma once

#include "kernels/arrays/ramp.hpp"

namespace memgauge::kernels {

// Writes factor * x(i) for the elements of `range` to `at` and on; factor is a power of two.
void fill_ramp(ElementType element, void* at, const Range& range, double factor) noexcept;

}  // namespace memgauge::kernels
