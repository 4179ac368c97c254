#include "cache/loops/abreast.hpp"

#include <algorithm>
#include <bit>

#include "cache/loops/loop.hpp"

namespace memgauge::cache {
namespace {

// Steps in which a reference has come to where its steps are counted from, on its way.
std::int64_t steps_to(const Track& track) {
    const auto steps =
        static_cast<std::int64_t>(track.begin >> std::countr_zero(length_of(track.stride)));
    return track.stride > 0 ? steps : -steps;
}

// The first step in which it comes to another sector.
std::uint64_t first_border(const Track& track) {
    return steps_to_border(track.begin, track.stride, track.sector_bytes);
}

}  // namespace

AbreastPlan::Key AbreastPlan::key_of(const Loop& loop, const PlainLevel& level) {
    const Track& first = loop.tracks.front();
    Key key{.level = level,
            .size = loop.size,
            .stride = first.stride,
            .in_sector = first.begin & (first.sector_bytes - 1)};
    for (std::size_t r = 0; r < loop.size; ++r) {
        const Track& track = loop.tracks[r];
        key.distances[r] = track.begin - first.begin;
        const bool is_store = track.access.kind == AccessKind::store;
        key.stores |= static_cast<unsigned>(is_store) << r;
        key.bypassing |= static_cast<unsigned>(track.bypass_from != ~0ull) << r;
    }
    return key;
}

bool AbreastPlan::make(const Loop& loop, const PlainLevel& level) {
    const Track& first = loop.tracks.front();
    if (level.sets == 0 || loop.size == 0 || first.steady_steps <= 1) return false;
    for (std::size_t r = 1; r < loop.size; ++r) {
        if (loop.tracks[r].stride != first.stride) return false;
    }
    const Key key = key_of(loop, level);
    if (key == key_) return is_planned_;
    key_ = key;
    is_planned_ = plan(loop, level);
    return is_planned_;
}

bool AbreastPlan::plan(const Loop& loop, const PlainLevel& level) {
    const Track& first = loop.tracks.front();
    period_ = first.steady_steps;
    find_followers(loop);
    meeting_ = all_that_meet(loop, level);
    if (meeting_ != 0) {
        const auto meeting = static_cast<unsigned>(std::popcount(meeting_));
        const std::uint64_t line_steps =
            (std::uint64_t{1} << level.line_bits) / length_of(first.stride);
        // A line is in use while one after the other follows to it.
        const std::uint64_t in_use = (std::uint64_t{meeting} + 1) * period_;
        if (meeting > level.ways || in_use > (level.sets - 1) * line_steps) return false;
    }
    add_turns(loop);
    return true;
}

void AbreastPlan::find_followers(const Loop& loop) {
    const unsigned all = (1u << loop.size) - 1;
    joining_ = all;
    parting_ = all;
    followers_ = {};
    const auto period = static_cast<std::int64_t>(period_);
    for (std::size_t r = 0; r < loop.size; ++r) {
        if ((key_.bypassing >> r & 1) != 0) continue;
        for (std::size_t other = 0; other < loop.size; ++other) {
            const std::int64_t later = steps_to(loop.tracks[r]) - steps_to(loop.tracks[other]);
            const bool follows = later == 0 ? other > r : later > 0 && later <= period;
            if (!follows || (key_.bypassing >> other & 1) != 0) continue;
            followers_[r] |= 1u << other;
            parting_ &= ~(1u << r);
            if ((key_.stores >> other & 1) == 0) joining_ &= ~(1u << other);
        }
    }
}

// With those that follow them, or that they follow.
unsigned AbreastPlan::all_that_meet(const Loop& loop, const PlainLevel& level) const {
    unsigned found = meeting_in(loop, level);
    for (unsigned before = 0; found != before;) {
        before = found;
        for (std::size_t r = 0; r < loop.size; ++r) {
            const unsigned chain = followers_[r] | 1u << r;
            if (followers_[r] != 0 && (found & chain) != 0) found |= chain;
        }
    }
    return found;
}

void AbreastPlan::add_turns(const Loop& loop) {
    size_ = 0;
    turn_at(0);
    for (std::size_t r = 0; r < loop.size; ++r) {
        const std::uint64_t border = first_border(loop.tracks[r]);
        const unsigned bit = 1u << r;
        if ((joining_ & bit) != 0) turn_at(border == period_ ? 0 : border).joining |= bit;
        if ((parting_ & meeting_ & bit) != 0) turn_at(border - 1).parting |= bit;
    }
}

AbreastPlan::Turn& AbreastPlan::turn_at(std::uint64_t step) {
    Turn* const last = turns_.data() + size_;
    Turn* const at = std::ranges::lower_bound(turns_.data(), last, step, {}, &Turn::step);
    if (at != last && at->step == step) return *at;
    std::move_backward(at, last, last + 1);
    ++size_;
    *at = {.step = step};
    return *at;
}

}  // namespace memgauge::cache
