#pragma once
// Counters of the kernel's perf subsystem by perf_event_open(2), without a library. What an event
// means, its scale and whom it counts is the caller's to know: here are numbers only.

#include <cstdint>
#include <memory>
#include <span>

#include "memgauge/counters/source.hpp"

namespace memgauge {

// One event as struct perf_event_attr has it. Uncore PMUs refuse any of the exclude bits.
struct PerfEvent {
    std::uint32_t type = 0;
    std::uint64_t config = 0;
    std::uint64_t config1 = 0;
    std::uint64_t config2 = 0;
    std::uint64_t config3 = 0;  // other than 0: kernels before 6.3 refuse it with E2BIG
    bool exclude_user = false;
    bool exclude_kernel = false;
    bool exclude_hv = false;
    bool exclude_guest = false;
};

// Whom to count. pid -1: everything on `cpu`; else that process or thread, 0 the calling thread.
// cpu -1: wherever it runs. Uncore PMUs want pid -1 and a CPU of their cpumask.
struct PerfTarget {
    int pid = -1;
    int cpu = -1;
    bool inherit = false;  // count what the target starts from now on too
};

// Both count from their opening on and keep their descriptors, closed on exec, until destroyed.
// Slots: ns for which the counter was enabled, ns for which it really counted, then the value of
// each event. Where the two differ the values are estimates by the caller's scaling. Values are
// missing when nothing was counted although it was to be (enabled, never running); all slots are
// missing when the kernel gives no reading: PMU gone, counter in its error state. A counter whose
// CPU went offline stands still, its enabled ns with it.
//
// One read(2), which ends by itself: 0.6 us where the event lives on the reading CPU, else an
// interprocessor interrupt more.
//
// CounterRefused: the kernel did not open an event; it carries the errno and which event.
// RequestError: no event.

// One group: all events count at the same times or not at all. `inherit` in a group is refused with
// EINVAL by kernels before 4.13; some PMUs refuse any group, or one larger than their counters.
std::unique_ptr<CounterSource> open_perf_group(std::span<const PerfEvent> events,
                                               const PerfTarget& target);
// One event alone, with a descriptor and times of its own: three slots.
std::unique_ptr<CounterSource> open_perf_single(const PerfEvent& event, const PerfTarget& target);

// 0 where the event can be opened now, else the errno. Opens and closes it.
int perf_refusal(const PerfEvent& event, const PerfTarget& target) noexcept;

}  // namespace memgauge
