// 128-bit kernels of x86-64. Four vectors make a cache line.

#include <immintrin.h>

#include "kernels/x86_streams.hpp"

#define MEMGAUGE_ISA sse2

namespace memgauge::kernels::sse2 {

template <class T>
struct Vector;

// Sub-streams only in steps of whole lines: the write-combining buffers hold a line each.
struct Shapes : X86Streams {
    static constexpr unsigned most_sums = 8;
    static consteval bool offers(unsigned unroll, unsigned streams) {
        return streams == 1 || (unroll == 4);
    }
};

template <>
struct Vector<double> : Shapes {
    using Value = __m128d;
    static constexpr std::size_t lanes = 2;
    static Value load(const double* from) { return _mm_loadu_pd(from); }
    static void store(double* to, Value value) { _mm_store_pd(to, value); }
    static void stream(double* to, Value value) { _mm_stream_pd(to, value); }
    static Value broadcast(double value) { return _mm_set1_pd(value); }
    static Value add(Value x, Value y) { return _mm_add_pd(x, y); }
    static Value multiply(Value x, Value y) { return _mm_mul_pd(x, y); }
    static Value ramp(double begin, double step) {
        return add(broadcast(begin), multiply(broadcast(step), _mm_setr_pd(0, 1)));
    }
    static double sum(Value value) { return value[0] + value[1]; }
};

template <>
struct Vector<float> : Shapes {
    using Value = __m128;
    static constexpr std::size_t lanes = 4;
    static Value load(const float* from) { return _mm_loadu_ps(from); }
    static void store(float* to, Value value) { _mm_store_ps(to, value); }
    static void stream(float* to, Value value) { _mm_stream_ps(to, value); }
    static Value broadcast(float value) { return _mm_set1_ps(value); }
    static Value add(Value x, Value y) { return _mm_add_ps(x, y); }
    static Value multiply(Value x, Value y) { return _mm_mul_ps(x, y); }
    static Value ramp(float begin, float step) {
        return add(broadcast(begin), multiply(broadcast(step), _mm_setr_ps(0, 1, 2, 3)));
    }
    static float sum(Value value) {
        float total = 0;
        for (std::size_t i = 0; i < lanes; ++i) total += value[i];
        return total;
    }
};

}  // namespace memgauge::kernels::sse2

#include "kernels/pattern.hpp"
#include "kernels/traffic_pattern.hpp"

namespace memgauge::kernels {
const KernelTable sse2_table{Isa::sse2, sse2::functions.at, &sse2::traffic_table};
}
