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

// Where it begins among the lines of all parts.
std::uint64_t phase_of(const Track& track, const PlainLevel& level) {
    const std::uint64_t bytes = std::uint64_t{level.part.count} << level.line_bits;
    return std::has_single_bit(bytes) ? track.begin & (bytes - 1) : track.begin % bytes;
}

}  // namespace

AbreastPlan::Key AbreastPlan::key_of(const Loop& loop, const PlainLevel& level) {
    const Track& first = loop.tracks.front();
    Key key{
        .level = level, .size = loop.size, .stride = first.stride, .phase = phase_of(first, level)};
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
    const Key key = key_of(loop, level);
    if (key == key_) return is_planned_;
    key_ = key;
    is_planned_ = plan(loop, level);
    return is_planned_;
}

bool AbreastPlan::plan(const Loop& loop, const PlainLevel& level) {
    find_followers(loop);
    meeting_ = all_that_meet(loop, level);
    const std::uint64_t line_steps = (std::uint64_t{1} << level.line_bits) / length_of(key_.stride);
    if (meeting_ != 0) {
        const auto meeting = static_cast<unsigned>(std::popcount(meeting_));
        // A line is in use while one after the other follows to it.
        const std::uint64_t in_use = (meeting + 1) * loop.tracks.front().steady_steps;
        if (meeting > level.ways || in_use > (level.sets - 1) * line_steps) return false;
    }
    period_ = line_steps * level.part.count;
    add_events(loop, level);
    return true;
}

void AbreastPlan::find_followers(const Loop& loop) {
    const unsigned all = (1u << loop.size) - 1;
    joining_ = all;
    parting_ = all;
    followers_ = {};
    const auto in_sector = static_cast<std::int64_t>(loop.tracks.front().steady_steps);
    for (std::size_t r = 0; r < loop.size; ++r) {
        if ((key_.bypassing >> r & 1) != 0) continue;
        for (std::size_t other = 0; other < loop.size; ++other) {
            const std::int64_t later = steps_to(loop.tracks[r]) - steps_to(loop.tracks[other]);
            const bool follows = later == 0 ? other > r : later > 0 && later <= in_sector;
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

void AbreastPlan::add_events(const Loop& loop, const PlainLevel& level) {
    events_.clear();
    for (std::size_t r = 0; r < loop.size; ++r) {
        const Track& track = loop.tracks[r];
        const bool joins = (joining_ >> r & 1) != 0;
        const bool parts = (parting_ & meeting_) >> r & 1;
        std::uint64_t step = steps_to_border(track.begin, track.stride, track.sector_bytes);
        std::uint64_t sector = track.begin;
        const auto add = [&](std::uint64_t at, bool is_parting) {
            const std::uint64_t line = sector >> level.line_bits;
            if (line % level.part.count != level.part.index) return;
            events_.push_back({static_cast<std::uint32_t>(at % period_),
                               static_cast<std::uint16_t>(r), is_parting});
        };
        for (std::uint64_t done = 0; done < period_; done += track.steady_steps) {
            if (parts) add(step - 1, true);
            sector += track.advance;
            if (joins) add(step, false);
            step += track.steady_steps;
        }
    }
    std::ranges::sort(events_);
}

const AbreastPlan* AbreastPlans::plan(const Loop& loop, const PlainLevel& level) {
    const Track& first = loop.tracks.front();
    if (level.sets == 0 || loop.size == 0 || first.steady_steps <= 1) return nullptr;
    for (std::size_t r = 1; r < loop.size; ++r) {
        if (loop.tracks[r].stride != first.stride) return nullptr;
    }
    AbreastPlan& of_phase = plans_[phase_of(first, level) / length_of(first.stride) % most];
    return of_phase.make(loop, level) ? &of_phase : nullptr;
}

}  // namespace memgauge::cache
