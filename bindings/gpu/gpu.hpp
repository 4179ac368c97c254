#pragma once
// A GPU as Python holds it: opened, and closed early or not.

#include "closable.hpp"
#include "memgauge/gpu/driver.hpp"
#include "memgauge/gpu/kernels.hpp"

namespace memgauge::bindings {

using OpenGpu = Closable<Gpu>;

}  // namespace memgauge::bindings
