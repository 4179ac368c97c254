#include "competition/roles.hpp"

#include <algorithm>

namespace memgauge::competition {

std::array<Role, 3> roles_of(Operation operation) noexcept {
    constexpr Role from = Role::source;
    constexpr Role to = Role::destination;
    constexpr Role none = Role::none;
    switch (operation) {
        case Operation::copy:
            return {from, none, to};
        case Operation::scale:
            return {none, to, from};
        case Operation::add:
            return {from, Role::second, to};
        case Operation::triad:
            return {to, from, Role::second};
        case Operation::read:
            return {from, none, none};
        case Operation::write:
            return {to, none, none};
        case Operation::update:
            return {to, from, none};
    }
    return {none, none, none};
}

ArrayCounts arrays_of(Operation operation) noexcept {
    const auto roles = roles_of(operation);
    const auto uses = [&](Role role) { return std::ranges::count(roles, role) > 0 ? 1U : 0U; };
    return {uses(Role::source) + uses(Role::second), uses(Role::destination)};
}

double scalar_of(Operation operation, ElementType element) noexcept {
    const double scalar = kernels::replay_scalar(element);
    return operation == Operation::update ? scalar / 2.0 : scalar;
}

kernels::Multiple result_of(Operation operation, const kernels::Multiple& before,
                            double scalar) noexcept {
    const auto roles = roles_of(operation);
    kernels::BlockState state;
    std::size_t destination = 0;
    for (std::size_t operand = 0; operand < roles.size(); ++operand) {
        if (roles[operand] == Role::none) continue;
        const auto role = static_cast<std::size_t>(roles[operand]);
        state.arrays[operand] = {fill_factors[role], 0.0};
        if (roles[operand] != Role::destination) continue;
        state.arrays[operand] = before;
        destination = operand;
    }
    kernels::replay(state, operation, scalar);
    return state.arrays[destination];
}

}  // namespace memgauge::competition
