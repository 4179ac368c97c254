#include "kernels/arrays/replay.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace memgauge::kernels {

namespace {

Multiple scaled(const Multiple& x, double scalar) noexcept {
    const double factor = scalar * x.factor;
    return {factor, std::fabs(scalar) * x.error + std::fabs(factor)};
}

Multiple added(const Multiple& x, const Multiple& y) noexcept {
    const double factor = x.factor + y.factor;
    return {factor, x.error + y.error + std::fabs(factor)};
}

}  // namespace

double replay_scalar(ElementType element) noexcept {
    const double scalar = std::numbers::sqrt2 - 1.0;
    return element == ElementType::f32 ? static_cast<double>(static_cast<float>(scalar)) : scalar;
}

void replay(BlockState& state, Operation operation, double scalar) noexcept {
    auto& [a, b, c] = state.arrays;
    switch (operation) {
        case Operation::copy:
            c = a;
            break;
        case Operation::scale:
            b = scaled(c, scalar);
            break;
        case Operation::add:
            c = added(a, b);
            break;
        case Operation::triad:
            a = added(b, scaled(c, scalar));
            break;
        case Operation::update:
            a = added(a, scaled(b, scalar));
            break;
        case Operation::write:
            a = {1.0, 0.0};
            break;
        case Operation::read:
            break;
    }
}

double stream_epsilon(ElementType element) noexcept {
    return element == ElementType::f32 ? 1e-6 : 1e-13;
}

// Twice the bound: for doubles the replayed factor itself was rounded as often; two more for the
// comparison's own arithmetic.
double rounding_bound(const Multiple& multiple, ElementType element) noexcept {
    const double rounding = element == ElementType::f32 ? 0x1p-24 : 0x1p-53;
    return (2.0 * multiple.error / std::fabs(multiple.factor) + 2.0) * rounding;
}

bool is_sound(const BlockState& state, ElementType element) noexcept {
    return std::ranges::all_of(state.arrays, [&](const Multiple& multiple) {
        const double size = std::fabs(multiple.factor);
        return size >= 0x1p-20 && size <= 0x1p20 &&
               rounding_bound(multiple, element) <= 2.0 * stream_epsilon(element);
    });
}

}  // namespace memgauge::kernels
