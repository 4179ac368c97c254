// The plain loops for x86-64 processors with AVX2 and FMA: vectors of 256 bits.

#define MEMGAUGE_STANDARD standard_avx2

#include "kernels/standard/loops.hpp"

namespace memgauge::kernels {
const StandardTable standard_avx2_table = standard_avx2::functions;
}
