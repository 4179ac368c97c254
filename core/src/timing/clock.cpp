#include "memgauge/clock.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "timing/counter.hpp"

namespace memgauge {

namespace {

__extension__ using Wide = __int128;

// Fractional bits of the fixed-point ns_per_tick: all 53 bits of a double are kept for counters of
// up to 8 GHz, and the product with 63 bits of ticks fits into 128.
constexpr unsigned scale_bits = 56;
constexpr double largest_ns_per_tick = 100.0;

// Above this two calibrations a millisecond apart contradict each other: the counter is emulated,
// throttled or not what the kernel keeps time by.
constexpr double largest_error_ppm = 1000.0;

// The same instant on both clocks.
struct Anchor {
    Ticks ticks;
    std::uint64_t raw_ns;
};

// The tightest of several brackets, so that an interrupt between the reads does no harm.
Anchor take_anchor() {
    Anchor best{};
    Ticks narrowest = std::numeric_limits<Ticks>::max();
    for (int attempt = 0; attempt < 32; ++attempt) {
        const Ticks before = timing::read_counter();
        const std::uint64_t raw = timing::raw_ns();
        const Ticks width = timing::read_counter() - before;
        if (width < narrowest) {
            narrowest = width;
            best = {before + width / 2, raw};
        }
    }
    return best;
}

struct Calibration {
    double ns_per_tick;
    double error_ppm;
    Anchor epoch;
};

double slope(const Anchor& from, const Anchor& to) {
    return static_cast<double>(to.raw_ns - from.raw_ns) /
           static_cast<double>(to.ticks - from.ticks);
}

// Five calibrations of a millisecond each. The rate is that of the whole span; how far the parts
// differ from each other bounds its error from above.
Calibration calibrate() {
    constexpr std::size_t parts = 5;
    constexpr std::uint64_t part_ns = 1'000'000;
    std::array<Anchor, parts + 1> anchors{};
    anchors[0] = take_anchor();
    double lowest = std::numeric_limits<double>::infinity();
    double highest = 0.0;
    for (std::size_t part = 1; part <= parts; ++part) {
        while (timing::raw_ns() < anchors[part - 1].raw_ns + part_ns) {
        }
        anchors[part] = take_anchor();
        const double rate = slope(anchors[part - 1], anchors[part]);
        lowest = std::min(lowest, rate);
        highest = std::max(highest, rate);
    }
    const double whole = slope(anchors.front(), anchors.back());
    return {whole, (highest - lowest) / whole * 1e6, anchors.back()};
}

bool consistent(const Calibration& calibration) {
    return std::isfinite(calibration.ns_per_tick) && calibration.ns_per_tick > 0.0 &&
           calibration.ns_per_tick < largest_ns_per_tick &&
           calibration.error_ppm < largest_error_ppm;
}

// Median over batches of the cost of one call.
template <class Read>
double cost_ticks(Read read) {
    constexpr std::size_t calls = 16;
    std::array<Ticks, 101> batches{};
    for (Ticks& batch : batches) {
        const Ticks begin = read();
        for (std::size_t call = 1; call < calls; ++call) {
            read();
        }
        batch = read() - begin;
    }
    std::nth_element(batches.begin(), batches.begin() + batches.size() / 2, batches.end());
    return static_cast<double>(batches[batches.size() / 2]) / calls;
}

// Smallest step seen; zero when the clock did not move at all.
template <class Read>
Ticks smallest_step(Read read) {
    Ticks smallest = std::numeric_limits<Ticks>::max();
    Ticks last = read();
    const std::uint64_t deadline = timing::raw_ns() + 500'000;
    for (int sample = 0; sample < 2000 && timing::raw_ns() < deadline; ++sample) {
        const Ticks before = read();
        const Ticks after = read();
        for (const Ticks step : {before - last, after - before}) {
            smallest = step != 0 ? std::min(smallest, step) : smallest;
        }
        last = after;
    }
    return smallest == std::numeric_limits<Ticks>::max() ? 0 : smallest;
}

// Whether asking the kernel would show finer steps than the counter. Arm's runs at 25 to 100 MHz on
// many servers, where the raw clock is the same counter read at more cost; emulators may show the
// counter in steps of a microsecond.
bool fine_enough(double ns_per_tick) {
    const double step_ns = static_cast<double>(smallest_step(timing::read_counter)) * ns_per_tick;
    const auto raw_step_ns = static_cast<double>(smallest_step(timing::raw_ns));
    return step_ns > 0.0 &&
           step_ns <= std::max(raw_step_ns + ns_per_tick, cost_ticks(timing::raw_ns));
}

// The most consistent of up to three: a busy machine may spoil one, a quiet one is good to a few
// ppm at once.
std::optional<Calibration> trusted_calibration() {
    constexpr double good_error_ppm = 20.0;
    Calibration best = calibrate();
    for (int attempt = 1; attempt < 3 && !(best.error_ppm < good_error_ppm); ++attempt) {
        const Calibration again = calibrate();
        best = consistent(best) && best.error_ppm < again.error_ppm ? best : again;
    }
    return consistent(best) && fine_enough(best.ns_per_tick) ? std::optional(best) : std::nullopt;
}

}  // namespace

std::string_view to_string(ClockSource source) noexcept {
    switch (source) {
        case ClockSource::tsc:
            return "tsc";
        case ClockSource::arm_generic_timer:
            return "arm-generic-timer";
        case ClockSource::power_timebase:
            return "power-timebase";
        case ClockSource::monotonic_raw:
            break;
    }
    return "monotonic-raw";
}

const Clock& Clock::instance() {
    static const Clock clock;
    return clock;
}

Clock::Clock() {
    use(timing::trusted_counter());
    measure_reading();
}

void Clock::use(ClockSource source) {
    const auto calibration =
        source == ClockSource::monotonic_raw ? std::nullopt : trusted_calibration();
    if (calibration) {
        epoch_ticks_ = calibration->epoch.ticks;
        info_ = {source, calibration->ns_per_tick, 0.0,
                 0.0,    calibration->error_ppm,   calibration->epoch.raw_ns};
        scale_ = static_cast<std::uint64_t>(std::ldexp(calibration->ns_per_tick, scale_bits));
        return;
    }
    epoch_ticks_ = timing::raw_ns();
    info_ = {ClockSource::monotonic_raw, 1.0, 0.0, 0.0, 0.0, epoch_ticks_};
    scale_ = std::uint64_t{1} << scale_bits;
}

void Clock::measure_reading() {
    const auto read = [this] { return now(); };
    info_.cost_ns = cost_ticks(read) * info_.ns_per_tick;
    info_.resolution_ns = static_cast<double>(smallest_step(read)) * info_.ns_per_tick;
}

Ticks Clock::now() const noexcept {
    return info_.source == ClockSource::monotonic_raw ? timing::raw_ns() : timing::read_counter();
}

std::int64_t Clock::to_ns(Ticks ticks) const noexcept {
    const auto since_epoch = static_cast<std::int64_t>(ticks - epoch_ticks_);
    return static_cast<std::int64_t>((static_cast<Wide>(since_epoch) * scale_) >> scale_bits);
}

Ticks Clock::from_duration_ns(double ns) const noexcept {
    const double ticks = ns / info_.ns_per_tick;
    if (!(ticks > 0.0)) {
        return 0;
    }
    constexpr double limit = 0x1p63;
    return ticks < limit ? static_cast<Ticks>(std::llround(ticks))
                         : std::numeric_limits<Ticks>::max();
}

}  // namespace memgauge
