#pragma once
// Which requests make sense.

#include "memgauge/competition.hpp"

namespace memgauge::competition {

// All throw RequestError.
void check_request(const Team& team, const CompetitionRequest& request);
// `least_rank`: 1 where thread 0 is needed for something else.
void check_active(const CompetitionRequest& request, const std::vector<ActiveMember>& active,
                  std::size_t least_rank);
void check_timing(const CompetitionTiming& timing);
void check_walk(const Team& team, const ChaseRing& ring, const ProbeWalk& walk);

// Stamps for longer than a second of iterations of a microsecond.
inline constexpr std::size_t most_stamps = std::size_t{1} << 20;

}  // namespace memgauge::competition
