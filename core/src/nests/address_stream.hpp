#pragma once
// The innermost loops as an address stream. Over what receives it: a cache model, or a test's
// record.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nests/walk.hpp"

namespace memgauge::nests {

// Polls for a stop after some work, and decides how many accesses the model gets at once: as many
// as take a fraction of a second, since a model that can skip much of a long loop does so the
// better the more of it it gets.
class StopPolling {
public:
    static constexpr std::size_t least_at_once = std::size_t{1} << 20;

    explicit StopPolling(const StopCheck& stop) : stop_(stop) {}

    [[nodiscard]] std::size_t at_once() const noexcept { return at_once_; }
    void passed(std::size_t accesses) {
        since_poll_ += accesses;
        if (since_poll_ < least_at_once) return;
        if (stop_ && stop_()) throw Interrupted();
        const auto now = Clock::now();
        if (2 * since_poll_ >= at_once_) adapt(now - polled_);
        polled_ = now;
        since_poll_ = 0;
    }

private:
    using Clock = std::chrono::steady_clock;

    void adapt(Clock::duration took) noexcept {
        constexpr std::chrono::milliseconds soon{250};
        if (took < soon && at_once_ < most_at_once) at_once_ *= 2;
        if (took > 2 * soon && at_once_ > least_at_once) at_once_ /= 2;
    }

    static constexpr std::size_t most_at_once = std::size_t{1} << 48;

    const StopCheck& stop_;
    std::size_t since_poll_ = 0;
    std::size_t at_once_ = least_at_once;
    Clock::time_point polled_ = Clock::now();
};

template <class Model>
class Telling {
public:
    Telling(const Nest& nest, std::span<const std::uint64_t> bases, unsigned core, Model& model,
            const StopCheck& stop)
        : nest_(nest),
          bases_(bases),
          core_(core),
          model_(model),
          polling_(stop),
          in_loop_(nest.body == Body::dot ? nest.written() : nest.references) {}

    // The two innermost loops.
    void rows(const Loops& loops, const Offsets& offsets) {
        if (nest_.prefetches()) {
            for (std::size_t j = 0; j < loops.trips[row_loop]; ++j) row(loops, offsets, j);
            return;
        }
        const auto steps = steps_of(loops);
        const std::size_t count = loops.trips[innermost];
        std::size_t outer = 0;
        for (std::size_t j = 0; j < loops.trips[row_loop]; j += outer) {
            const std::size_t at_once = polling_.at_once() / (count * in_loop_);
            outer = std::clamp<std::size_t>(at_once, 1, loops.trips[row_loop] - j);
            if (outer == 1) {
                row(loops, offsets, j);
                continue;
            }
            const References references = references_at(loops, offsets, j);
            const std::size_t written = nest_.written();
            const StridedAccess after{references[written].first, steps[written]};
            model_.walk(core_, std::span(references).first(in_loop_),
                        std::span(steps).first(in_loop_), outer, count,
                        std::span(&after, nest_.references - in_loop_));
            polling_.passed(outer * count * in_loop_);
        }
    }

    // The innermost loop in trip j of the one around it.
    void row(const Loops& loops, const Offsets& offsets, std::size_t j) {
        const References references = references_at(loops, offsets, j);
        const bool is_dot = nest_.body == Body::dot;
        const CacheAccess& stored = references[nest_.written()].first;
        if (is_dot && nest_.store_prefetch) {
            const PrefetchRhythm rhythm = prefetch_rhythm(nest_, loops.references[nest_.written()]);
            if (j % rhythm.period == 0) prefetch_sum(stored, rhythm);
        }
        if (is_dot ? nest_.load_prefetch : nest_.prefetches()) {
            prefetched(references, loops.trips[innermost], prefetches_of(nest_, loops));
        } else {
            walk(references, loops.trips[innermost]);
        }
        if (is_dot) one(stored);
    }

private:
    static constexpr std::size_t row_loop = innermost - 1;
    static constexpr std::size_t most_trips = prefetch_line_bytes / sizeof(double);
    // Each with a prefetch near and one far.
    static constexpr std::size_t most_unrolled = 3 * most_trips * most_references;
    using References = std::array<StridedAccess, most_references>;

    [[nodiscard]] References references_at(const Loops& loops, const Offsets& offsets,
                                           std::size_t j) const {
        References references{};
        for (std::size_t i = 0; i < nest_.references; ++i) {
            const Reference& reference = loops.references[i];
            const std::size_t element = offsets[i] + j * reference.strides[row_loop];
            references[i] = {
                {bases_[i] + element * nest_.element_bytes,
                 static_cast<std::uint32_t>(nest_.element_bytes),
                 i == nest_.written() ? AccessKind::store : AccessKind::load,
                 static_cast<std::uint8_t>(i)},
                static_cast<std::int64_t>(reference.strides[innermost] * nest_.element_bytes)};
        }
        return references;
    }

