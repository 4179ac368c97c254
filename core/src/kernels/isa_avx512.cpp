// 512-bit kernels of x86-64. A vector is a cache line.

#include <immintrin.h>

#include "kernels/x86_streams.hpp"

#define MEMGAUGE_ISA avx512

namespace memgauge::kernels::avx512 {

template <class T>
struct Vector;

struct Shapes : X86Streams {
    static constexpr unsigned most_sums = 16;
    static consteval bool offers(unsigned unroll, unsigned streams) {
        return streams == 1 || (unroll <= 2);
    }
};

template <>
struct Vector<double> : Shapes {
    using Value = __m512d;
    static constexpr std::size_t lanes = 8;
    static Value load(const double* from) { return _mm512_loadu_pd(from); }
    static void store(double* to, Value value) { _mm512_store_pd(to, value); }
    static void stream(double* to, Value value) { _mm512_stream_pd(to, value); }
    static Value broadcast(double value) { return _mm512_set1_pd(value); }
    static Value add(Value x, Value y) { return _mm512_add_pd(x, y); }
    static Value multiply(Value x, Value y) { return _mm512_mul_pd(x, y); }
    static Value ramp(double begin, double step) {
        return add(broadcast(begin),
                   multiply(broadcast(step), _mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7)));
    }
    static double sum(Value value) {
        double total = 0;
        for (std::size_t i = 0; i < lanes; ++i) total += value[i];
        return total;
    }
};

template <>
struct Vector<float> : Shapes {
    using Value = __m512;
    static constexpr std::size_t lanes = 16;
    static Value load(const float* from) { return _mm512_loadu_ps(from); }
    static void store(float* to, Value value) { _mm512_store_ps(to, value); }
    static void stream(float* to, Value value) { _mm512_stream_ps(to, value); }
    static Value broadcast(float value) { return _mm512_set1_ps(value); }
    static Value add(Value x, Value y) { return _mm512_add_ps(x, y); }
    static Value multiply(Value x, Value y) { return _mm512_mul_ps(x, y); }
    static Value ramp(float begin, float step) {
        return add(broadcast(begin),
                   multiply(broadcast(step),
                            _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
    }
    static float sum(Value value) {
        float total = 0;
        for (std::size_t i = 0; i < lanes; ++i) total += value[i];
        return total;
    }
};

}  // namespace memgauge::kernels::avx512

#include "kernels/pattern.hpp"
#include "kernels/traffic_pattern.hpp"

namespace memgauge::kernels {
const KernelTable avx512_table{Isa::avx512, avx512::functions.at, &avx512::traffic_table};
}
