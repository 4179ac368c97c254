// The plain loops for the baseline processor, as the compiler has it without -march: SSE2, Advanced
// SIMD or VSX.

#define MEMGAUGE_STANDARD standard_baseline

#include "kernels/standard/loops.hpp"

namespace memgauge::kernels {
const StandardTable standard_baseline_table = standard_baseline::functions;
}
