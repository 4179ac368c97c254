#include "load/ring_walk.hpp"

#include <algorithm>
#include <cmath>

#include "memory/chase/walk.hpp"

namespace memgauge::load {

RingWalk::RingWalk(void**& position, const ProbeRequest& request)
    : position_(position), request_(request), load_ticks_(request.timed_loads) {}

void RingWalk::warm() noexcept {
    position_ = memory::walk(position_, request_.warm_hops);
}

void RingWalk::walk(ThreadSlice& slice) noexcept {
    const Clock& clock = Clock::instance();
    void** position = position_;
    for (std::size_t iteration = 0; iteration < request_.iterations; ++iteration) {
        const Ticks begin = clock.now();
        position = memory::walk(position, request_.hops);
        slice.iterations.push_back({begin, clock.now()});
    }
    position_ = position;
}

void RingWalk::time_loads() noexcept {
    const Clock& clock = Clock::instance();
    void** position = position_;
    for (Ticks& ticks : load_ticks_) {
        const Ticks begin = clock.now();
        position = memory::walk(position, 1);
        // Where the clock waits for branches but not for loads, this one waits for the load.
        if (position == nullptr) break;
        ticks = clock.now() - begin;
    }
    position_ = position;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> RingWalk::load_ns() const {
    std::vector<Ticks> ticks = load_ticks_;
    std::ranges::sort(ticks);
    const double ns_per_tick = Clock::instance().info().ns_per_tick;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> bins;
    for (const Ticks value : ticks) {
        const double ns = std::round(static_cast<double>(value) * ns_per_tick);
        const auto bin = static_cast<std::uint32_t>(std::min(ns, 0x1p32 - 1.0));
        if (bins.empty() || bins.back().first != bin) bins.emplace_back(bin, 0U);
        ++bins.back().second;
    }
    return bins;
}

}  // namespace memgauge::load
