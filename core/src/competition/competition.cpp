#include "memgauge/competition.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "competition/array_check.hpp"
#include "competition/checks.hpp"
#include "competition/jobs.hpp"
#include "competition/work.hpp"
#include "kernels/arrays/ramp.hpp"
#include "memory/chase/ring_access.hpp"

namespace memgauge {

using competition::ArrayCheck;
using competition::IteratedWork;
using competition::Member;
using competition::MemberJob;
using competition::Role;

namespace {

using Works = std::vector<std::unique_ptr<IteratedWork>>;

// No core moves more from beyond its first cache; and a stamp costs a look at the clock.
constexpr double most_bytes_per_ns = 256.0;
constexpr double longest_hop_ns = 1000.0;

// Room for all iterations that may end in time. Should there be more, the thread works on without
// stamping.
std::size_t stamps_within(double duration_ns, const IteratedWork& work) noexcept {
    const competition::IterationBytes each = work.bytes();
    const double least_ns =
        std::max(static_cast<double>(each.read + each.write) / most_bytes_per_ns,
                 Clock::instance().info().cost_ns);
    const double most = duration_ns / std::max(least_ns, 1.0) + 2.0;
    return most < static_cast<double>(competition::most_stamps) ? static_cast<std::size_t>(most)
                                                                : competition::most_stamps;
}

// The time in which all of these worked.
void find_window(const std::vector<std::size_t>& ranks, CompetitionSlice& result) noexcept {
    Ticks begin = 0;
    Ticks end = ~Ticks{0};
    for (const std::size_t rank : ranks) {
        const std::vector<Stamp>& stamps = result.slice.threads[rank].iterations;
        if (stamps.empty()) return;
        begin = std::max(begin, stamps.front().begin);
        end = std::min(end, stamps.back().end);
    }
    result.window_begin = begin;
    result.window_end = end;
}

}  // namespace

struct Competition::State {
    State(Team& owner, CompetitionRequest asked, const StopCheck& stop);

    // Calls visit(member index) for each on its own thread.
    template <class Visit>
    void on_members(const Visit& visit, const StopCheck& stop) const {
        team.parallel(
            [&](std::size_t rank) {
                for (std::size_t i = 0; i < members.size(); ++i) {
                    if (members[i]->rank == rank) visit(i);
                }
            },
            stop);
    }
    [[nodiscard]] Works make_works(const std::vector<ActiveMember>& active,
                                   std::size_t iteration_bytes) const;
    [[nodiscard]] std::vector<std::size_t> ranks_of(const std::vector<ActiveMember>& active) const;
    // `first` is thread 0's, where that has no member's.
    CompetitionSlice compete(const std::vector<ActiveMember>& active,
                             const std::vector<std::unique_ptr<MemberJob>>& jobs, Job* first,
                             bool pingpong) const;

