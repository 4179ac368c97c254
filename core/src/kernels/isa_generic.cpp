// Kernels in the compiler's own vector extension, 16 bytes wide: every processor can run them, and
// none has a store hint, so stores are ordinary ones.

#include <cstddef>

#define MEMGAUGE_ISA generic

namespace memgauge::kernels::generic {

template <class T>
struct Vector {
    using Value __attribute__((vector_size(16))) = T;
    using Unaligned __attribute__((vector_size(16), aligned(alignof(T)), may_alias)) = T;

    static constexpr std::size_t lanes = 16 / sizeof(T);
    static constexpr std::size_t line_bytes = 64;
    static consteval bool can_stream(unsigned) { return false; }
    static constexpr unsigned most_sums = 8;
    static consteval bool offers(unsigned unroll, unsigned streams) {
        return streams == 1 || unroll == 4;
    }
    static Value load(const T* from) { return *reinterpret_cast<const Unaligned*>(from); }
    static void store(T* to, Value value) { *reinterpret_cast<Unaligned*>(to) = value; }
    static Value broadcast(T value) { return Value{} + value; }
    static Value add(Value x, Value y) { return x + y; }
    static Value multiply(Value x, Value y) { return x * y; }
    static Value ramp(T begin, T step) {
        Value value{};
        for (std::size_t i = 0; i < lanes; ++i) value[i] = begin + static_cast<T>(i) * step;
        return value;
    }
    static T sum(Value value) {
        T total = 0;
        for (std::size_t i = 0; i < lanes; ++i) total += value[i];
        return total;
    }
    // Always inlined: gcc takes a function that only prefetches for one without effect, and drops
    // calls of it.
    [[gnu::always_inline]] static void prefetch_near(const void* at) {
        __builtin_prefetch(at, 0, 0);
    }
    [[gnu::always_inline]] static void prefetch_far(const void* at) {
        __builtin_prefetch(at, 0, 2);
    }
};

}  // namespace memgauge::kernels::generic

#include "kernels/pattern.hpp"
#include "kernels/traffic_pattern.hpp"

namespace memgauge::kernels {
const KernelTable generic_table{Isa::generic, generic::functions.at, &generic::traffic_table};
}
