#include "cache/loops/repeats.hpp"

#include <numeric>

#include "cache/loops/loop.hpp"
#include "cache/loops/steadiness.hpp"

namespace memgauge::cache {
namespace {

// Makes the accesses of a pass known to detectors, and nothing else.
class Pass {
public:
    Pass(Detectors& detectors, const CacheMachine& machine)
        : detectors_(detectors), machine_(machine) {}

    // What follows is of no use once a store may be to bypass.
    [[nodiscard]] bool is_quiet() const { return quiet_; }

    StoreStream* one(const CacheAccess& access) {
        switch (access.kind) {
            case AccessKind::load:
                detectors_.load(access);
                return nullptr;
            case AccessKind::store_prefetch:
                detectors_.store_prefetch();
                return nullptr;
            case AccessKind::store:
                break;
        }
        StoreStream& stream = detectors_.store(access);
        // Of its pieces the last one lies farthest from where the stream began.
        if (detectors_.bypasses(stream, access.address + access.bytes - 1)) quiet_ = false;
        return &stream;
    }

    void inner(std::span<StridedAccess> references, std::uint64_t count) {
        std::uint64_t done = 0;
        if (collapse(machine_, references)) {
            Steadiness steadiness(machine_, references);
            done = until_steady(detectors_, references, count, steadiness,
                                [&](const CacheAccess& access) { return one(access); });
            const std::uint64_t left = count - done;
            if (left > steadiness.least_steps()) {
                skip(references, left - steadiness.steps_at_end(), steadiness);
                done += left - steadiness.steps_at_end();
            }
        }
        for (; done < count && quiet_; ++done) {
            for (StridedAccess& reference : references) {
                one(reference.first);
                reference.first.address += static_cast<std::uint64_t>(reference.stride);
            }
        }
    }

private:
    void skip(std::span<StridedAccess> references, std::uint64_t steps,
              const Steadiness& steadiness) {
        for (std::size_t r = 0; r < references.size(); ++r) {
            // It may come to where it bypasses.
            if (steadiness.stream(r) != nullptr) quiet_ = false;
            references[r].first.address += steps * static_cast<std::uint64_t>(references[r].stride);
        }
        detectors_.skip(references, steps, steadiness);
    }

    Detectors& detectors_;
    const CacheMachine& machine_;
    bool quiet_ = true;
};

}  // namespace

std::uint64_t passes_alike(const StridedAccess& reference, std::uint64_t count,
                           std::int64_t outer_stride, std::uint64_t sector_bytes) {
    if (outer_stride == 0) return ~0ull;
    // In blocks that sectors and strides consist of, all accesses are at the same place: while
    // these stay in theirs, they stay in their sectors.
    const std::uint64_t block =
        count > 1 ? std::gcd(length_of(reference.stride), sector_bytes) : sector_bytes;
    const std::uint64_t first = reference.first.address;
    const std::uint64_t last = first + reference.first.bytes - 1;
    return std::min(steps_to_border(first, outer_stride, block),
                    steps_to_border(last, outer_stride, block));
}

std::optional<Detectors> after_quiet_pass(Detectors detectors, const CacheMachine& machine,
                                          std::vector<StridedAccess> references,
                                          std::uint64_t count,
                                          std::span<const StridedAccess> after) {
    Pass pass(detectors, machine);
    pass.inner(references, count);
    for (const StridedAccess& one : after) pass.one(one.first);
    return pass.is_quiet() ? std::optional(detectors) : std::nullopt;
}

Pieces pieces_of(const StridedAccess& reference, std::uint64_t count, std::uint64_t line_bytes) {
    const CacheAccess& first = reference.first;
    if (length_of(reference.stride) > line_bytes) {
        return {first.address, first.bytes, reference.stride, count};
    }
    // No line is left out between the first and the last.
    const std::uint64_t between = (count - 1) * length_of(reference.stride);
    const std::uint64_t begin = reference.stride < 0 ? first.address - between : first.address;
    return {begin, between + first.bytes, 0, 1};
}

}  // namespace memgauge::cache
