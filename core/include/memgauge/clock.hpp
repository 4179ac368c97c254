#pragma once
// One clock for everything that is timed: the processor's time-stamp counter where it is invariant
// and the kernel trusts it, else CLOCK_MONOTONIC_RAW. Calibrated once per process.

#include <cstdint>
#include <string_view>

namespace memgauge {

using Ticks = std::uint64_t;

enum class ClockSource : std::uint8_t { tsc, arm_generic_timer, power_timebase, monotonic_raw };
std::string_view to_string(ClockSource source) noexcept;

struct ClockInfo {
    ClockSource source;
    double ns_per_tick;
    double cost_ns;                // of one now(), median
    double resolution_ns;          // smallest non-zero difference of two now()
    double calibration_error_ppm;  // spread of repeated calibrations against the raw clock
    std::uint64_t epoch_raw_ns;    // CLOCK_MONOTONIC_RAW at to_ns() == 0
};

class Clock {
public:
    // Calibrates on first use (a few milliseconds). Thread-safe.
    static const Clock& instance();

    // Ordered after earlier loads and before later instructions of the calling thread.
    [[nodiscard]] Ticks now() const noexcept;
    // Nanoseconds since the process calibrated its clock, negative before; neither overflows nor
    // loses precision over days.
    [[nodiscard]] std::int64_t to_ns(Ticks ticks) const noexcept;
    // Rounded to the nearest tick; zero when `ns` is negative or not a number.
    [[nodiscard]] Ticks from_duration_ns(double ns) const noexcept;
    [[nodiscard]] const ClockInfo& info() const noexcept { return info_; }

private:
    Clock();
    void use(ClockSource source);
    void measure_reading();

    ClockInfo info_{};
    Ticks epoch_ticks_ = 0;
    std::uint64_t scale_ = 0;  // ns_per_tick as a fixed-point number, see clock.cpp
};

}  // namespace memgauge
