#pragma once
// Plain loops that find the address of every element anew, as programs do that use libpmemobj's
// D_RO(array)[j] and D_RW(array)[j].

#include <array>

#include "memgauge/kernels.hpp"
#include "memgauge/memory_source.hpp"
#include "memory/areas/pmemobj_abi.hpp"

namespace memgauge {

struct TranslatedOperands {
    std::array<ObjectId, 3> objects;  // that begin at a, b and c, where those are in a pool
    pmemobj::Translation by;          // of the calling thread
};

}  // namespace memgauge

namespace memgauge::kernels {

// `access` is one of the translated ones.
KernelFunction translated_kernel(Operation operation, ElementType element, Access access) noexcept;

// To be called on a thread before its first translated kernel, outside of what is timed.
void ready_access(const KernelSpec& spec) noexcept;

}  // namespace memgauge::kernels
