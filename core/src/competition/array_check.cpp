#include "competition/array_check.hpp"

#include <algorithm>

#include "kernels/arrays/pieces.hpp"
#include "kernels/arrays/replay.hpp"

namespace memgauge::competition {

namespace {

constexpr char names[] = {'s', 't', 'd'};  // by role

}  // namespace

void ArrayCheck::look(const Team& team, const Member& owner) {
    if (role_ == Role::destination) {
        for (const Holding& holding : owner.contents.holdings()) {
            compare(team, owner, holding.range, holding.now);
        }
        return;
    }
    const double factor = fill_factors[static_cast<std::size_t>(role_)];
    compare(team, owner, {0, owner.arrays.elements()}, {factor, 0.0});
}

void ArrayCheck::compare(const Team& team, const Member& owner, const kernels::Range& range,
                         const kernels::Multiple& multiple) {
    const ElementType element = owner.arrays.element();
    const double tolerance =
        std::max(kernels::stream_epsilon(element), kernels::rounding_bound(multiple, element));
    const std::byte* const begin = owner.arrays.data(role_);
    kernels::for_pieces(team, range, [&](const kernels::Range& piece) {
        found_.add(kernels::deviation(element, begin + piece.first * element_bytes(element), piece,
                                      multiple.factor, tolerance));
    });
}

ArrayValidation ArrayCheck::validation(const Member& owner) const {
    const std::size_t elements = owner.arrays.elements();
    const double average = found_.sum / static_cast<double>(elements);
    const double epsilon = kernels::stream_epsilon(owner.arrays.element());
    return {names[static_cast<std::size_t>(role_)],
            average,
            epsilon,
            elements,
            found_.failed,
            found_.first_failed,
            found_.failed == 0 && average <= epsilon};
}

}  // namespace memgauge::competition
