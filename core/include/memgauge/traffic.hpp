#pragma once
// Memory traffic of a chosen mix and intensity, with or without a probe that chases pointers
// meanwhile.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "memgauge/buffer.hpp"
#include "memgauge/chase.hpp"
#include "memgauge/kernels.hpp"
#include "memgauge/stream_arrays.hpp"
#include "memgauge/team.hpp"

namespace memgauge {

// sequential: each thread walks its memory as two sub-streams of reads and two of writes. random:
// every line of it once in a scrambled order, addresses known ahead, so that many are in flight.
enum class TrafficOrder : std::uint8_t { sequential, random };
std::string_view to_string(TrafficOrder) noexcept;
TrafficOrder traffic_order_from_string(std::string_view);

// Accesses are whole lines: a read loads all of a line, a write stores all of one. Reads and writes
// alternate inside every piece of 16 lines, in instructions, as evenly as their ratio allows.
struct TrafficSpec {
    unsigned reads = 1;  // of reads + writes accesses; not both 0, sum at most 1000
    unsigned writes = 0;
    StoreKind store = StoreKind::temporal;
    TrafficOrder order = TrafficOrder::sequential;
    std::uint32_t delay = 0;  // units of pause() after every piece of 16 lines
};

// RequestError: a ratio out of bounds; non-temporal writes where the processor has no such store.
void check(const TrafficSpec& spec);

struct LineTraffic {
    std::size_t line_bytes;
    std::size_t write_allocate_bytes;  // read beside each line written: by temporal stores
};
LineTraffic line_traffic(const TrafficSpec& spec) noexcept;

struct TrafficRequest {
    std::size_t bytes = 0;       // each thread reads from as many and writes to as many others
    std::size_t first_rank = 0;  // of the team's threads that generate; those before it do not
    PagePolicy pages = PagePolicy::automatic;
    MemorySource memory;
};

// What happened while a probe chased and the others generated.
struct LoadedSlice {
    // Thread 0: one stamp for each iteration of its walk. Generators: one stamp, the window in
    // which probe and all generators ran, and what they read and wrote in it.
    Slice slice;
    // Loads of the probe timed one by one, after the walk and inside the window: ns with the
    // clock's own cost, and how many took that long, ascending.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> load_ns;
};

class Traffic {
public:
    // Allocates, touches and fills on the threads that generate; no two share a page. The team must
    // outlive this object.
    Traffic(Team& team, const TrafficRequest& request, const StopCheck& stop = {});
    ~Traffic();

    // Every generating thread issues `bytes` of accesses, going on from where it was; stamped once.
    // Before, untimed, `lead_in_bytes` of the same.
    Slice run(const TrafficSpec& spec, std::size_t bytes, std::size_t lead_in_bytes = 0,
              bool pingpong = false);

    // Generators run until the probe is done; needs first_rank == 1 and a ring of this team. The
    // probe walks `warm_hops` while the traffic builds up, then `iterations` stamped walks of
    // `hops` each, then `timed_loads` loads one by one.
    LoadedSlice run_loaded(const TrafficSpec& spec, ChaseRing& ring, std::size_t hops,
                           std::size_t warm_hops, std::size_t iterations, std::size_t timed_loads,
                           std::size_t lead_in_bytes = 0, bool pingpong = false);

    // Every element written to holds what its address says: one entry, array 'w', over all threads.
    std::vector<ArrayValidation> validate(const StopCheck& stop = {});
    void corrupt(std::size_t element);  // for tests of the validation: of thread first_rank
    [[nodiscard]] std::vector<Backing> backing() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

// Keeps the calling thread busy without touching memory, in proportion to `units`: each is one
// multiplication that waits for the last.
void pause(std::uint32_t units) noexcept;
// Time of pause(units) on thread `rank`, in ns, the clock's own cost taken off: the median of a
// few.
double pause_ns(Team& team, std::uint32_t units, std::size_t rank = 0);

}  // namespace memgauge
