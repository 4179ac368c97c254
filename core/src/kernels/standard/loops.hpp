// The `standard` variant: plain loops, as STREAM's source has them, so that figures compare with
// published ones. One source for all instruction sets: each standard_<name>.cpp defines
// MEMGAUGE_STANDARD, its namespace, and includes this once. It is compiled as users compile STREAM,
// with gcc -O3 -march=native: vectors are the compiler's own, and it may fuse a multiplication with
// an addition (core/kernels.cmake). Nothing of the standard library is called, so that no function
// compiled with, say, -mavx512f can be picked by the linker for code that runs on lesser
// processors.
//
// One thing differs: with -fno-tree-loop-distribute-patterns copy stays a loop. STREAM's becomes a
// call to libc's memcpy, which chooses its own instructions, among them non-temporal stores from a
// size on that differs between machines and releases.
//
// STREAM has no read or write. Here `read` keeps eight sums, because one sum waits for its own last
// addition (9.8 GB/s on a core that reads 35) and would measure the adder; `write` stores a ramp,
// because a constant might be treated unlike data by the hardware.

#include <cstddef>
#include <cstdint>

#include "kernels/table.hpp"

#ifndef MEMGAUGE_STANDARD
#error "define MEMGAUGE_STANDARD before including kernels/standard/loops.hpp"
#endif

namespace memgauge::kernels::MEMGAUGE_STANDARD {

template <class T>
struct Arrays {
    explicit Arrays(const KernelOperands& operands)
        : a(static_cast<T*>(operands.a)),
          b(static_cast<T*>(operands.b)),
          c(static_cast<T*>(operands.c)),
          scalar(static_cast<T>(operands.scalar)) {}
    T* a;
    T* b;
    T* c;
    T scalar;
};

template <class T>
double standard_copy(const KernelOperands& operands) noexcept {
    const Arrays<T> arrays(operands);
    const T* __restrict a = arrays.a;
    T* __restrict c = arrays.c;
    for (std::size_t j = 0; j < operands.count; ++j) c[j] = a[j];
    return 0.0;
}

template <class T>
double standard_scale(const KernelOperands& operands) noexcept {
    const Arrays<T> arrays(operands);
    T* __restrict b = arrays.b;
    const T* __restrict c = arrays.c;
    for (std::size_t j = 0; j < operands.count; ++j) b[j] = arrays.scalar * c[j];
    return 0.0;
}

template <class T>
double standard_add(const KernelOperands& operands) noexcept {
    const Arrays<T> arrays(operands);
    const T* __restrict a = arrays.a;
    const T* __restrict b = arrays.b;
    T* __restrict c = arrays.c;
    for (std::size_t j = 0; j < operands.count; ++j) c[j] = a[j] + b[j];
    return 0.0;
}

template <class T>
double standard_triad(const KernelOperands& operands) noexcept {
    const Arrays<T> arrays(operands);
    T* __restrict a = arrays.a;
    const T* __restrict b = arrays.b;
    const T* __restrict c = arrays.c;
    for (std::size_t j = 0; j < operands.count; ++j) a[j] = b[j] + arrays.scalar * c[j];
    return 0.0;
}

template <class T>
double standard_update(const KernelOperands& operands) noexcept {
    const Arrays<T> arrays(operands);
    T* __restrict a = arrays.a;
    const T* __restrict b = arrays.b;
    for (std::size_t j = 0; j < operands.count; ++j) a[j] = a[j] + arrays.scalar * b[j];
    return 0.0;
}

template <class T>
double standard_read(const KernelOperands& operands) noexcept {
    const T* const a = static_cast<const T*>(operands.a);
    constexpr std::size_t sums = 8;
    T sum[sums] = {};
    std::size_t j = 0;
    for (; j + sums <= operands.count; j += sums) {
        for (std::size_t k = 0; k < sums; ++k) sum[k] += a[j + k];
    }
    for (; j < operands.count; ++j) sum[0] += a[j];
    double total = 0.0;
    for (const T part : sum) total += static_cast<double>(part);
    return total;
}

// In stretches short enough for 32-bit counters, which every baseline converts to floating point
// in vectors; 64-bit ones it does not.
template <class T>
double standard_write(const KernelOperands& operands) noexcept {
    constexpr std::size_t stretch = std::size_t{1} << 20;
    const T step = static_cast<T>(operands.ramp_step);
    for (std::size_t first = 0; first < operands.count; first += stretch) {
        T* __restrict a = static_cast<T*>(operands.a) + first;
        const std::size_t rest = operands.count - first;
        const auto count = static_cast<std::int32_t>(rest < stretch ? rest : stretch);
        const T begin =
            static_cast<T>(operands.ramp_begin + static_cast<double>(first) * operands.ramp_step);
        for (std::int32_t j = 0; j < count; ++j) a[j] = begin + static_cast<T>(j) * step;
    }
    return 0.0;
}

// In the order of Operation and ElementType.
inline constexpr StandardTable functions{{
    {standard_copy<float>, standard_copy<double>},
    {standard_scale<float>, standard_scale<double>},
    {standard_add<float>, standard_add<double>},
    {standard_triad<float>, standard_triad<double>},
    {standard_read<float>, standard_read<double>},
    {standard_write<float>, standard_write<double>},
    {standard_update<float>, standard_update<double>},
}};

}  // namespace memgauge::kernels::MEMGAUGE_STANDARD
