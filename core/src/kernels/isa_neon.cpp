// Kernels of aarch64. A "vector" is a pair of 128-bit registers, as LDP, STP and STNP move them:
// two pairs make a 64-byte line.
//
// STNP is a store with a hint that the line will not be used again. Cores may ignore it; most
// detect full-line writes anyway and stop reading lines first (write streaming). What it does on a
// given core is therefore measured, not assumed.

#include <arm_neon.h>

#include <cstddef>

#define MEMGAUGE_ISA neon

namespace memgauge::kernels::neon {

template <class T>
struct Vector;

struct ArmStreams {
    static constexpr std::size_t line_bytes = 64;
    static consteval bool can_stream(unsigned) { return true; }
    static constexpr unsigned most_sums = 8;
    static consteval bool offers(unsigned unroll, unsigned streams) {
        return streams == 1 || (unroll >= 2 && unroll * streams <= 8);
    }
    static void open_line(void*) {}
    // Waits until the stores are visible, so that a time stamp taken next covers them.
    static void close_streams() { asm volatile("dmb ishst" ::: "memory"); }
    static void prefetch_near(const void* at) { asm volatile("prfm pldl1strm, [%0]" ::"r"(at)); }
    static void prefetch_far(const void* at) { asm volatile("prfm pldl2keep, [%0]" ::"r"(at)); }
};

template <>
struct Vector<double> : ArmStreams {
    struct Value {
        float64x2_t low;
        float64x2_t high;
    };
    static constexpr std::size_t lanes = 4;
    static Value load(const double* from) { return {vld1q_f64(from), vld1q_f64(from + 2)}; }
    static void store(double* to, Value value) {
        vst1q_f64(to, value.low);
        vst1q_f64(to + 2, value.high);
    }
    static void stream(double* to, Value value) {
        asm volatile("stnp %q1, %q2, [%0]" ::"r"(to), "w"(value.low), "w"(value.high) : "memory");
    }
    static Value broadcast(double value) { return {vdupq_n_f64(value), vdupq_n_f64(value)}; }
    static Value add(Value x, Value y) {
        return {vaddq_f64(x.low, y.low), vaddq_f64(x.high, y.high)};
    }
    static Value multiply(Value x, Value y) {
        return {vmulq_f64(x.low, y.low), vmulq_f64(x.high, y.high)};
    }
    static Value ramp(double begin, double step) {
        const double values[lanes] = {begin, begin + step, begin + 2 * step, begin + 3 * step};
        return load(values);
    }
    static double sum(Value value) { return vaddvq_f64(vaddq_f64(value.low, value.high)); }
};

template <>
struct Vector<float> : ArmStreams {
    struct Value {
        float32x4_t low;
        float32x4_t high;
    };
    static constexpr std::size_t lanes = 8;
    static Value load(const float* from) { return {vld1q_f32(from), vld1q_f32(from + 4)}; }
    static void store(float* to, Value value) {
        vst1q_f32(to, value.low);
        vst1q_f32(to + 4, value.high);
    }
    static void stream(float* to, Value value) {
        asm volatile("stnp %q1, %q2, [%0]" ::"r"(to), "w"(value.low), "w"(value.high) : "memory");
    }
    static Value broadcast(float value) { return {vdupq_n_f32(value), vdupq_n_f32(value)}; }
    static Value add(Value x, Value y) {
        return {vaddq_f32(x.low, y.low), vaddq_f32(x.high, y.high)};
    }
    static Value multiply(Value x, Value y) {
        return {vmulq_f32(x.low, y.low), vmulq_f32(x.high, y.high)};
    }
    static Value ramp(float begin, float step) {
        float values[lanes];
        for (std::size_t i = 0; i < lanes; ++i) values[i] = begin + static_cast<float>(i) * step;
        return load(values);
    }
    static float sum(Value value) { return vaddvq_f32(vaddq_f32(value.low, value.high)); }
};

}  // namespace memgauge::kernels::neon

#include "kernels/pattern.hpp"
#include "kernels/traffic_pattern.hpp"

namespace memgauge::kernels {
const KernelTable neon_table{Isa::neon, neon::functions.at, &neon::traffic_table};
}
