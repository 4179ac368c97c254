#pragma once
// libpmemobj, loaded when a pool is first opened and never unloaded: threads keep addresses of its
// thread-local data.

#include "memory/areas/pmemobj_abi.hpp"

namespace memgauge::pmemobj {

// RequestError: it is not installed (says what package has it), or lacks functions.
const Calls& library();

// What the calling thread needs to translate objects. All null where the library was never loaded.
// The first call on a thread may allocate.
Translation translation() noexcept;

}  // namespace memgauge::pmemobj
