#include "memgauge/gpu/transfers.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/timing.hpp"
#include "gpu/transfer_lane.hpp"

namespace memgauge {

using gpu::Anchor;
using gpu::Device;
using gpu::DeviceMemory;
using gpu::HostMemory;
using gpu::TransferEnd;
using gpu::TransferLane;

namespace {

constexpr std::array<std::string_view, 2> host_names{"pinned", "pageable"};
constexpr std::array<std::string_view, 6> direction_names{
    "host-to-device", "device-to-host", "both", "to-peer", "from-peer", "both-peers"};

// What queueing takes a slow host; no link is faster than the fastest (NVLink-C2C, 450 GB/s each
// way), so that larger copies cannot be done before the next is queued.
constexpr double queueing_copy_ns = 3000.0;
constexpr double queueing_event_ns = 1500.0;
constexpr double fastest_bytes_per_ns = 450.0;
constexpr double least_hold_ns = 30e3;
constexpr double most_hold_ns = 20e6;
constexpr unsigned tries = 3;  // each held twice as long as the one before

template <class Kind, std::size_t count>
Kind named(const std::array<std::string_view, count>& names, std::string_view name,
           const std::string& what) {
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<Kind>(found - names.begin());
    std::string all;
    for (const std::string_view each : names) all += (all.empty() ? "" : ", ") + std::string(each);
    throw RequestError("unknown " + what + " '" + std::string(name) + "'; choose among " + all);
}

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

// Copies of one lane that the host times; ends early when it is asked to.
class HostTimed {
public:
    HostTimed(const Device& device, const TransferLane& lane, const GpuTransfersRun& run)
        : device_(device), lane_(lane), run_(run) {
        slice.iterations.reserve(run.iterations);
    }

    template <class Stopped>
    void go(Stopped stopped) {
        const Clock& clock = Clock::instance();
        slice.cpu = sched_getcpu();
        for (std::size_t k = 0; k < run_.iterations && !stopped(); ++k) {
            const Ticks begin = clock.now();
            for (std::size_t copy = 0; copy < run_.repeats; ++copy) lane_.copy(run_.bytes);
            device_.check(device_.calls().stream_synchronize(lane_.stream()),
                          "cuStreamSynchronize");
            slice.iterations.push_back({begin, clock.now()});
        }
    }

    ThreadSlice slice;

private:
    const Device& device_;
    const TransferLane& lane_;
    GpuTransfersRun run_;
};

// Asked every 20 ms: the caller's check takes the interpreter's lock.
class NowAndThen {
public:
    explicit NowAndThen(const StopCheck& stop) : stop_(stop) {}
    bool operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (!stop_ || now - asked_ < std::chrono::milliseconds(20)) return false;
        asked_ = now;
        return stop_();
    }

private:
    const StopCheck& stop_;
    std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

}  // namespace

std::string_view to_string(GpuHost host) noexcept {
    return host_names[static_cast<std::size_t>(host)];
}

GpuHost gpu_host_from_string(std::string_view name) {
    return named<GpuHost>(host_names, name, "kind of host memory");
}

std::string_view to_string(GpuDirection direction) noexcept {
    return direction_names[static_cast<std::size_t>(direction)];
}

GpuDirection gpu_direction_from_string(std::string_view name) {
    return named<GpuDirection>(direction_names, name, "direction of transfers");
}

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
    void wait(const StopCheck& stop);
    [[nodiscard]] Slice taken();
    [[nodiscard]] Slice host_timed(const GpuTransfersRun& run, const StopCheck& stop);

    std::shared_ptr<Device> device;
    std::shared_ptr<Device> peer;  // null: the other end is the host
    GpuHost host;
    bool direct = false;
    std::array<std::unique_ptr<TransferLane>, 2> lanes;  // there and back
    cuda::Event gate = nullptr;
    std::vector<TransferLane*> at_work;
    std::optional<GpuTransfersRun> pending;
    std::optional<gpu::Region> region;
    bool host_was_slower = false;
};

