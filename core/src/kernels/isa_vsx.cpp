// Kernels of ppc64le. A "vector" is a pair of 128-bit registers; four pairs make a 128-byte line.
//
// POWER has no streaming store. DCBZ claims a line in the cache and clears it without reading
// memory, so that a kernel which then overwrites the whole line saves the read that an ordinary
// store would cause. The line still passes through the caches. It needs steps of whole lines
// (unroll 4) and 128-byte blocks, which the dispatcher checks.

#include <altivec.h>

#include <cstddef>

#define MEMGAUGE_ISA vsx

namespace memgauge::kernels::vsx {

struct PowerStreams {
    static constexpr std::size_t line_bytes = 128;
    static consteval bool can_stream(unsigned unroll) { return unroll == 4; }
    static constexpr unsigned most_sums = 16;
    static consteval bool offers(unsigned unroll, unsigned streams) {
        return streams == 1 || unroll == 4;
    }
    static void open_line(void* at) { asm volatile("dcbz 0, %0" ::"r"(at) : "memory"); }
    static void close_streams() { asm volatile("lwsync" ::: "memory"); }
    // TH = 16: a transient line, soon not needed. TH = 0: an ordinary touch.
    static void prefetch_near(const void* at) { asm volatile("dcbt 0, %0, 16" ::"r"(at)); }
    static void prefetch_far(const void* at) { asm volatile("dcbt 0, %0" ::"r"(at)); }
};

template <class T>
struct Vector : PowerStreams {
    using Half __attribute__((vector_size(16))) = T;
    struct Value {
        Half low;
        Half high;
    };
    static constexpr std::size_t half = 16 / sizeof(T);
    static constexpr std::size_t lanes = 2 * half;
    static Value load(const T* from) { return {vec_xl(0, from), vec_xl(16, from)}; }
    static void store(T* to, Value value) {
        vec_xst(value.low, 0, to);
        vec_xst(value.high, 16, to);
    }
    static void stream(T* to, Value value) { store(to, value); }
    static Value broadcast(T value) { return {Half{} + value, Half{} + value}; }
    static Value add(Value x, Value y) { return {x.low + y.low, x.high + y.high}; }
    static Value multiply(Value x, Value y) { return {x.low * y.low, x.high * y.high}; }
    static Value ramp(T begin, T step) {
        T values[lanes];
        for (std::size_t i = 0; i < lanes; ++i) values[i] = begin + static_cast<T>(i) * step;
        return load(values);
    }
    static T sum(Value value) {
        const Half halves = value.low + value.high;
        T total = 0;
        for (std::size_t i = 0; i < half; ++i) total += halves[i];
        return total;
    }
};

}  // namespace memgauge::kernels::vsx

#include "kernels/pattern.hpp"
#include "kernels/traffic_pattern.hpp"

namespace memgauge::kernels {
const KernelTable vsx_table{Isa::vsx, vsx::functions.at, &vsx::traffic_table};
}
