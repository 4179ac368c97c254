#pragma once
// The arrays of one member, which only the thread of its rank touches.

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "competition/roles.hpp"
#include "kernels/arrays/stream_job.hpp"
#include "load/memory.hpp"

namespace memgauge::competition {

// Element i of each array holds a multiple of the ramp x(i).
class Arrays {
public:
    Arrays(const MemberRequest& request, const CompetitionRequest& all, const StopCheck& stop);

    // Touches and fills, on the calling thread.
    void fill(const Team& team) const;
    // Gives the destination what fill() gave it.
    void refill_destination() const noexcept;

    [[nodiscard]] std::size_t elements() const noexcept { return elements_; }
    [[nodiscard]] ElementType element() const noexcept { return element_; }
    [[nodiscard]] ArrayCounts counts() const noexcept;
    [[nodiscard]] bool has(Role role) const noexcept { return at(role) != nullptr; }
    // Of an array that is there.
    [[nodiscard]] std::byte* data(Role role) const noexcept { return at(role)->data(); }
    [[nodiscard]] bool in_pool(Role role) const noexcept {
        return has(role) && at(role)->object().has_value();
    }

    // The operands of a kernel; those it does not use are other arrays of the member.
    [[nodiscard]] kernels::ArrayViews views(Operation operation) const noexcept;
    // Where traffic reads and writes. RequestError: the arrays are too small for it.
    [[nodiscard]] load::Regions regions() const;
    [[nodiscard]] std::vector<Backing> backing() const;

private:
    [[nodiscard]] const Buffer* at(Role role) const noexcept {
        return buffers_[static_cast<std::size_t>(role)].get();
    }
    [[nodiscard]] const Buffer& any() const noexcept;

    ElementType element_;
    std::size_t elements_;
    std::array<std::unique_ptr<Buffer>, role_count> buffers_;
};

// Elements of an array of so many bytes. RequestError: too few.
std::size_t elements_of(const CompetitionRequest& request);

}  // namespace memgauge::competition