    [[nodiscard]] std::array<std::int64_t, most_references> steps_of(const Loops& loops) const {
        std::array<std::int64_t, most_references> steps{};
        for (std::size_t i = 0; i < nest_.references; ++i) {
            steps[i] = static_cast<std::int64_t>(loops.references[i].strides[row_loop] *
                                                 nest_.element_bytes);
        }
        return steps;
    }

    // Of one byte, so that it concerns one sector only, however the arrays are aligned.
    [[nodiscard]] CacheAccess prefetch_of(const CacheAccess& access,
                                          std::uint64_t ahead_bytes) const {
        const std::size_t is_load = access.kind == AccessKind::load ? 1 + access.stream : 0;
        return {access.address + ahead_bytes, 1, AccessKind::store_prefetch,
                static_cast<std::uint8_t>(nest_.references + is_load)};
    }

    void prefetch_sum(const CacheAccess& stored, const PrefetchRhythm& rhythm) {
        one(prefetch_of(stored, rhythm.ahead * nest_.element_bytes));
        if (rhythm.far != 0) one(prefetch_of(stored, rhythm.far * nest_.element_bytes));
    }

    void one(const CacheAccess& access) {
        model_.access(core_, std::span(&access, 1));
        polling_.passed(1);
    }

    void walk(References references, std::size_t count) {
        for (std::size_t done = 0; done < count;) {
            const std::size_t some = std::min(polling_.at_once() / in_loop_, count - done);
            model_.walk(core_, std::span(references).first(in_loop_), some);
            move(references, some);
            polling_.passed(some * in_loop_);
            done += some;
        }
    }

    // In groups that begin with their prefetches: all trips of a group side by side, and a walk
    // over the groups; then what is left of one.
    void prefetched(References references, std::size_t count, const Prefetches& ahead) {
        std::size_t groups = count / ahead.group;
        while (groups > 0) {
            const std::size_t at_once = polling_.at_once() / (3 * in_loop_ * ahead.group);
            const std::size_t some = std::clamp<std::size_t>(at_once, 1, groups);
            walk_groups(references, ahead, ahead.group, some);
            move(references, some * ahead.group);
            groups -= some;
        }
        const std::size_t left = count % ahead.group;
        if (left > 0) walk_groups(references, ahead, left, 1);
    }

    void walk_groups(const References& references, const Prefetches& ahead, std::size_t trips,
                     std::size_t groups) {
        std::array<StridedAccess, most_unrolled> unrolled{};
        const auto group = static_cast<std::int64_t>(ahead.group);
        std::size_t used = 0;
        const auto add = [&](const CacheAccess& access, std::int64_t stride) {
            unrolled[used++] = {access, stride * group};
        };
        for (std::size_t i = 0; i < in_loop_; ++i) {
            const auto& [first, stride] = references[i];
            const auto step = static_cast<std::uint64_t>(stride);
            const PrefetchRhythm& rhythm = ahead.of[i];
            for (std::size_t trip = 0; rhythm.period != 0 && trip < trips; trip += rhythm.period) {
                add(prefetch_of(first, (trip + rhythm.ahead) * step), stride);
                if (rhythm.far != 0) add(prefetch_of(first, (trip + rhythm.far) * step), stride);
            }
        }
        for (std::size_t trip = 0; trip < trips; ++trip) {
            for (std::size_t i = 0; i < in_loop_; ++i) {
                CacheAccess access = references[i].first;
                access.address += trip * static_cast<std::uint64_t>(references[i].stride);
                add(access, references[i].stride);
            }
        }
        model_.walk(core_, std::span(unrolled).first(used), groups);
        polling_.passed(used * groups);
    }

    void move(References& references, std::size_t trips) const {
        for (std::size_t i = 0; i < nest_.references; ++i) {
            references[i].first.address += trips * static_cast<std::uint64_t>(references[i].stride);
        }
    }

    const Nest& nest_;
    std::span<const std::uint64_t> bases_;
    unsigned core_;
    Model& model_;
    StopPolling polling_;
    std::size_t in_loop_;  // references of the innermost loop
};

template <class Model>
void stream_addresses(const Nest& nest, std::span<const std::uint64_t> bases, unsigned core,
                      Model& model, const StopCheck& stop = {}) {
    Telling<Model> inner(nest, bases, core, model, stop);
    for (OuterLoops at(nest); !at.done(); at.advance()) inner.rows(at.loops(), at.offsets());
}

// Core by core in turn after each execution of the innermost loop.
template <class Model>
void tell_batched(const Nest& nest, std::span<const std::vector<std::uint64_t>> bases, Model& model,
                  const StopCheck& stop = {}) {
    std::vector<Telling<Model>> cores;
    for (const std::vector<std::uint64_t>& of_core : bases) {
        cores.emplace_back(nest, of_core, static_cast<unsigned>(cores.size()), model, stop);
    }
    for (OuterLoops at(nest); !at.done(); at.advance()) {
        for (std::size_t j = 0; j < at.loops().trips[innermost - 1]; ++j) {
            for (Telling<Model>& core : cores) core.row(at.loops(), at.offsets(), j);
        }
    }
}

}  // namespace memgauge::nests
