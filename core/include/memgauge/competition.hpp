#pragma once
// Threads at work side by side, each with memory and work of its own, so that groups of them
// compete: for a common time, in which none of them ever runs alone, or for a fixed number of
// iterations each.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "memgauge/buffer.hpp"
#include "memgauge/chase.hpp"
#include "memgauge/kernels.hpp"
#include "memgauge/stream_arrays.hpp"
#include "memgauge/team.hpp"
#include "memgauge/traffic.hpp"

namespace memgauge {

// Arrays of one thread of the team: what it reads lies in `source`, what it writes in
// `destination`. A thread may be several members, and works as one of them at a time.
struct MemberRequest {
    std::size_t rank = 0;
    MemorySource source;
    MemorySource destination;
    // Only what its work will need is allocated: see needs().
    unsigned sources = 1;       // 0 to 2
    unsigned destinations = 1;  // 0 or 1
};

struct CompetitionRequest {
    std::vector<MemberRequest> members;
    // Of each array of each member; rounded down to whole 256 bytes, so that an area of as much for
    // each array is enough.
    std::size_t array_bytes = 0;
    ElementType element = ElementType::f64;
    PagePolicy pages = PagePolicy::automatic;
};

// A kernel walks the member's arrays: copy, for example, from an array in the source to one in the
// destination. An operation that reads and writes the same array (update) does so in the
// destination. Traffic reads whole lines of the source and writes whole lines of the destination.
using Work = std::variant<KernelSpec, TrafficSpec>;

struct ArrayCounts {
    unsigned sources;
    unsigned destinations;
};
// The arrays that work reads from and writes to: a member that is to do it must have them.
ArrayCounts needs(const Work& work) noexcept;

struct ActiveMember {
    std::size_t member = 0;  // of CompetitionRequest::members; no two of the same thread
    Work work;
};

struct CompetitionTiming {
    // Of one iteration: of a kernel, bytes of each array it walks, going on from where the last
    // ended and wrapping; of traffic, bytes of all its accesses. Rounded to what the work can be
    // cut into: 256 bytes; of traffic the shortest stretch that holds its ratio exactly, so that
    // all iterations are alike.
    std::size_t iteration_bytes = 0;
    std::size_t lead_in_iterations = 1;  // untimed, before the common start
    // All threads start together and begin no iteration after so long; who is past it goes on,
    // untimed, until the last thread has ended its last timed iteration. Zero: `iterations` each
    // instead, after which a thread sleeps while the slower ones finish, as in the NVDIMM study.
    double duration_ns = 0.0;
    std::size_t iterations = 0;
    bool pingpong = false;
};

// Walked by thread 0 of the team, which then is no member's, while the others work: `warm_hops`
// while their traffic builds up, then `iterations` stamped walks of `hops`, then `timed_loads`
// loads one by one. Everyone works until the walk has ended; CompetitionTiming's own end is void.
struct ProbeWalk {
    std::size_t hops = 0;
    std::size_t warm_hops = 0;
    std::size_t iterations = 1;
    std::size_t timed_loads = 0;
};

// By rank, as Team::run gives them; threads without work have no stamps. One stamp for each timed
// iteration, each beginning where the last ended; read_bytes and write_bytes are those of ONE
// iteration as the kernel counts them (write-allocate left out).
struct CompetitionSlice {
    Slice slice;
    // Between these all threads with work, and the probe, were at it: the latest first begin, the
    // earliest last end. Empty (begin >= end) where there was no such time.
    Ticks window_begin = 0;
    Ticks window_end = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> load_ns;  // of a probe, as LoadedSlice's
};

class Competition {
public:
    // Allocates, touches and fills on the members' own threads. The team must outlive this object.
    // RequestError: no members, a rank the team has not, more arrays than a member can have, arrays
    // too small to walk; and those of Buffer.
    Competition(Team& team, const CompetitionRequest& request, const StopCheck& stop = {});
    ~Competition();

    // RequestError: nobody works, or two members of one thread; a kernel of another element type,
    // or traffic in arrays that are not of doubles; a member without the arrays its work needs;
    // neither a duration nor iterations, both, or more than can be waited for or stamped.
    CompetitionSlice run(const std::vector<ActiveMember>& active, const CompetitionTiming& timing);
    // RequestError also: no hops, a ring of another team, a member of thread 0. Nobody active: the
    // probe runs alone.
    CompetitionSlice run_probed(const std::vector<ActiveMember>& active,
                                const CompetitionTiming& timing, ChaseRing& ring,
                                const ProbeWalk& walk);

    // Every element holds what it must: for each member that ever worked, in the order of members,
    // its sources 's' and 't', then its destination 'd'.
    std::vector<ArrayValidation> validate(const StopCheck& stop = {});
    // For tests of the validation: an element of the destination, or of the first source where
    // there is none.
    void corrupt(std::size_t member, std::size_t element);
    [[nodiscard]] std::size_t array_bytes() const noexcept;  // of each array, as rounded
    // Of each member: its sources', then its destination's.
    [[nodiscard]] std::vector<std::vector<Backing>> backing() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memgauge
