#include "memgauge/gpu/transfers.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/timing.hpp"
#include "gpu/transfers/host_timed.hpp"
#include "gpu/transfers/lane.hpp"

namespace memgauge {

using gpu::Anchor;
using gpu::Device;
using gpu::DeviceMemory;
using gpu::HostMemory;
using gpu::TransferEnd;
using gpu::TransferLane;

namespace {

// What queueing takes a slow host. No link between memories is faster than NVLink 5 (900 GB/s each
// way), so that larger copies cannot be done before the next is queued.
constexpr double queueing_copy_ns = 3000.0;
constexpr double queueing_event_ns = 1500.0;
constexpr double fastest_bytes_per_ns = 900.0;
constexpr double least_hold_ns = 30e3;
constexpr double most_hold_ns = 20e6;
constexpr unsigned tries = 3;  // each held twice as long as the one before

bool of_peers(GpuDirection direction) noexcept {
    return direction >= GpuDirection::to_peer;
}

bool enable(const Device& from, const Device& to) {
    from.enter();
    const cuda::Result result = from.calls().enable_peer_access(to.context(), 0);
    return result == cuda::success || result == cuda::peer_access_already_enabled;
}

double hold_ns(const GpuTransfersRun& run, std::size_t lanes) noexcept {
    const auto copies = static_cast<double>(run.repeats);
    const double host_ns =
        static_cast<double>(lanes) * (copies * queueing_copy_ns + queueing_event_ns);
    const double device_ns = copies * static_cast<double>(run.bytes) / fastest_bytes_per_ns;
    const double behind_ns =
        std::max(0.0, host_ns - device_ns) * static_cast<double>(run.iterations);
    return std::clamp(behind_ns, least_hold_ns, most_hold_ns);
}

// A run that is under way, from the first reading of its counters on.
struct Pending {
    explicit Pending(Device& device) : region(device) {}

