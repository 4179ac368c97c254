#pragma once

#include <cstddef>

namespace memgauge::memory {

// Follows `hops` pointers and returns where that leads. Nothing but loads lies on the dependent
// path: no address arithmetic, and the loop count runs beside it.
void** walk(void** position, std::size_t hops) noexcept;

// Loads one word of every 64-byte line, in order.
void sweep(const std::byte* begin, std::size_t bytes) noexcept;

}  // namespace memgauge::memory
