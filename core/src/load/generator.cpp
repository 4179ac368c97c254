#include "load/generator.hpp"

#include <algorithm>
#include <bit>

#include "scramble.hpp"

namespace memgauge::load {

Generator::Generator(const Regions& regions) noexcept : line_bytes_(regions.layout.line_bytes) {
    const Layout& layout = regions.layout;
    task_.reads = regions.reads;
    task_.writes = regions.writes;
    task_.ramp_begin = kernels::ramp_at(ElementType::f64, regions.first_element);
    task_.distance = layout.region_elements() / 2;
    task_.span = layout.span_lines();
    task_.random_mask = layout.random_lines() - 1;
    task_.random_shift = scramble_shift(static_cast<unsigned>(std::bit_width(task_.random_mask)));
}

void Generator::follow(const TrafficSpec& spec, const Mix& mix) noexcept {
    cursors_[order_] = {task_.read_at, task_.write_at};
    order_ = static_cast<std::size_t>(spec.order);
    task_.read_at = cursors_[order_].read_at;
    task_.write_at = cursors_[order_].write_at;
    if (mix.whole != task_.whole || mix.fraction != task_.fraction) task_.remainder = 0;
    task_.fraction = mix.fraction;
    task_.whole = mix.whole;
    task_.delay = spec.delay;
    mix_ = mix;
}

// A look costs as much as a few units of a pause. So there are 16 pieces from one to the next, or
// as many as take a few microseconds where pauses are long, so that the counts are fresh.
std::size_t Generator::pieces_per_look() const noexcept {
    constexpr std::size_t units = 4096;
    return std::clamp<std::size_t>(units / (std::size_t{task_.delay} + 1), 1, 16);
}

}  // namespace memgauge::load
