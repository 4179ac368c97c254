#include "stream.hpp"

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "knobs.hpp"

namespace stand_in {
namespace {

Clockwork told() {
    Clockwork made;
    made.scripted = knob("clock", "monotonic") == "scripted";
    made.launch_ns = knob_real("launch_ns", 1000);
    made.kernel_ns_per_byte = knob_real("kernel_ns_per_byte", 0.001);
    made.copy_ns = knob_real("copy_ns", 1000);
    const double copies = knob_real("copy_ns_per_byte", 0.04);
    made.to_device_ns_per_byte = knob_real("to_device_ns_per_byte", copies);
    made.to_host_ns_per_byte = knob_real("to_host_ns_per_byte", copies);
    made.peer_ns_per_byte = knob_real("peer_ns_per_byte", copies);
    return made;
}

struct Registry {
    std::mutex turn;
    std::vector<std::weak_ptr<Queue>> queues;
    std::map<int, std::shared_ptr<Queue>> defaults;
};

Registry& registry() {
    static auto* const all = new Registry;
    return *all;
}

}  // namespace

const Clockwork& clockwork() {
    static const Clockwork made = told();
    return made;
}

void synchronised(Device& device, std::uint64_t ns) {
    const std::lock_guard turn(device.turn);
    device.synchronised_ns = std::max(device.synchronised_ns, ns);
}

Queue::Queue(Device& device, bool blocking) : device_(device), blocking_(blocking) {}

void Queue::put(Work work) {
    std::uint64_t floor = 0;
    {
        const std::lock_guard turn(device_.turn);
        floor = device_.synchronised_ns;
    }
    const std::lock_guard turn(turn_);
    waiting_.push_back({std::move(work), floor});
    if (!served_) {
        served_ = true;
        std::thread([this] { serve(); }).detach();
    }
    changed_.notify_all();
}

void Queue::put_event(const std::shared_ptr<EventState>& event) {
    std::uint64_t number = 0;
    {
        const std::lock_guard turn(event->turn);
        number = ++event->asked;
        event->device = device_.ordinal;
    }
    put([event, number](std::uint64_t now) {
        const std::lock_guard turn(event->turn);
        event->ns = clockwork().scripted ? now : monotonic_ns();
        event->done = number;
        event->changed.notify_all();
        return 0.0;
    });
}

void Queue::put_wait(const std::shared_ptr<EventState>& event) {
    std::uint64_t number = 0;
    {
        const std::lock_guard turn(event->turn);
        number = event->asked;
    }
    put([event, number](std::uint64_t now) {
        std::unique_lock turn(event->turn);
        event->changed.wait(turn, [&] { return event->done >= number; });
        return event->ns > now ? static_cast<double>(event->ns - now) : 0.0;
    });
}

void Queue::run(const Entry& entry) {
    const bool scripted = clockwork().scripted;
    const std::uint64_t begin = std::max(now_ns_, entry.floor_ns);
    const double cost = entry.work(scripted ? begin : monotonic_ns());
    now_ns_ = scripted ? begin + static_cast<std::uint64_t>(std::llround(cost)) : monotonic_ns();
    const std::lock_guard turn(device_.turn);
    device_.done_ns = std::max(device_.done_ns, now_ns_);
}

void Queue::serve() {
    std::unique_lock turn(turn_);
    for (;;) {
        changed_.wait(turn, [this] { return !waiting_.empty(); });
        const Entry entry = std::move(waiting_.front());
        waiting_.pop_front();
        running_ = true;
        turn.unlock();
        run(entry);
        turn.lock();
        running_ = false;
        changed_.notify_all();
    }
}

void Queue::drain() {
    ++device_.waits;
    std::unique_lock turn(turn_);
    changed_.wait(turn, [this] { return waiting_.empty() && !running_; });
    const std::uint64_t now = now_ns_;
    turn.unlock();
    synchronised(device_, now);
}

bool Queue::idle() {
    ++device_.waits;
    const std::lock_guard turn(turn_);
    return waiting_.empty() && !running_;
}

std::shared_ptr<Queue> default_queue(Device& device) {
    Registry& all = registry();
    const std::lock_guard turn(all.turn);
    std::shared_ptr<Queue>& found = all.defaults[device.ordinal];
    if (!found) found = std::make_shared<Queue>(device, true);
    return found;
}

std::shared_ptr<Queue> queue_of(CUstream stream) {
    // 1 and 2 are the legacy and the per-thread default stream.
    if (reinterpret_cast<std::uintptr_t>(stream) > 2) return stream->queue;
    Device* device = current_device();
    return device == nullptr ? nullptr : default_queue(*device);
}

void drain(Device& device, bool blocking_only) {
    std::vector<std::shared_ptr<Queue>> queues{default_queue(device)};
    {
        Registry& all = registry();
        const std::lock_guard turn(all.turn);
        for (const std::weak_ptr<Queue>& each : all.queues) {
            if (auto queue = each.lock()) queues.push_back(std::move(queue));
        }
    }
    for (const auto& queue : queues) {
        if (&queue->device() == &device && (queue->blocking() || !blocking_only)) queue->drain();
    }
}

void submit(CUstream stream, Work work, bool host_waits) {
    const std::shared_ptr<Queue> queue = queue_of(stream);
    const bool is_default = reinterpret_cast<std::uintptr_t>(stream) <= 2;
    if (is_default) drain(queue->device(), true);
    queue->put(std::move(work));
    if (is_default || host_waits) queue->drain();
}

}  // namespace stand_in

