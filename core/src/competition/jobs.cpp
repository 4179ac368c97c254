#include "competition/jobs.hpp"

#include <sched.h>

#include "memgauge/counters/modelled.hpp"

namespace memgauge::competition {

void MemberJob::prepare() {
    work_->prepare();
    for (std::size_t iteration = 0; iteration < lead_in_; ++iteration) iterate();
    book(lead_in_);
}

void MemberJob::run(ThreadSlice& slice) noexcept {
    const Clock& clock = Clock::instance();
    begin();
    for (Ticks now = clock.now(); slice.iterations.size() < stamps_ && goes_on(now);) {
        iterate();
        const Ticks end = clock.now();
        slice.iterations.push_back({now, end});
        now = end;
    }
    linger();
    slice.read_bytes = work_->bytes().read;
    slice.write_bytes = work_->bytes().write;
    book(made_ - lead_in_);
}

void MemberJob::book(std::size_t iterations) const noexcept {
    const IterationBytes each = work_->bytes();
    KnownTraffic::instance().add(iterations * (each.read + each.write_allocate),
                                 iterations * each.write);
}

void TimedJob::begin() noexcept {
    end_ = run_state_.end_after(duration_, Clock::instance().now());
}

void TimedJob::linger() noexcept {
    run_state_.leave();
    while (!run_state_.all_left()) iterate();
}

void CountedJob::linger() noexcept {
    run_state_.leave();
    run_state_.sleep_until_all_left();
}

void BesideJob::begin() noexcept {
    iterate();
    run_state_.begin();
}

void BesideJob::linger() noexcept {
    while (!run_state_.is_stopped()) iterate();
}

void ProbeJob::run(ThreadSlice& slice) noexcept {
    constexpr unsigned turns_before_yield = 4096;
    for (unsigned turns = 0; !run_state_.all_began(); ++turns) {
        relax();
        if (turns > turns_before_yield) sched_yield();
    }
    walk_.warm();
    walk_.walk(slice);
    walk_.time_loads();
    run_state_.stop();
}

}  // namespace memgauge::competition
