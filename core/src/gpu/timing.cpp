#include "gpu/timing.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace memgauge::gpu {
namespace {

// How long the stream is held at most, for a host that is slow to queue the first launch.
constexpr std::uint64_t longest_hold_ns = 2'000'000;

// Where the stream was let go before the first launch was queued, that launch waited for the host
// and its stamp holds it: the next run holds longer.
void learn_to_hold(Device& device, cuda::Event begin) {
    const cuda::Result begun = device.calls().event_query(begin);
    if (begun == cuda::not_ready) return;
    device.check(begun, "cuEventQuery");
    device.hold_ns = std::min(2 * device.hold_ns, longest_hold_ns);
}

}  // namespace

void prepare_clocks(Device& device) {
    static const std::array<KernelText, 3> kernels{
        KernelText{"hold", ""}, KernelText{"timer_now", ""}, KernelText{"timer_resolution", ""}};
    device.prepare("timing.cu", kernels);
}

ThreadSlice stamped(const Device& device, const Anchor& anchor, double first_ns,
                    std::span<const cuda::Event> events) {
    ThreadSlice thread;
    thread.cpu = sched_getcpu();
    thread.iterations.reserve(events.size() - 1);
    // From event to event: a time in ms is a float, and only short ones are exact to nanoseconds.
    double ns = first_ns;
    Ticks begin = placed(anchor.at, ns);
    for (std::size_t k = 1; k < events.size(); ++k) {
        ns += device.elapsed_ns(events[k - 1], events[k]);
        const Ticks end = placed(anchor.at, ns);
        thread.iterations.push_back({begin, end});
        begin = end;
    }
    return thread;
}

Region::Region(Device& device) : device_(device) {
    device.readings.reset();
    if (device.reader()) {
        readings_ = {device.reader()->make_reading(), device.reader()->make_reading()};
    }
}

void Region::before(const StopCheck& stop) {
    if (!readings_) return;
    device_.wait(stop);
    device_.reader()->read(readings_->before);
}

void Region::after() {
    if (!readings_) return;
    device_.reader()->read(readings_->after);
    device_.readings = std::move(readings_);
    readings_.reset();
}

Slice timed(Device& device, const TimedWork& work, const StopCheck& stop) {
    prepare_clocks(device);
    const cuda::Function hold = device.kernel("hold");
    const std::span<const cuda::Event> events =
        device.events(Device::anchor_events + work.iterations + 1)
            .subspan(Device::anchor_events, work.iterations + 1);
    const auto record = [&](std::size_t k) {
        device.check(device.calls().event_record(events[k], device.stream()), "cuEventRecord");
    };
    Region region(device);
    const Anchor anchor = device.anchor();
    if (work.lead_in) work.lead_in();
    region.before(stop);
    launch(device, hold, 1, 1, device.hold_ns);
    record(0);
    for (std::size_t k = 0; k < work.iterations; ++k) {
        work.iterate(k);
        if (k == 0) learn_to_hold(device, events[0]);
        record(k + 1);
    }
    device.wait(stop);
    region.after();
    device.clock_error_ns = anchor.error_ns;
    Slice slice;
    slice.threads.push_back(
        stamped(device, anchor, device.elapsed_ns(anchor.event, events[0]), events));
    return slice;
}

Ticks placed(Ticks anchor, double ns) noexcept {
    const Clock& clock = Clock::instance();
    return ns < 0.0 ? anchor - clock.from_duration_ns(-ns) : anchor + clock.from_duration_ns(ns);
}

TimerAnchor timer_anchor(Device& device) {
    prepare_clocks(device);
    constexpr int tries = 5;
    const Clock& clock = Clock::instance();
    const cuda::Function now = device.kernel("timer_now");
    const cuda::DevicePointer place = device.scratch();
    TimerAnchor best;
    for (int k = 0; k < tries; ++k) {
        const Ticks before = clock.now();
        launch(device, now, 1, 1, place);
        device.check(device.calls().stream_synchronize(device.stream()), "cuStreamSynchronize");
        const Ticks after = clock.now();
        const double error_ns =
            static_cast<double>(after - before) / 2.0 * clock.info().ns_per_tick;
        if (k > 0 && error_ns >= best.error_ns) continue;
        best = {0, before + (after - before) / 2, error_ns};
        device.check(device.calls().copy_to_host(&best.timer_ns, place, sizeof best.timer_ns),
                     "cuMemcpyDtoH");
    }
    device.clock_error_ns = best.error_ns;
    return best;
}

std::uint64_t timer_resolution_ns(Device& device) {
    prepare_clocks(device);
    const std::uint64_t changes = 16;
    const std::uint64_t tries = 1'000'000;  // tens of milliseconds
    const cuda::DevicePointer place = device.scratch();
    launch(device, device.kernel("timer_resolution"), 1, 1, place, changes, tries);
    device.wait({});
    std::uint64_t least = 0;
    device.check(device.calls().copy_to_host(&least, place, sizeof least), "cuMemcpyDtoH");
    if (least == 0) {
        throw SystemError(device.name() +
                          ": its %globaltimer stands still; latency cannot be timed inside a "
                          "kernel");
    }
    return least;
}

}  // namespace memgauge::gpu
