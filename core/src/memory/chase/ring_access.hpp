#pragma once
// What those who walk a ring beside other work need of it.

#include "memgauge/chase.hpp"

namespace memgauge::memory {

struct RingAccess {
    static const Team& team(const ChaseRing& ring) noexcept;
    // Where the last walk ended: whoever walks on leaves the new place here.
    static void**& position(ChaseRing& ring) noexcept;
};

}  // namespace memgauge::memory