namespace {

using namespace stand_in;

int made_stream(CUstream* into, unsigned flags) {
    Device* device = current_device();
    if (device == nullptr) return cu_invalid_context;
    if (into == nullptr) return cu_invalid_value;
    auto queue = std::make_shared<Queue>(*device, (flags & stream_non_blocking) == 0);
    *into = new CUstream_st{queue};
    Registry& all = registry();
    const std::lock_guard turn(all.turn);
    all.queues.push_back(queue);
    return 0;
}

// A thread serves the queue for ever: so queues are kept.
void keep(const std::shared_ptr<Queue>& queue) {
    static auto* const kept = new std::vector<std::shared_ptr<Queue>>;
    static std::mutex turn;
    const std::lock_guard own(turn);
    kept->push_back(queue);
}

}  // namespace

STAND_IN CUresult cuStreamCreate(CUstream* into, unsigned flags) {
    ENTRY;
    return made_stream(into, flags);
}

STAND_IN CUresult cuStreamCreateWithPriority(CUstream* into, unsigned flags, int) {
    ENTRY;
    return made_stream(into, flags);
}

STAND_IN CUresult cuStreamDestroy_v2(CUstream stream) {
    ENTRY;
    if (stream == nullptr) return cu_invalid_handle;
    keep(stream->queue);
    delete stream;
    return 0;
}

STAND_IN CUresult cuStreamSynchronize(CUstream stream) {
    ENTRY;
    const auto queue = queue_of(stream);
    if (!queue) return cu_invalid_context;
    queue->drain();
    return queue->device().primary.sticky;
}

STAND_IN CUresult cuStreamQuery(CUstream stream) {
    ENTRY;
    const auto queue = queue_of(stream);
    if (!queue) return cu_invalid_context;
    if (!queue->idle()) return cu_not_ready;
    queue->drain();
    return queue->device().primary.sticky;
}

STAND_IN CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
    ENTRY;
    const auto queue = queue_of(stream);
    if (!queue || event == nullptr) return cu_invalid_handle;
    queue->put_wait(event->state);
    return 0;
}

STAND_IN CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* given) {
    ENTRY;
    const auto queue = queue_of(stream);
    if (!queue) return cu_invalid_context;
    queue->put([=](std::uint64_t) {
        function(given);
        return 0.0;
    });
    return 0;
}

STAND_IN CUresult cuEventCreate(CUevent* into, unsigned flags) {
    ENTRY;
    if (current_device() == nullptr) return cu_invalid_context;
    *into = new CUevent_st{(flags & event_disable_timing) == 0, std::make_shared<EventState>()};
    return 0;
}

STAND_IN CUresult cuEventDestroy_v2(CUevent event) {
    ENTRY;
    if (event == nullptr) return cu_invalid_handle;
    delete event;
    return 0;
}

STAND_IN CUresult cuEventRecord(CUevent event, CUstream stream) {
    ENTRY;
    const auto queue = queue_of(stream);
    if (!queue || event == nullptr) return cu_invalid_handle;
    queue->put_event(event->state);
    return 0;
}

STAND_IN CUresult cuEventQuery(CUevent event) {
    ENTRY;
    if (event == nullptr) return cu_invalid_handle;
    std::unique_lock turn(event->state->turn);
    if (event->state->done < event->state->asked) return cu_not_ready;
    Device* device = device_at(event->state->device);
    const std::uint64_t ns = event->state->ns;
    turn.unlock();
    synchronised(*device, ns);
    return device->primary.sticky;
}

STAND_IN CUresult cuEventSynchronize(CUevent event) {
    ENTRY;
    if (event == nullptr) return cu_invalid_handle;
    ++device_at(event->state->device)->waits;
    std::unique_lock turn(event->state->turn);
    EventState& state = *event->state;
    state.changed.wait(turn, [&] { return state.done >= state.asked; });
    Device* device = device_at(state.device);
    const std::uint64_t ns = state.ns;
    turn.unlock();
    synchronised(*device, ns);
    return device->primary.sticky;
}

namespace {

int elapsed(float* into, CUevent from, CUevent to) {
    if (from == nullptr || to == nullptr) return cu_invalid_handle;
    double ns[2];
    CUevent both[2] = {from, to};
    for (int at = 0; at < 2; ++at) {
        EventState& state = *both[at]->state;
        const std::lock_guard turn(state.turn);
        if (!both[at]->timed || state.asked == 0) return cu_invalid_handle;
        if (state.done < state.asked) return cu_not_ready;
        ns[at] = static_cast<double>(state.ns);
    }
    *into = static_cast<float>((ns[1] - ns[0]) / 1e6);
    return 0;
}

}  // namespace

STAND_IN CUresult cuEventElapsedTime(float* into, CUevent from, CUevent to) {
    ENTRY;
    return elapsed(into, from, to);
}

STAND_IN CUresult cuEventElapsedTime_v2(float* into, CUevent from, CUevent to) {
    ENTRY;
    return elapsed(into, from, to);
}