    gpu::Region region;
    std::size_t iterations = 0;
};

}  // namespace

struct GpuTransfers::State {
    State(std::shared_ptr<Device> own, std::shared_ptr<Device> other, GpuHost kind)
        : device(std::move(own)), peer(std::move(other)), host(kind) {}
    ~State() {
        if (gate != nullptr) {
            device->calls().context_set(device->context());
            device->calls().event_destroy(gate);
        }
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void prepare();
    void check(const GpuTransfersRun& run) const;
    [[nodiscard]] std::vector<TransferLane*> lanes_of(GpuDirection direction) const;
    void queue(const GpuTransfersRun& run, double held_ns, const StopCheck& stop);
    void queue_copies(const GpuTransfersRun& run) const;
    // Until what is pending is over; its stamps.
    [[nodiscard]] std::size_t wait(const StopCheck& stop);
    [[nodiscard]] Slice taken(std::size_t stamps) const;

    std::shared_ptr<Device> device;
    std::shared_ptr<Device> peer;  // null: the other end is the host
    GpuHost host;
    bool direct = false;
    std::array<std::unique_ptr<TransferLane>, 2> lanes;  // there and back
    cuda::Event gate = nullptr;
    std::vector<TransferLane*> at_work;
    std::unique_ptr<Pending> pending;
    bool host_was_slower = false;
};

// What a run needs besides the lanes: the kernel that holds them, and what lets them go.
void GpuTransfers::State::prepare() {
    gpu::prepare_clocks(*device);
    device->enter();
    device->check(device->calls().event_create(&gate, cuda::event_default), "cuEventCreate");
}

void GpuTransfers::State::check(const GpuTransfersRun& run) const {
    const std::string name(to_string(run.direction));
    if (pending) {
        throw RequestError("cannot transfer " + name +
                           ": transfers that were started are not finished; finish them first");
    }
    if (of_peers(run.direction) != (peer != nullptr)) {
        throw RequestError("cannot transfer " + name + ": these transfers are between a GPU and " +
                           (peer ? "another one" : "the host"));
    }
    const std::size_t most = lanes[0]->bytes();
    if (run.bytes == 0 || run.bytes > most) {
        throw RequestError("cannot transfer " + std::to_string(run.bytes) +
                           " bytes at once; the buffers hold 1 to " + std::to_string(most));
    }
    if (run.iterations == 0 || run.repeats == 0) {
        throw RequestError("a run has at least one iteration and one copy in it");
    }
}

std::vector<TransferLane*> GpuTransfers::State::lanes_of(GpuDirection direction) const {
    switch (direction) {
        case GpuDirection::host_to_device:
        case GpuDirection::to_peer:
            return {lanes[0].get()};
        case GpuDirection::device_to_host:
        case GpuDirection::from_peer:
            return {lanes[1].get()};
        case GpuDirection::both:
        case GpuDirection::both_peers:
            break;
    }
    return {lanes[0].get(), lanes[1].get()};
}

void GpuTransfers::State::queue_copies(const GpuTransfersRun& run) const {
    for (const TransferLane* lane : at_work) lane->record(0);
    for (std::size_t k = 1; k <= run.iterations; ++k) {
        for (const TransferLane* lane : at_work) {
            for (std::size_t copy = 0; copy < run.repeats; ++copy) lane->copy(run.bytes);
            lane->record(k);
        }
    }
}

void GpuTransfers::State::queue(const GpuTransfersRun& run, double held_ns, const StopCheck& stop) {
    at_work = lanes_of(run.direction);
    device->enter();
    for (TransferLane* lane : at_work) lane->prepare(run.iterations);
    auto begun = std::make_unique<Pending>(*device);
    begun->iterations = run.iterations;
    begun->region.before(stop);
    gpu::launch(*device, device->kernel("hold"), 1, 1, static_cast<std::uint64_t>(held_ns));
    device->check(device->calls().event_record(gate, device->stream()), "cuEventRecord");
    for (const TransferLane* lane : at_work) {
        device->check(device->calls().stream_wait_event(lane->stream(), gate, 0),
                      "cuStreamWaitEvent");
    }
    queue_copies(run);
    pending = std::move(begun);
    // Copies of one size that were ahead of the host at the end were so before. One is never.
    host_was_slower =
        run.iterations > 1 && std::ranges::any_of(at_work, [&](const TransferLane* lane) {
            return lane->happened(run.iterations - 1);
        });
    for (TransferLane* lane : at_work) lane->arrived(run.bytes);
}

std::size_t GpuTransfers::State::wait(const StopCheck& stop) {
    const std::unique_ptr<Pending> ending = std::move(pending);
    device->enter();
    for (const TransferLane* lane : at_work) lane->wait(stop);
    ending->region.after();
    return ending->iterations;
}

Slice GpuTransfers::State::taken(std::size_t stamps) const {
    const Anchor anchor = device->anchor();
    Slice slice;
    for (const TransferLane* lane : at_work) slice.threads.push_back(lane->stamped(stamps, anchor));
    device->clock_error_ns = anchor.error_ns;
    return slice;
}

GpuTransfers::GpuTransfers(const Gpu& gpu, const GpuTransfersRequest& request,
                           const StopCheck& stop)
    : state_(std::make_unique<State>(gpu.device(), nullptr, request.host)) {
    const std::shared_ptr<Device>& device = state_->device;
    if (request.bytes == 0) throw RequestError("cannot transfer nothing; ask for at least 1 byte");
    const std::scoped_lock turn(device->turn());
    const auto on_host = [&] {
        return TransferEnd{std::make_unique<HostMemory>(device, request, stop), nullptr, nullptr};
    };
    const auto on_device = [&] {
        return TransferEnd{nullptr, device, std::make_unique<DeviceMemory>(device, request.bytes)};
    };
    state_->lanes[0] =
        std::make_unique<TransferLane>(device, on_host(), on_device(), request.bytes, 0, 'd', stop);
    state_->lanes[1] =
        std::make_unique<TransferLane>(device, on_device(), on_host(), request.bytes, 1, 'h', stop);
    state_->prepare();
}

GpuTransfers::GpuTransfers(const Gpu& gpu, const Gpu& peer, std::size_t bytes,
                           const StopCheck& stop)
    : state_(std::make_unique<State>(gpu.device(), peer.device(), GpuHost::pinned)) {
    const std::shared_ptr<Device>& device = state_->device;
    if (bytes == 0) throw RequestError("cannot transfer nothing; ask for at least 1 byte");
    if (device->name() == state_->peer->name()) {
        throw RequestError(device->name() + ": is no other GPU than itself; name another as peer");
    }
    const std::scoped_lock turn(device->turn());
    const auto on = [&](const std::shared_ptr<Device>& owner) {
        return TransferEnd{nullptr, owner, std::make_unique<DeviceMemory>(owner, bytes)};
    };
    const std::vector<int> reached = device->peers();
    const bool can = std::ranges::find(reached, peer.facts().index) != reached.end();
    state_->direct = can && enable(*device, *state_->peer) && enable(*state_->peer, *device);
    state_->lanes[0] =
        std::make_unique<TransferLane>(device, on(device), on(state_->peer), bytes, 0, 'p', stop);
    state_->lanes[1] =
        std::make_unique<TransferLane>(device, on(state_->peer), on(device), bytes, 1, 'd', stop);
    state_->prepare();
}

GpuTransfers::~GpuTransfers() = default;

Slice GpuTransfers::run(const GpuTransfersRun& request, const StopCheck& stop) {
    State& state = *state_;
    state.check(request);
    const std::scoped_lock turn(state.device->turn());
    if (state.host == GpuHost::pageable) {
        return gpu::host_timed(*state.device, state.lanes_of(request.direction), request, stop);
    }
    double held_ns = hold_ns(request, state.lanes_of(request.direction).size());
    for (unsigned attempt = 1;; ++attempt, held_ns *= 2.0) {
        state.queue(request, held_ns, stop);
        const std::size_t stamps = state.wait(stop);
        if (!state.host_was_slower || attempt == tries) return state.taken(stamps);
    }
}

void GpuTransfers::start(const GpuTransfersRun& request, const StopCheck& stop) {
    State& state = *state_;
    state.check(request);
    if (state.host == GpuHost::pageable) {
        throw RequestError(
            "transfers of pageable memory cannot be started and left: the driver copies it in the "
            "calling thread; take pinned memory");
    }
    const std::scoped_lock turn(state.device->turn());
    state.queue(request, hold_ns(request, state.lanes_of(request.direction).size()), stop);
}

Slice GpuTransfers::finish(const StopCheck& stop) {
    State& state = *state_;
    if (!state.pending) throw RequestError("no transfers were started; start them first");
    const std::scoped_lock turn(state.device->turn());
    return state.taken(state.wait(stop));
}

bool GpuTransfers::host_was_slower() const noexcept {
    return state_->host_was_slower;
}

bool GpuTransfers::direct() const noexcept {
    return state_->direct;
}

std::vector<ArrayValidation> GpuTransfers::validate(const StopCheck& stop) {
    State& state = *state_;
    if (state.pending) {
        throw RequestError("cannot validate transfers that are under way; finish them first");
    }
    const std::scoped_lock turn(state.device->turn());
    std::vector<ArrayValidation> found;
    for (const auto& lane : state.lanes) {
        ArrayValidation one{};
        if (lane->validate(one, stop)) found.push_back(one);
    }
    return found;
}

void GpuTransfers::corrupt(GpuDirection direction, std::size_t element) {
    const std::scoped_lock turn(state_->device->turn());
    for (const TransferLane* lane : state_->lanes_of(direction)) lane->corrupt(element);
}

std::vector<Backing> GpuTransfers::backing() const {
    std::vector<Backing> found;
    for (const auto& lane : state_->lanes) {
        const HostMemory* host = lane->host();
        const std::optional<Backing> one = host == nullptr ? std::nullopt : host->backing();
        if (one) found.push_back(*one);
    }
    return found;
}

}  // namespace memgauge
