// 256-bit kernels of x86-64. Two vectors make a cache line.

#include <immintrin.h>

#include "kernels/x86_streams.hpp"

#define MEMGAUGE_ISA avx2

namespace memgauge::kernels::avx2 {

template <class T>
struct Vector;

// Sub-streams only in steps of whole lines: the write-combining buffers hold a line each.
struct Shapes : X86Streams {
    static constexpr unsigned most_sums = 16;
    static consteval bool offers(unsigned unroll, unsigned streams) {
        return streams == 1 || (unroll >= 2 && unroll * streams <= 8);
    }
};

template <>
struct Vector<double> : Shapes {
    using Value = __m256d;
    static constexpr std::size_t lanes = 4;
    static Value load(const double* from) { return _mm256_loadu_pd(from); }
    static void store(double* to, Value value) { _mm256_store_pd(to, value); }
    static void stream(double* to, Value value) { _mm256_stream_pd(to, value); }
    static Value broadcast(double value) { return _mm256_set1_pd(value); }
    static Value add(Value x, Value y) { return _mm256_add_pd(x, y); }
    static Value multiply(Value x, Value y) { return _mm256_mul_pd(x, y); }
    static Value ramp(double begin, double step) {
        return add(broadcast(begin), multiply(broadcast(step), _mm256_setr_pd(0, 1, 2, 3)));
    }
    static double sum(Value value) { return (value[0] + value[1]) + (value[2] + value[3]); }
};

template <>
struct Vector<float> : Shapes {
    using Value = __m256;
    static constexpr std::size_t lanes = 8;
    static Value load(const float* from) { return _mm256_loadu_ps(from); }
    static void store(float* to, Value value) { _mm256_store_ps(to, value); }
    static void stream(float* to, Value value) { _mm256_stream_ps(to, value); }
    static Value broadcast(float value) { return _mm256_set1_ps(value); }
    static Value add(Value x, Value y) { return _mm256_add_ps(x, y); }
    static Value multiply(Value x, Value y) { return _mm256_mul_ps(x, y); }
    static Value ramp(float begin, float step) {
        return add(broadcast(begin),
                   multiply(broadcast(step), _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7)));
    }
    static float sum(Value value) {
        float total = 0;
        for (std::size_t i = 0; i < lanes; ++i) total += value[i];
        return total;
    }
};

}  // namespace memgauge::kernels::avx2

#include "kernels/pattern.hpp"
#include "kernels/traffic_pattern.hpp"

namespace memgauge::kernels {
const KernelTable avx2_table{Isa::avx2, avx2::functions.at, &avx2::traffic_table};
}
