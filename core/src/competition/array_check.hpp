#pragma once
// How far one array of a member is from what it must hold.

#include <cstddef>

#include "competition/work.hpp"
#include "memgauge/stream_arrays.hpp"

namespace memgauge::competition {

class ArrayCheck {
public:
    ArrayCheck(std::size_t member, Role role) noexcept : member_(member), role_(role) {}

    [[nodiscard]] std::size_t member() const noexcept { return member_; }
    // Compares every element, on the thread that owns the array.
    void look(const Team& team, const Member& owner);
    [[nodiscard]] ArrayValidation validation(const Member& owner) const;

private:
    void compare(const Team& team, const Member& owner, const kernels::Range& range,
                 const kernels::Multiple& multiple);

    std::size_t member_;
    Role role_;
    kernels::Deviation found_;
};

}  // namespace memgauge::competition
