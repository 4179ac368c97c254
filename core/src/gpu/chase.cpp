#include "memgauge/gpu/chase.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/timing.hpp"
#include "memgauge/names.hpp"

namespace memgauge {

using gpu::block_threads;
using gpu::Device;
using gpu::DeviceMemory;
using gpu::KernelText;

namespace {

constexpr std::uint64_t nowhere = ~std::uint64_t{0};
// Shorter times say too little of the clock's frequency.
constexpr std::uint64_t least_resolutions = 100;

// What walk_ring in kernels/chase.cu says of an iteration.
struct WalkTimes {
    std::uint64_t begin_ns;
    std::uint64_t end_ns;
    std::uint64_t cycles;
    std::uint64_t padding;
};

std::size_t nodes_of(const GpuChaseRequest& request) {
    const std::size_t node = request.node_bytes;
    if (node < sizeof(std::uint64_t) || (node & (node - 1)) != 0) {
        throw RequestError("a ring's nodes cannot be " + std::to_string(node) +
                           " bytes apart; ask for a power of two from 8");
    }
    if (request.bytes / node < 2) {
        throw RequestError("a ring of " + std::to_string(request.bytes) + " bytes has not two " +
                           "nodes " + std::to_string(node) + " bytes apart; ask for more");
    }
    const bool in_blocks = request.order == ChaseOrder::block_random;
    if (in_blocks ? request.block_bytes == 0 || request.block_bytes % node != 0
                  : request.block_bytes != 0) {
        throw RequestError("blocks of " + std::to_string(request.block_bytes) +
                           " bytes do not fit the ring; ask for a multiple of node_bytes with "
                           "order block-random, for none with another");
    }
    return request.bytes / node;
}

std::span<const KernelText> chase_kernels() {
    static const std::array<KernelText, 6> all{
        KernelText{"link_random", ""}, KernelText{"link_stride", ""},
        KernelText{"sweep", ""},       KernelText{"walk_l1", ""},
        KernelText{"walk_l2", ""},     KernelText{"count_returns", ""}};
    return all;
}

constexpr Names<2> through_names{"l1", "l2"};

}  // namespace

std::string_view to_string(GpuThrough through) noexcept {
    return name_of(through_names, through);
}

GpuThrough gpu_through_from_string(std::string_view name) {
    return value_of<GpuThrough>(through_names, "way of a chase", name);
}

struct GpuChase::State {
    State(const Gpu& gpu, const GpuChaseRequest& asked)
        : device(gpu.device()),
          request(asked),
          nodes(nodes_of(asked)),
          ring(device, nodes * asked.node_bytes),
          at(ring.at()) {}

    void link(const StopCheck& stop);
    void sweep() const;
    // Of as many threads as are at work at once.
    [[nodiscard]] std::uint64_t blocks_that_fill() const noexcept {
        return 2048ULL / block_threads * static_cast<unsigned>(device->facts().multiprocessors);
    }
    [[nodiscard]] Slice placed_slice(const std::vector<WalkTimes>& times,
                                     const gpu::TimerAnchor& anchor) const;

