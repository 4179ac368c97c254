#pragma once
// What the device times itself, put on the run's clock.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "gpu/device.hpp"

namespace memgauge::gpu {

struct TimedWork {
    std::size_t iterations = 1;
    std::function<void()> lead_in;             // queues what comes untimed before; may be empty
    std::function<void(std::size_t)> iterate;  // queues iteration k; allocates nothing
};

// The counters of one run, where the device has a reader: read when the device is idle.
class Region {
public:
    explicit Region(Device& device);
    void before(const StopCheck& stop);
    void after();  // the device is idle

private:
    Device& device_;
    std::optional<RegionReadings> readings_;
};

// Runs it on the device's stream: one ThreadSlice with a stamp for each iteration, from an event to
// the next. A kernel holds the stream while the first ones are queued, so that they follow each
// other without waiting for the host. An event takes under 1 us on top of each iteration, and its
// resolution is about half of one (CUDA Driver API, cuEventElapsedTime).
Slice timed(Device& device, const TimedWork& work, const StopCheck& stop);

// Compiles what measures time on the device, once; "hold" is among it.
void prepare_clocks(Device& device);

// Stamps from each event to the next, by the time from the anchor's event to the first; on the CPU
// that calls.
ThreadSlice stamped(const Device& device, const Anchor& anchor, double first_ns,
                    std::span<const cuda::Event> events);

// Ticks of the run's clock, `ns` after (or before) an anchor's.
Ticks placed(Ticks anchor, double ns) noexcept;

// The device's %globaltimer: where it stood at a moment of the run's clock.
struct TimerAnchor {
    std::uint64_t timer_ns = 0;
    Ticks at = 0;
    double error_ns = 0.0;
};
TimerAnchor timer_anchor(Device& device);
// By how much it goes on at least: 32 ns on recent GPUs, 1 us on others. SystemError: it stands.
std::uint64_t timer_resolution_ns(Device& device);

}  // namespace memgauge::gpu
