#pragma once
// A ring of dependent loads: each node holds the address of the next, so one load waits for the
// last. The nodes form one single cycle in the asked order.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "memgauge/buffer.hpp"
#include "memgauge/team.hpp"

namespace memgauge {

namespace memory {
struct RingAccess;
}

// random: a random cycle over all nodes of the buffer. block_random: all nodes of one block in
// random order, then the next block, blocks in random order (TLB misses become rare). stride: each
// node's successor lies one node further, wrapping. The random orders place nodes of more than 64
// bytes on a random line of their slot, the same for all slots of a 4 KiB region, so that all sets
// of a cache are used; stride keeps them exactly one stride apart.
enum class ChaseOrder : std::uint8_t { random, block_random, stride };
std::string_view to_string(ChaseOrder) noexcept;  // "random", "block-random", "stride"
ChaseOrder chase_order_from_string(std::string_view);

struct ChaseRequest {
    std::size_t bytes = 0;        // footprint of the ring
    std::size_t node_bytes = 64;  // distance between nodes: 64 visits every line
    std::size_t block_bytes = 0;  // block_random: size of a block; the last may be shorter
    ChaseOrder order = ChaseOrder::random;
    PagePolicy pages = PagePolicy::automatic;
    MemorySource memory;
    std::uint64_t seed = 1;
};

class ChaseRing {
public:
    // Allocates, and touches and links on thread 0 of the team, which must outlive this object;
    // with `linkers` on all threads of that team, which then decide on which nodes pages without a
    // policy are placed. The ring is the same either way. RequestError: fewer than two nodes,
    // node_bytes not a multiple of a pointer's, block_bytes not a multiple of node_bytes; and those
    // of Buffer.
    ChaseRing(Team& team, const ChaseRequest& request, const StopCheck& stop = {},
              Team* linkers = nullptr);
    ~ChaseRing();

    // Untimed, thread 0 reads every line of the buffer in order, `sweeps` times, then walks
    // `warm_hops` from where the last walk ended; then `iterations` stamped walks of `hops` each.
    // Sweeps bring back whatever the caches can hold, at the speed of the bandwidth. One does not
    // do: a last-level cache that adapts its insertion keeps what it saw come back.
    Slice run(std::size_t hops, std::size_t warm_hops = 0, std::size_t iterations = 1,
              unsigned sweeps = 0);
    [[nodiscard]] std::size_t nodes() const noexcept;
    // Walks the ring once: true when every node is visited exactly once before the start returns.
    [[nodiscard]] bool is_single_cycle() const;
    [[nodiscard]] Backing backing() const;

private:
    friend struct memory::RingAccess;  // for the probe beside traffic
    struct State;
    std::unique_ptr<State> state_;
};

// Times dependent chains of register additions, whose cycles are known, and multiplications: from
// them the core's clock frequency at the moment, in cycles per ns. Under 0.2 ms on thread `rank`.
// RequestError where the cycles of an addition are not known (a POWER newer than this code).
double core_cycles_per_ns(Team& team, std::size_t rank = 0);

}  // namespace memgauge
