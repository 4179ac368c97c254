#pragma once
// How long a member works: for a common time, for a number of iterations, or beside a probe.

#include <cstddef>
#include <memory>
#include <utility>

#include "competition/run_state.hpp"
#include "competition/work.hpp"
#include "load/ring_walk.hpp"
#include "memgauge/team.hpp"

namespace memgauge::competition {

// Untimed iterations first; then timed ones, each stamped, the next beginning where it ended.
class alignas(line_bytes) MemberJob : public Job {
public:
    // Room for so many stamps: no iteration after them is timed.
    MemberJob(std::unique_ptr<IteratedWork> work, RunState& run_state, std::size_t lead_in,
              std::size_t stamps) noexcept
        : run_state_(run_state), work_(std::move(work)), lead_in_(lead_in), stamps_(stamps) {}

    void prepare() final;
    void run(ThreadSlice& slice) noexcept final;
    [[nodiscard]] std::size_t iterations() const noexcept final { return stamps_; }
    // Notes in the member what was done; after the run.
    void settle() { work_->settle(made_); }

protected:
    // Before the first timed iteration, at the common start.
    virtual void begin() noexcept {}
    // Whether to begin another timed iteration now.
    virtual bool goes_on(Ticks now) noexcept = 0;
    // What follows the timed iterations: untimed ones, or rest.
    virtual void linger() noexcept = 0;

    void iterate() noexcept {
        work_->iterate();
        ++made_;
    }

    RunState& run_state_;

private:
    // Adds iterations to the traffic that this process is known to cause.
    void book(std::size_t iterations) const noexcept;

    std::unique_ptr<IteratedWork> work_;
    std::size_t lead_in_;
    std::size_t stamps_;
    std::size_t made_ = 0;
};

// Begins no iteration after a common end, then works on until all others are past theirs.
class TimedJob final : public MemberJob {
public:
    TimedJob(std::unique_ptr<IteratedWork> work, RunState& run_state, std::size_t lead_in,
             std::size_t stamps, Ticks duration) noexcept
        : MemberJob(std::move(work), run_state, lead_in, stamps), duration_(duration) {}

private:
    void begin() noexcept override;
    bool goes_on(Ticks now) noexcept override { return now <= end_; }
    void linger() noexcept override;

    Ticks duration_;
    Ticks end_ = 0;
};

// So many iterations as there is room for; then sleeps until all others are done.
class CountedJob final : public MemberJob {
public:
    using MemberJob::MemberJob;

private:
    bool goes_on(Ticks) noexcept override { return true; }
    void linger() noexcept override;
};

// Until the run is stopped; says so when it is at work.
class BesideJob final : public MemberJob {
public:
    using MemberJob::MemberJob;

private:
    void begin() noexcept override;
    bool goes_on(Ticks) noexcept override { return !run_state_.is_stopped(); }
    void linger() noexcept override;
};

// Walks a ring once all others are at work, and stops them.
class ProbeJob final : public Job {
public:
    ProbeJob(void**& position, RunState& run_state, const load::ProbeRequest& request)
        : walk_(position, request), run_state_(run_state) {}

    void run(ThreadSlice& slice) noexcept override;
    [[nodiscard]] std::size_t iterations() const noexcept override { return walk_.iterations(); }
    [[nodiscard]] const load::RingWalk& walk() const noexcept { return walk_; }

private:
    load::RingWalk walk_;
    RunState& run_state_;
};

}  // namespace memgauge::competition