    Team& team;
    CompetitionRequest request;
    std::vector<std::unique_ptr<Member>> members;
};

Competition::State::State(Team& owner, CompetitionRequest asked, const StopCheck& stop)
    : team(owner), request(std::move(asked)) {
    competition::check_request(team, request);
    for (const MemberRequest& member : request.members) {
        members.push_back(std::make_unique<Member>(member, request, stop));
    }
}

Works Competition::State::make_works(const std::vector<ActiveMember>& active,
                                     std::size_t iteration_bytes) const {
    Works works;
    for (const ActiveMember& each : active) {
        works.push_back(competition::make_work(*members[each.member], each.work, iteration_bytes));
    }
    return works;
}

std::vector<std::size_t> Competition::State::ranks_of(
    const std::vector<ActiveMember>& active) const {
    std::vector<std::size_t> ranks;
    ranks.reserve(active.size());
    for (const ActiveMember& each : active) ranks.push_back(members[each.member]->rank);
    return ranks;
}

CompetitionSlice Competition::State::compete(const std::vector<ActiveMember>& active,
                                             const std::vector<std::unique_ptr<MemberJob>>& jobs,
                                             Job* first, bool pingpong) const {
    std::vector<std::size_t> ranks = ranks_of(active);
    std::vector<Job*> by_rank(team.size(), nullptr);
    for (std::size_t i = 0; i < jobs.size(); ++i) by_rank[ranks[i]] = jobs[i].get();
    if (first != nullptr) {
        by_rank.front() = first;
        ranks.push_back(0);
    }
    const double pingpong_ns = pingpong ? team.pingpong_ns() : -1.0;
    CompetitionSlice result;
    result.slice = team.run(by_rank);
    result.slice.pingpong_ns = pingpong_ns;
    for (const auto& job : jobs) job->settle();
    for (const ActiveMember& each : active) members[each.member]->worked = true;
    find_window(ranks, result);
    return result;
}

Competition::Competition(Team& team, const CompetitionRequest& request, const StopCheck& stop)
    : state_(std::make_unique<State>(team, request, stop)) {
    const State& state = *state_;
    state.on_members([&](std::size_t i) { state.members[i]->arrays.fill(state.team); }, stop);
}

Competition::~Competition() = default;

CompetitionSlice Competition::run(const std::vector<ActiveMember>& active,
                                  const CompetitionTiming& timing) {
    const State& state = *state_;
    if (active.empty()) throw RequestError("nobody works: give at least one active member");
    competition::check_active(state.request, active, 0);
    competition::check_timing(timing);
    competition::RunState run_state(static_cast<std::uint32_t>(active.size()));
    const Ticks duration = Clock::instance().from_duration_ns(timing.duration_ns);
    std::vector<std::unique_ptr<MemberJob>> jobs;
    for (auto& work : state.make_works(active, timing.iteration_bytes)) {
        if (timing.iterations > 0) {
            jobs.push_back(std::make_unique<competition::CountedJob>(
                std::move(work), run_state, timing.lead_in_iterations, timing.iterations));
        } else {
            const std::size_t stamps = stamps_within(timing.duration_ns, *work);
            jobs.push_back(std::make_unique<competition::TimedJob>(
                std::move(work), run_state, timing.lead_in_iterations, stamps, duration));
        }
    }
    return state.compete(active, jobs, nullptr, timing.pingpong);
}

CompetitionSlice Competition::run_probed(const std::vector<ActiveMember>& active,
                                         const CompetitionTiming& timing, ChaseRing& ring,
                                         const ProbeWalk& walk) {
    const State& state = *state_;
    competition::check_active(state.request, active, 1);
    competition::check_walk(state.team, ring, walk);
    competition::RunState run_state(static_cast<std::uint32_t>(active.size()));
    const auto hops = static_cast<double>(walk.hops) * static_cast<double>(walk.iterations) +
                      static_cast<double>(walk.warm_hops + walk.timed_loads);
    std::vector<std::unique_ptr<MemberJob>> jobs;
    for (auto& work : state.make_works(active, timing.iteration_bytes)) {
        const std::size_t stamps = stamps_within(hops * longest_hop_ns, *work);
        jobs.push_back(std::make_unique<competition::BesideJob>(std::move(work), run_state,
                                                                timing.lead_in_iterations, stamps));
    }
    competition::ProbeJob probe(memory::RingAccess::position(ring), run_state,
                                {walk.hops, walk.warm_hops, walk.iterations, walk.timed_loads});
    CompetitionSlice result = state.compete(active, jobs, &probe, timing.pingpong);
    result.load_ns = probe.walk().load_ns();
    return result;
}

std::vector<ArrayValidation> Competition::validate(const StopCheck& stop) {
    const State& state = *state_;
    std::vector<ArrayCheck> checks;
    for (std::size_t i = 0; i < state.members.size(); ++i) {
        if (!state.members[i]->worked) continue;
        for (const Role role : {Role::source, Role::second, Role::destination}) {
            if (state.members[i]->arrays.has(role)) checks.emplace_back(i, role);
        }
    }
    state.on_members(
        [&](std::size_t member) {
            for (ArrayCheck& check : checks) {
                if (check.member() == member) check.look(state.team, *state.members[member]);
            }
        },
        stop);
    std::vector<ArrayValidation> validations;
    validations.reserve(checks.size());
    for (const ArrayCheck& check : checks) {
        validations.push_back(check.validation(*state.members[check.member()]));
    }
    return validations;
}

void Competition::corrupt(std::size_t member, std::size_t element) {
    const State& state = *state_;
    const std::size_t elements = state.members.front()->arrays.elements();
    if (member >= state.members.size() || element >= elements) {
        throw RequestError("no element " + std::to_string(element) + " of member " +
                           std::to_string(member) + " to corrupt: there are " +
                           std::to_string(state.members.size()) + " members of " +
                           std::to_string(elements) + " elements an array");
    }
    const competition::Arrays& arrays = state.members[member]->arrays;
    const Role role = arrays.has(Role::destination) ? Role::destination : Role::source;
    kernels::flip_bit(arrays.element(),
                      arrays.data(role) + element * element_bytes(arrays.element()));
}

std::size_t Competition::array_bytes() const noexcept {
    const competition::Arrays& arrays = state_->members.front()->arrays;
    return arrays.elements() * element_bytes(arrays.element());
}

std::vector<std::vector<Backing>> Competition::backing() const {
    std::vector<std::vector<Backing>> backings;
    for (const auto& member : state_->members) backings.push_back(member->arrays.backing());
    return backings;
}

}  // namespace memgauge
