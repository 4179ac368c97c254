#include "cache/loops/steadiness.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cache/loops/loop.hpp"

namespace memgauge::cache {
namespace {

bool is_watched(const StridedAccess& reference) {
    return reference.first.kind != AccessKind::store_prefetch;
}

// Each access stream has one reference only, and all stores go on by the same stride: then what one
// finds of the others is the same in each step.
bool can_be_steady(std::span<const StridedAccess> references) {
    std::array<bool, most_streams> used{};
    std::optional<std::int64_t> store_stride;
    for (const StridedAccess& reference : references) {
        if (!is_watched(reference)) continue;
        if (std::exchange(used[reference.first.stream], true)) return false;
        if (reference.first.kind != AccessKind::store) continue;
        if (store_stride.value_or(reference.stride) != reference.stride) return false;
        store_stride = reference.stride;
    }
    return true;
}

}  // namespace

bool makes_strided_steps(const StridedAccess& reference, std::uint64_t line_bytes) {
    return is_watched(reference) && length_of(reference.stride) >= line_bytes;
}

Steadiness::Steadiness(const CacheMachine& machine, std::span<const StridedAccess> references)
    : rules_(machine.store_streams),
      references_(references.size()),
      possible_(can_be_steady(references)) {
    if (references.empty()) return;
    strides_ = rules_.strided != 0 && std::ranges::any_of(references, [&](const StridedAccess& r) {
                   return makes_strided_steps(r, machine.line_bytes);
               });
    possible_ = possible_ && (!strides_ || rules_.window >= references_);
    // After that many steps none of the streams of before can be continued any more, and those that
    // stores begin in each step have taken all places.
    steps_of_begins_ = rules_.gap / references_ + rules_.streams + 2;
    steps_needed_ = std::max<std::uint64_t>(steps_of_begins_, strides_ ? rules_.strided + 2 : 2);
}

void Steadiness::saw(std::size_t r, StoreStream& stream, bool continued) {
    const bool same = continued == continued_[r] && (!continued || streams_[r] == &stream);
    regular_ = regular_ && same;
    streams_[r] = &stream;
    continued_[r] = continued;
    begins_ = begins_ || !continued;
    continues_ = continues_ || continued;
}

void Steadiness::end_step() {
    ++steps_;
    regular_steps_ = regular_ ? regular_steps_ + 1 : 0;
    if (!regular_) begins_ = continues_ = false;
    regular_ = true;
}

bool Steadiness::is_steady(const Detectors& detectors) const {
    // A stream that one store continues may be replaced by one that another begins.
    const bool mixed = begins_ && continues_;
    return possible_ && !mixed && steps_ >= steps_needed_ && regular_steps_ >= steps_of_begins_ &&
           (strides_ || !detectors.strided_under_way());
}

}  // namespace memgauge::cache
