#pragma once
// What this processor, with this operating system, can execute.

#include "kernels/table.hpp"

namespace memgauge::kernels {

// Null when it was not compiled for the target.
const KernelTable* table_of(Isa isa) noexcept;

// True when processor and operating system support it.
bool processor_has(Isa isa) noexcept;

// The plain loops compiled for an instruction set; null when there are none, or this processor
// cannot run them.
const StandardTable* standard_table_of(Isa isa) noexcept;

// True when the kernels' way of storing without reading the line first is sound here.
bool can_stream(Isa isa) noexcept;

}  // namespace memgauge::kernels