    std::shared_ptr<Device> device;
    GpuChaseRequest request;
    std::uint64_t nodes;
    DeviceMemory ring;
    std::uint64_t at;  // the address of the node at which the last walk ended, or the first begins
    std::uint64_t resolution_ns = 0;
};

void GpuChase::State::link(const StopCheck& stop) {
    const DeviceMemory begin(device, sizeof at);
    begin.from_host(&at, 0, sizeof at);
    const std::uint64_t node = request.node_bytes;
    const std::uint64_t blocks = blocks_that_fill();
    if (request.order == ChaseOrder::stride) {
        gpu::launch(*device, device->kernel("link_stride"), blocks, block_threads, ring.at(), nodes,
                    node);
    } else {
        const std::uint64_t block = request.order == ChaseOrder::block_random
                                        ? std::min<std::uint64_t>(request.block_bytes / node, nodes)
                                        : nodes;
        gpu::launch(*device, device->kernel("link_random"), blocks, block_threads, ring.at(), nodes,
                    node, block, request.seed, begin.at());
    }
    device->wait(stop);
    begin.to_host(&at, 0, sizeof at);
}

// No sum of three bits is `nowhere`.
void GpuChase::State::sweep() const {
    gpu::launch(*device, device->kernel("sweep"), blocks_that_fill(), block_threads, ring.at(),
                std::uint64_t{ring.bytes()}, device->scratch(), nowhere);
}

GpuChase::GpuChase(const Gpu& gpu, const GpuChaseRequest& request, const StopCheck& stop)
    : state_(std::make_unique<State>(gpu, request)) {
    Device& device = *state_->device;
    const std::scoped_lock turn(device.turn());
    device.prepare("chase.cu", chase_kernels());
    device.enter();
    state_->link(stop);
    state_->resolution_ns = gpu::timer_resolution_ns(device);
}

GpuChase::~GpuChase() = default;

std::size_t GpuChase::nodes() const noexcept {
    return state_->nodes;
}

Slice GpuChase::State::placed_slice(const std::vector<WalkTimes>& times,
                                    const gpu::TimerAnchor& anchor) const {
    Slice slice;
    ThreadSlice& thread = slice.threads.emplace_back();
    thread.cpu = sched_getcpu();
    const auto on_clock = [&](std::uint64_t timer_ns) {
        const auto since = static_cast<std::int64_t>(timer_ns - anchor.timer_ns);
        return gpu::placed(anchor.at, static_cast<double>(since));
    };
    for (const WalkTimes& one : times) {
        if (one.end_ns < one.begin_ns) {
            throw SystemError(device->name() + ": its %globaltimer went backwards; run again");
        }
        thread.iterations.push_back({on_clock(one.begin_ns), on_clock(one.end_ns)});
    }
    return slice;
}

GpuWalk GpuChase::run(std::size_t hops, std::size_t warm_hops, std::size_t iterations,
                      unsigned sweeps, const StopCheck& stop) {
    State& state = *state_;
    if (hops == 0 || iterations == 0) {
        throw RequestError("a walk has at least one hop, and a run one iteration");
    }
    Device& device = *state.device;
    const std::scoped_lock turn(device.turn());
    device.enter();
    const DeviceMemory place(state.device, sizeof state.at);
    const DeviceMemory said(state.device, iterations * sizeof(WalkTimes));
    place.from_host(&state.at, 0, sizeof state.at);
    std::vector<WalkTimes> times(iterations);
    const cuda::Function walk =
        device.kernel(state.request.through == GpuThrough::l1 ? "walk_l1" : "walk_l2");
    gpu::Region region(device);
    const gpu::TimerAnchor anchor = gpu::timer_anchor(device);
    for (unsigned k = 0; k < sweeps; ++k) state.sweep();
    region.before(stop);
    gpu::launch(device, walk, 1, 1, place.at(), std::uint64_t{hops}, std::uint64_t{warm_hops},
                std::uint64_t{iterations}, said.at(), nowhere);
    device.wait(stop);
    region.after();
    place.to_host(&state.at, 0, sizeof state.at);
    said.to_host(times.data(), 0, iterations * sizeof(WalkTimes));
    GpuWalk made{.slice = state.placed_slice(times, anchor),
                 .cycles = {},
                 .cycles_per_ns = std::nullopt,
                 .timer_resolution_ns = state.resolution_ns};
    std::uint64_t cycles = 0;
    std::uint64_t ns = 0;
    for (const WalkTimes& one : times) {
        made.cycles.push_back(one.cycles);
        cycles += one.cycles;
        ns += one.end_ns - one.begin_ns;
    }
    if (ns >= least_resolutions * state.resolution_ns * iterations) {
        made.cycles_per_ns = static_cast<double>(cycles) / static_cast<double>(ns);
    }
    return made;
}

bool GpuChase::is_single_cycle(const StopCheck& stop) {
    State& state = *state_;
    Device& device = *state.device;
    const std::scoped_lock turn(device.turn());
    device.enter();
    const DeviceMemory said(state.device, 2 * sizeof(std::uint64_t));
    gpu::launch(device, device.kernel("count_returns"), 1, 1, state.ring.at(), state.nodes,
                said.at());
    device.wait(stop);
    std::array<std::uint64_t, 2> returns_and_last{};
    said.to_host(returns_and_last.data(), 0, sizeof returns_and_last);
    return returns_and_last[0] == 1 && returns_and_last[1] == 1;
}

}  // namespace memgauge
