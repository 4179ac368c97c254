#pragma once
// The multiples of the ramp that a block's arrays hold, replayed operation by operation in scalars
// as STREAM's checkSTREAMresults does, with a bound on how far rounding can have moved an element.

#include <array>

#include "memgauge/kernels.hpp"

namespace memgauge::kernels {

// Element i is factor * x(i), give or take error * x(i) roundings (of half a unit in the last
// place of 1). The bound is the worst case, not an estimate: a healthy machine never exceeds it.
struct Multiple {
    double factor;
    double error;
};

struct BlockState {
    // Powers of two: the fill is exact.
    std::array<Multiple, 3> arrays{{{1.0, 0.0}, {2.0, 0.0}, {0.5, 0.0}}};  // a, b, c
};

// s = sqrt(2) - 1 as the element type holds it. A round of copy, scale, add and triad turns a into
// (2s + s^2) a = a: values stay bounded however long the arrays are used.
double replay_scalar(ElementType element) noexcept;

void replay(BlockState& state, Operation operation, double scalar) noexcept;

// Largest relative error rounding can have left in one array; and STREAM's allowance.
double rounding_bound(const Multiple& multiple, ElementType element) noexcept;
double stream_epsilon(ElementType element) noexcept;

// False when a multiple has grown or shrunk far from 1 or rounding may have used up the allowance:
// then the block should be filled again.
bool is_sound(const BlockState& state, ElementType element) noexcept;

}  // namespace memgauge::kernels
