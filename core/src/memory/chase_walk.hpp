#pragma once

#include <cstddef>

namespace memgauge::memory {

// Follows `hops` pointers and returns where that leads. Nothing but loads lies on the dependent
// path: no address arithmetic, and the loop count runs beside it.
void** walk(void** position, std::size_t hops) noexcept;

}  // namespace memgauge::memory
