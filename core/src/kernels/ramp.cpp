#include "kernels/ramp.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace memgauge::kernels {

namespace {

constexpr std::size_t float_period = std::size_t{1} << 23;
constexpr std::int32_t lanes = 8;  // independent sums, so that the check is not bound by latency

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

// Denormals are not flushed and a NaN fails every comparison, so both count as failed.
template <class T>
Deviation scan(const T* values, std::int32_t count, const Expected& expected) noexcept {
    double sums[lanes] = {};
    double failed[lanes] = {};
    const std::int32_t whole = count - count % lanes;
    for (std::int32_t j = 0; j < whole; j += lanes) {
        for (std::int32_t k = 0; k < lanes; ++k) {
            const double error = relative_error(values[j + k], expected, j + k);
            sums[k] += error < 1.0 ? error : 1.0;
            failed[k] += error <= expected.tolerance ? 0.0 : 1.0;
        }
    }
    for (std::int32_t j = whole; j < count; ++j) {
        const double error = relative_error(values[j], expected, j);
        sums[0] += error < 1.0 ? error : 1.0;
        failed[0] += error <= expected.tolerance ? 0.0 : 1.0;
    }
    Deviation result;
    for (std::int32_t k = 0; k < lanes; ++k) {
        result.sum += sums[k];
        result.failed += static_cast<std::size_t>(failed[k]);
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
        const Deviation found = scan(values, count, expected);
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

}  // namespace memgauge::kernels
