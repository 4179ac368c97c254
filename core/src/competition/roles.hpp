#pragma once
// Which of a member's arrays a kernel's operands are.

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/arrays/replay.hpp"
#include "memgauge/competition.hpp"

namespace memgauge::competition {

// `second` is the other source of operations that read two.
enum class Role : std::uint8_t { source, second, destination, none };
inline constexpr std::size_t role_count = 3;

// Of the operands a, b and c.
std::array<Role, 3> roles_of(Operation operation) noexcept;

ArrayCounts arrays_of(Operation operation) noexcept;

// Multiples of the ramp that the arrays are filled with, which the sources keep for good.
inline constexpr std::array<double, role_count> fill_factors{1.0, 0.5, 1.0};

// Update adds and takes away in turn, lap by lap. Its scalar is half of the others', so that
// nothing that another operation left in the destination, less this, is near zero.
double scalar_of(Operation operation, ElementType element) noexcept;

// What the destination holds after the operation, where it held `before`.
kernels::Multiple result_of(Operation operation, const kernels::Multiple& before,
                            double scalar) noexcept;

}  // namespace memgauge::competition
