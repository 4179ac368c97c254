#include "competition/checks.hpp"

#include <string>

#include "memory/chase/ring_access.hpp"

namespace memgauge::competition {

namespace {

constexpr double longest_ns = 60e9;  // nothing can interrupt a run

void check_member(const Team& team, const MemberRequest& member) {
    if (member.rank >= team.size()) {
        throw RequestError("no thread " + std::to_string(member.rank) +
                           " to compete: the team has " + std::to_string(team.size()) +
                           "; give a smaller rank or more CPUs");
    }
    const bool some = member.sources + member.destinations > 0;
    if (!some || member.sources > 2 || member.destinations > 1) {
        throw RequestError("a member of " + std::to_string(member.sources) + " sources and " +
                           std::to_string(member.destinations) +
                           " destinations cannot be made: give 0 to 2 and 0 or 1, not both 0");
    }
}

}  // namespace

void check_request(const Team& team, const CompetitionRequest& request) {
    if (request.members.empty()) throw RequestError("nobody competes: give at least one member");
    for (const MemberRequest& member : request.members) check_member(team, member);
}

void check_active(const CompetitionRequest& request, const std::vector<ActiveMember>& active,
                  std::size_t least_rank) {
    std::vector<std::size_t> ranks;
    for (const ActiveMember& each : active) {
        if (each.member >= request.members.size()) {
            throw RequestError("no member " + std::to_string(each.member) + " to work: there are " +
                               std::to_string(request.members.size()));
        }
        const std::size_t rank = request.members[each.member].rank;
        if (rank < least_rank) {
            throw RequestError("member " + std::to_string(each.member) +
                               " cannot work: its thread 0 is the probe; leave the member out");
        }
        for (const std::size_t other : ranks) {
            if (other != rank) continue;
            throw RequestError("two members of thread " + std::to_string(rank) +
                               " cannot work at once: choose one of them");
        }
        ranks.push_back(rank);
    }
}

void check_timing(const CompetitionTiming& timing) {
    const bool timed = timing.duration_ns != 0.0;
    if (timed == (timing.iterations > 0)) {
        throw RequestError("a competition needs either a duration or a number of iterations, " +
                           std::string(timed ? "not both" : "and has none") + "; give one");
    }
    const bool possible = timing.duration_ns > 0.0 && timing.duration_ns <= longest_ns;
    if (timed && !possible) {
        throw RequestError("cannot compete for " + std::to_string(timing.duration_ns) +
                           " ns: give more than 0 and at most " + std::to_string(longest_ns));
    }
    if (timing.iterations > most_stamps) {
        throw RequestError("cannot stamp " + std::to_string(timing.iterations) +
                           " iterations: give at most " + std::to_string(most_stamps) +
                           ", of more bytes each");
    }
}

void check_walk(const Team& team, const ChaseRing& ring, const ProbeWalk& walk) {
    if (&memory::RingAccess::team(ring) != &team) {
        throw RequestError(
            "cannot probe a ring of another team: make ring and competition on the same one");
    }
    if (walk.hops == 0) throw RequestError("a probe of 0 hops measures nothing: give at least 1");
    if (walk.iterations == 0 || walk.iterations > most_stamps) {
        throw RequestError("cannot stamp " + std::to_string(walk.iterations) +
                           " walks of a probe: give 1 to " + std::to_string(most_stamps));
    }
}

}  // namespace memgauge::competition