// What a run needs besides the lanes: the kernel that holds them, and what lets them go.
void GpuTransfers::State::prepare() {
    static const std::array<gpu::KernelText, 1> kernels{gpu::KernelText{"hold", ""}};
    device->prepare("timing.cu", kernels);
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
    region.emplace(*device);
    region->before(stop);
    gpu::launch(*device, device->kernel("hold"), 1, 1, static_cast<std::uint64_t>(held_ns));
    device->check(device->calls().event_record(gate, device->stream()), "cuEventRecord");
    for (const TransferLane* lane : at_work) {
        device->check(device->calls().stream_wait_event(lane->stream(), gate, 0),
                      "cuStreamWaitEvent");
    }
    queue_copies(run);
    pending = run;
    // Copies of one size that were ahead of the host at the end were so before. One is never.
    host_was_slower =
        run.iterations > 1 && std::ranges::any_of(at_work, [&](const TransferLane* lane) {
            return lane->happened(run.iterations - 1);
        });
    for (TransferLane* lane : at_work) lane->arrived(run.bytes);
}

void GpuTransfers::State::wait(const StopCheck& stop) {
    const GpuTransfersRun run = *std::exchange(pending, std::nullopt);
    device->enter();
    for (const TransferLane* lane : at_work) lane->wait(stop);
    region->after();
    region.reset();
    pending = run;
}

Slice GpuTransfers::State::taken() {
    const std::size_t stamps = std::exchange(pending, std::nullopt)->iterations;
    const Anchor anchor = device->anchor();
    Slice slice;
    for (const TransferLane* lane : at_work) slice.threads.push_back(lane->stamped(stamps, anchor));
    device->clock_error_ns = anchor.error_ns;
    return slice;
}

// The second direction on a thread of its own, which begins with the first.
Slice GpuTransfers::State::host_timed(const GpuTransfersRun& run, const StopCheck& stop) {
    at_work = lanes_of(run.direction);
    device->enter();
    std::vector<HostTimed> works;
    for (const TransferLane* lane : at_work) works.emplace_back(*device, *lane, run);
    std::atomic<unsigned> ready{0};
    std::atomic<bool> ended{false};
    std::exception_ptr failed;
    const auto meet = [&] {
        ++ready;
        while (ready < works.size()) std::this_thread::yield();
    };
    gpu::Region counted(*device);
    counted.before(stop);
    std::thread second;
    if (works.size() > 1) {
        second = std::thread([&] {
            try {
                device->enter();
                meet();
                works[1].go([&] { return ended.load(std::memory_order_relaxed); });
            } catch (...) {
                failed = std::current_exception();
                ready = 2;
            }
        });
    }
    std::exception_ptr own;
    try {
        meet();
        works[0].go([&, asked = NowAndThen(stop)]() mutable {
            if (asked()) ended = true;
            return ended.load(std::memory_order_relaxed);
        });
    } catch (...) {
        own = std::current_exception();
        ended = true;
    }
    if (second.joinable()) second.join();
    if (own) std::rethrow_exception(own);
    if (failed) std::rethrow_exception(failed);
    if (ended) throw Interrupted();
    counted.after();
    Slice slice;
    for (HostTimed& work : works) slice.threads.push_back(std::move(work.slice));
    for (TransferLane* lane : at_work) lane->arrived(run.bytes);
    return slice;
}

GpuTransfers::GpuTransfers(const Gpu& gpu, const GpuTransfersRequest& request,
                           const StopCheck& stop)
    : state_(std::make_unique<State>(gpu.device(), nullptr, request.host)) {
    const std::shared_ptr<Device>& device = state_->device;
    if (request.bytes == 0) throw RequestError("cannot transfer nothing; ask for at least 1 byte");
    const std::lock_guard turn(device->turn());
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
    const std::lock_guard turn(device->turn());
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
    const std::lock_guard turn(state.device->turn());
    if (state.host == GpuHost::pageable) return state.host_timed(request, stop);
    double held_ns = hold_ns(request, state.lanes_of(request.direction).size());
    for (unsigned attempt = 1;; ++attempt, held_ns *= 2.0) {
        state.queue(request, held_ns, stop);
        state.wait(stop);
        if (!state.host_was_slower || attempt == tries) return state.taken();
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
    const std::lock_guard turn(state.device->turn());
    state.queue(request, hold_ns(request, state.lanes_of(request.direction).size()), stop);
}

Slice GpuTransfers::finish(const StopCheck& stop) {
    State& state = *state_;
    if (!state.pending) throw RequestError("no transfers were started; start them first");
    const std::lock_guard turn(state.device->turn());
    state.wait(stop);
    return state.taken();
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
    const std::lock_guard turn(state.device->turn());
    std::vector<ArrayValidation> found;
    for (const auto& lane : state.lanes) {
        ArrayValidation one{};
        if (lane->validate(one, stop)) found.push_back(one);
    }
    return found;
}

void GpuTransfers::corrupt(GpuDirection direction, std::size_t element) {
    const std::lock_guard turn(state_->device->turn());
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
