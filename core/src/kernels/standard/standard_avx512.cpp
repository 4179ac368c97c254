// The plain loops for x86-64 processors with AVX-512 whose compilers take vectors of 512 bits.

#define MEMGAUGE_STANDARD standard_avx512

#include "kernels/standard/loops.hpp"

namespace memgauge::kernels {
const StandardTable standard_avx512_table = standard_avx512::functions;
}
