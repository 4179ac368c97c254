// The `standard` variant: plain loops, as STREAM's source has them, so that figures compare with
// published ones. Compiled like STREAM at gcc -O3 for the baseline processor (core/kernels.cmake),
// with -fno-tree-loop-distribute-patterns: else copy would become a call to libc's memcpy, which
// chooses its own instructions.
//
// STREAM has no read or write. Here `read` keeps eight sums, because one sum waits for its own last
// addition (9.8 GB/s on a core that reads 35) and would measure the adder; `write` stores a ramp,
// because a constant might be treated unlike data by the hardware.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/table.hpp"

namespace memgauge::kernels {

namespace {

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
        const auto count = static_cast<std::int32_t>(std::min(stretch, operands.count - first));
        const T begin =
            static_cast<T>(operands.ramp_begin + static_cast<double>(first) * operands.ramp_step);
        for (std::int32_t j = 0; j < count; ++j) a[j] = begin + static_cast<T>(j) * step;
    }
    return 0.0;
}

template <class T>
KernelFunction select(Operation operation) noexcept {
    switch (operation) {
        case Operation::copy:
            return standard_copy<T>;
        case Operation::scale:
            return standard_scale<T>;
        case Operation::add:
            return standard_add<T>;
        case Operation::triad:
            return standard_triad<T>;
        case Operation::read:
            return standard_read<T>;
        case Operation::write:
            return standard_write<T>;
        case Operation::update:
            return standard_update<T>;
    }
    return nullptr;
}

}  // namespace

KernelFunction standard_kernel(Operation operation, ElementType element) noexcept {
    return element == ElementType::f32 ? select<float>(operation) : select<double>(operation);
}

}  // namespace memgauge::kernels
