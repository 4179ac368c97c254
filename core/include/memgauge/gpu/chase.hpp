#pragma once
// A ring of dependent loads in a GPU's memory, walked by one thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "memgauge/chase.hpp"
#include "memgauge/gpu/driver.hpp"

namespace memgauge {

// l1: plain loads, which look in the multiprocessor's L1 first. l2: ld.cg, which passes it by.
enum class GpuThrough : std::uint8_t { l1, l2 };
std::string_view to_string(GpuThrough) noexcept;
GpuThrough gpu_through_from_string(std::string_view);

struct GpuChaseRequest {
    std::size_t bytes = 0;         // footprint of the ring
    std::size_t node_bytes = 128;  // distance between nodes; a power of two from 8
    GpuThrough through = GpuThrough::l1;
    std::size_t block_bytes = 0;  // block_random: size of a block; the last may be shorter
    ChaseOrder order = ChaseOrder::random;
    std::uint64_t seed = 1;
};

struct GpuWalk {
    // Stamps by the device's %globaltimer inside the kernel (PTX ISA, "Special Registers"), put on
    // the run's clock: an L1 does not outlive a kernel, so that events could not leave the warm-up
    // out.
    Slice slice;
    std::vector<std::uint64_t> cycles;      // of the multiprocessor, for each iteration
    std::optional<double> cycles_per_ns;    // none: too short for the timer's resolution
    std::uint64_t timer_resolution_ns = 0;  // 32 on recent GPUs, 1000 on others
};

class GpuChase {
public:
    GpuChase(const Gpu& gpu, const GpuChaseRequest& request, const StopCheck& stop = {});
    ~GpuChase();

    [[nodiscard]] std::size_t nodes() const noexcept;
    // One launch: `warm_hops`, then `iterations` stamped walks of `hops` each, going on from where
    // the last walk ended. Before it all multiprocessors read the whole ring `sweeps` times, L1
    // passed by: that brings it into the L2 at the speed of bandwidth.
    GpuWalk run(std::size_t hops, std::size_t warm_hops, std::size_t iterations, unsigned sweeps,
                const StopCheck& stop = {});
    // Walks the ring once: true when every node is visited exactly once before the start returns.
    [[nodiscard]] bool is_single_cycle(const StopCheck& stop = {});

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memgauge
