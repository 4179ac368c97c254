#include "kernels/arrays/fill.hpp"

#include <cstddef>

namespace memgauge::kernels {

// NOLINTNEXTLINE(bugprone-exception-escape): the default kernel is one of those that there are
void fill_ramp(ElementType element, void* at, const Range& range, double factor) noexcept {
    static const KernelFunction kernels[] = {
        find_kernel(default_tuned_spec(Operation::write, ElementType::f32)),
        find_kernel(default_tuned_spec(Operation::write, ElementType::f64))};
    const KernelFunction kernel = kernels[element == ElementType::f32 ? 0 : 1];
    auto* to = static_cast<std::byte*>(at);
    for (Range rest = range; rest.count > 0;) {
        const Range part = before_wrap(element, rest);
        KernelOperands operands{};
        operands.a = to;
        operands.count = part.count;
        operands.ramp_begin = factor * ramp_at(element, part.first);
        operands.ramp_step = factor * ramp_step_of(element);
        kernel(operands);
        to += part.count * element_bytes(element);
        rest = {rest.first + part.count, rest.count - part.count};
    }
}

}  // namespace memgauge::kernels
