#include "kernels/arrays/ramp.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

namespace memgauge::kernels {

namespace {

constexpr std::size_t float_period = std::size_t{1} << 23;
// Eight elements at once, in the compiler's vector extension.
constexpr std::int32_t lanes = 8;
using Lanes __attribute__((vector_size(lanes * sizeof(double)))) = double;
using Masks __attribute__((vector_size(lanes * sizeof(double)))) = std::int64_t;
constexpr Lanes lane_index{0, 1, 2, 3, 4, 5, 6, 7};

struct Expected {
    double begin;  // x of the first element
    double step;
    double factor;
    double tolerance;
    // 1 / |factor * begin|, in place of a division for every element. Over a stretch x grows by
    // 0.2% at most (float), and by so much at most an error is overstated.
    double inverse;
};

template <class T>
double relative_error(T value, const Expected& expected, std::int32_t j) noexcept {
    const double exact =
        expected.factor * (expected.begin + static_cast<double>(j) * expected.step);
    return std::fabs(static_cast<double>(value) - exact) * expected.inverse;
}

template <class T>
Lanes load(const T* values) noexcept {
    using Loaded __attribute__((vector_size(lanes * sizeof(T)))) = T;
    Loaded loaded;
    std::memcpy(&loaded, values, sizeof loaded);
    return __builtin_convertvector(loaded, Lanes);
}

Lanes absolute(Lanes value) noexcept {
    return reinterpret_cast<Lanes>(reinterpret_cast<Masks>(value) & INT64_MAX);
}

// Multiplications and additions only, because comparisons of doubles have no vector form on every
// baseline: (error / tolerance)^8 is summed up, and a sum of at most 1 proves every element within
// the tolerance. None when it proves nothing; a NaN or an infinity makes the sum one.
template <class T>
std::optional<Deviation> scan_at_once(const T* values, std::int32_t count,
                                      const Expected& expected) noexcept {
    Lanes sums{};
    Lanes powers{};
    const double scale = 1.0 / expected.tolerance;
    const std::int32_t whole = count - count % lanes;
    for (std::int32_t j = 0; j < whole; j += lanes) {
        const Lanes index = lane_index + static_cast<double>(j);
        const Lanes exact = expected.factor * (expected.begin + index * expected.step);
        const Lanes error = absolute(load(values + j) - exact) * expected.inverse;
        const Lanes squared = (error * scale) * (error * scale);
        sums += error;
        powers += (squared * squared) * (squared * squared);
    }
    Deviation result;
    double power = 0.0;
    for (std::int32_t k = 0; k < lanes; ++k) {
        result.sum += sums[k];
        power += powers[k];
    }
    for (std::int32_t j = whole; j < count; ++j) {
        const double error = relative_error(values[j], expected, j);
        result.sum += error;
        power += std::pow(error * scale, 8);
    }
    if (power <= 1.0) return result;
    return std::nullopt;
}

// One by one. A NaN fails every comparison and so counts as failed.
template <class T>
Deviation scan(const T* values, std::int32_t count, const Expected& expected) noexcept {
    Deviation result;
    for (std::int32_t j = 0; j < count; ++j) {
        const double error = relative_error(values[j], expected, j);
        result.sum += error < 1.0 ? error : 1.0;
        result.failed += error <= expected.tolerance ? 0 : 1;
    }
    return result;
}

template <class T>
std::size_t first_failed(const T* values, std::int32_t count, const Expected& expected) noexcept {
    std::int32_t j = 0;
    while (j < count && relative_error(values[j], expected, j) <= expected.tolerance) ++j;
    return static_cast<std::size_t>(j);
}

// Short enough for 32-bit counters, long enough to forget the call.
constexpr std::size_t stretch = 16384;

template <class T>
Deviation compare(ElementType element, const T* values, Range range, double factor,
                  double tolerance) noexcept {
    Deviation total;
    while (range.count > 0) {
        const std::size_t part =
            before_wrap(element, {range.first, std::min(range.count, stretch)}).count;
        const auto count = static_cast<std::int32_t>(part);
        const Expected expected{ramp_at(element, range.first), ramp_step_of(element), factor,
                                tolerance, 1.0 / std::fabs(factor * ramp_at(element, range.first))};
        const std::optional<Deviation> sound = scan_at_once(values, count, expected);
        const Deviation found = sound ? *sound : scan(values, count, expected);
        if (found.failed > 0 && total.failed == 0) {
            total.first_failed = range.first + first_failed(values, count, expected);
        }
        total.sum += found.sum;
        total.failed += found.failed;
        values += part;
        range = {range.first + part, range.count - part};
    }
    return total;
}

}  // namespace

void Deviation::add(const Deviation& found) noexcept {
    if (found.failed > 0 && failed == 0) first_failed = found.first_failed;
    sum += found.sum;
    failed += found.failed;
}

double ramp_step_of(ElementType element) noexcept {
    return element == ElementType::f32 ? 0x1p-23 : 0x1p-40;
}

double ramp_at(ElementType element, std::size_t index) noexcept {
    const std::size_t phase = element == ElementType::f32 ? index % float_period : index;
    return 1.0 + static_cast<double>(phase) * ramp_step_of(element);
}

Range before_wrap(ElementType element, const Range& range) noexcept {
    if (element == ElementType::f64) return range;
    return {range.first, std::min(range.count, float_period - range.first % float_period)};
}

Deviation deviation(ElementType element, const void* values, const Range& range, double factor,
                    double tolerance) noexcept {
    if (element == ElementType::f32) {
        return compare(element, static_cast<const float*>(values), range, factor, tolerance);
    }
    return compare(element, static_cast<const double*>(values), range, factor, tolerance);
}

void flip_bit(ElementType element, std::byte* at) noexcept {
    const std::size_t bytes = element_bytes(element);
    const std::size_t fraction_bits = bytes == sizeof(float) ? 23 : 52;
    const std::size_t bit = fraction_bits - 1;
    const std::size_t byte_of_bit =
        std::endian::native == std::endian::little ? bit / 8 : bytes - 1 - bit / 8;
    at[byte_of_bit] ^= static_cast<std::byte>(1U << bit % 8);
}

}  // namespace memgauge::kernels
