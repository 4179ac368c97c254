#include "kernels/arrays/stream_job.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "kernels/arrays/fill.hpp"
#include "kernels/flushed.hpp"
#include "kernels/translated.hpp"
#include "memgauge/counters/modelled.hpp"
#include "memory/areas/pmemobj_library.hpp"

namespace memgauge::kernels {

void fill_block(const ArrayViews& views, const Range& range) noexcept {
    const BlockState fresh;
    for (std::size_t array = 0; array < fresh.arrays.size(); ++array) {
        fill_ramp(views.element, views.at(array, range.first), range, fresh.arrays[array].factor);
    }
}

namespace {

// One call of the kernel: nothing wraps within it.
void call_on(const KernelSpec& spec, KernelFunction kernel, const ArrayViews& views,
             const Range& part, double scalar) noexcept {
    KernelOperands operands{views.at(0, part.first),
                            views.at(1, part.first),
                            views.at(2, part.first),
                            part.count,
                            scalar,
                            ramp_at(views.element, part.first),
                            ramp_step_of(views.element),
                            spec.prefetch_near_bytes,
                            spec.prefetch_far_bytes};
    TranslatedOperands translated{};
    if (spec.access != Access::direct) {
        translated = {views.objects_at(part.first), pmemobj::translation()};
        operands.translated = &translated;
    }
    const double result = kernel(operands);
    // The result is used, as far as the compiler knows, and memory was seen.
    asm volatile("" ::"m"(result) : "memory");
}

void call_unflushed(const KernelSpec& spec, KernelFunction kernel, const ArrayViews& views,
                    const Range& range, double scalar) noexcept {
    for (Range rest = range; rest.count > 0;) {
        const Range part =
            spec.operation == Operation::write ? before_wrap(views.element, rest) : rest;
        call_on(spec, kernel, views, part, scalar);
        rest = {rest.first + part.count, rest.count - part.count};
    }
}

}  // namespace

void call_kernel(const KernelSpec& spec, KernelFunction kernel, const ArrayViews& views,
                 const Range& range, double scalar) noexcept {
    const std::optional<std::size_t> written = written_array(spec.operation);
    if (spec.store != StoreKind::flushed || !written) {
        call_unflushed(spec, kernel, views, range, scalar);
        return;
    }
    for (Range rest = range; rest.count > 0;) {
        std::byte* const to = views.at(*written, rest.first);
        const std::size_t count =
            std::min(rest.count, before_flush_bytes(to) / element_bytes(views.element));
        call_unflushed(spec, kernel, views, {rest.first, count}, scalar);
        write_back(to, count * element_bytes(views.element));
        rest = {rest.first + count, rest.count - count};
    }
    finish_write_backs();
}

StreamJob::StreamJob(const StreamPlan& plan, const ArrayLayout& layout, const ArrayViews& views,
                     std::size_t rank) noexcept
    : plan_(plan),
      layout_(layout),
      views_(views),
      rank_(rank),
      timed_(layout.ranges(rank, plan.slice.first_block, plan.slice.blocks)) {
    if (plan.slice.prefix_elements > 0) {
        timed_ = {{rank * layout.part_elements(), plan.slice.prefix_elements}, {0, 0}};
    }
}

void StreamJob::walk(const ArrayLayout::Ranges& ranges, double scalar) const noexcept {
    call_kernel(plan_.spec, plan_.kernel, views_, ranges.front, scalar);
    call_kernel(plan_.spec, plan_.kernel, views_, ranges.back, scalar);
}

void StreamJob::prepare() {
    ready_access(plan_.spec);
    for (const std::size_t block : plan_.refills) fill_block(views_, layout_.block(rank_, block));
    if (plan_.slice.prefix_elements > 0) {
        walk(timed_, plan_.scalar);
        return;
    }
    const std::size_t lead_in = plan_.slice.lead_in_blocks;
    const std::size_t first = plan_.slice.first_block + layout_.blocks - lead_in;
    const ArrayLayout::Ranges before = layout_.ranges(rank_, first, lead_in);
    walk(before, plan_.scalar);
    book(before, 1);
}

// Of a prefix nothing is booked: it is walked to stay in a cache.
void StreamJob::book(const ArrayLayout::Ranges& walked, std::size_t times) const noexcept {
    if (plan_.slice.prefix_elements > 0) return;
    const std::uint64_t elements = times * (walked.front.count + walked.back.count);
    const ElementTraffic moved = traffic(plan_.spec);
    KnownTraffic::instance().add(elements * (moved.counted_read + moved.write_allocate),
                                 elements * moved.counted_write);
}

void StreamJob::run(ThreadSlice& slice) noexcept {
    const Clock& clock = Clock::instance();
    double scalar = plan_.scalar;
    for (std::size_t iteration = 0; iteration < plan_.slice.iterations; ++iteration) {
        const Ticks begin = clock.now();
        for (std::size_t repeat = 0; repeat < plan_.slice.repeats; ++repeat) walk(timed_, scalar);
        const Ticks end = clock.now();
        slice.iterations.push_back({begin, end});
        if (plan_.sign_flips) scalar = -scalar;
    }
    book(timed_, plan_.slice.iterations * plan_.slice.repeats);
}

}  // namespace memgauge::kernels
