#pragma once
// Loops of an engine of one core: when they have become steady, whole periods are skipped.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "cache/loops/warp.hpp"
#include "cache/simulation.hpp"
#include "cache/simulation_repeats.hpp"

namespace memgauge::cache {

// The innermost loop, over references that are where it is. With a steadiness, all stores that are
// to bypass do.
template <class Caches>
class Simulation<Caches>::InnerLoop {
public:
    InnerLoop(Simulation& simulation, unsigned core, std::span<StridedAccess> references,
              const Steadiness* steadiness)
        : simulation_(simulation), core_(core), references_(references), steadiness_(steadiness) {}

    [[nodiscard]] std::optional<Period> period() const {
        if (references_.empty()) return std::nullopt;
        const std::int64_t stride = references_.front().stride;
        const bool alike = std::ranges::all_of(
            references_, [&](const StridedAccess& one) { return one.stride == stride; });
        return alike ? simulation_.period_of(stride) : std::nullopt;
    }

    [[nodiscard]] double lines_per_step() const {
        double lines = 0;
        for (const StridedAccess& one : references_) lines += simulation_.lines_per_step(one);
        return lines;
    }

    // Lines that it accesses first.
    [[nodiscard]] std::vector<std::uint64_t> begins() const {
        std::vector<std::uint64_t> lines;
        for (const StridedAccess& one : references_) {
            lines.push_back(one.first.address >> simulation_.grain_.line_bits);
        }
        return lines;
    }

    // Until each store that is to bypass is made of lines that do.
    [[nodiscard]] std::uint64_t steps_to_bypass() const {
        std::uint64_t steps = 0;
        for (std::size_t r = 0; steadiness_ != nullptr && r < references_.size(); ++r) {
            const std::uint64_t from = simulation_.bypass_from(core_, steadiness_->stream(r));
            const std::uint64_t at = references_[r].first.address;
            if (from == ~0ull || from <= at) continue;
            // A stream goes on to higher addresses.
            const auto stride = static_cast<std::uint64_t>(references_[r].stride);
            steps = std::max(steps, (from - at + stride - 1) / stride);
        }
        return steps;
    }

    void run(std::uint64_t steps) {
        if (steps == 0) return;
        if (collapse(simulation_.machine_, references_)) {
            return simulation_.in_lockstep(core_, references_, steps, steadiness_);
        }
        for (std::uint64_t step = 0; step < steps; ++step) simulation_.step(core_, references_);
    }

    // What store streams keep of sectors. Whether they were moved by so many lines since.
    void remember() {
        each_stream([](StoreStream& stream, std::uint64_t& was) { was = stream.bypassed_sector; });
    }
    [[nodiscard]] bool went_on(std::int64_t lines) {
        bool all = true;
        each_stream([&](const StoreStream& stream, std::uint64_t was) {
            all &= stream.bypassed_sector == (was == no_sector ? was : was + sectors_in(lines));
        });
        return all;
    }

    void skip(const Period& period, std::uint64_t periods) {
        const std::uint64_t steps = periods * period.steps;
        const std::int64_t lines = static_cast<std::int64_t>(periods) * period.lines;
        for (StridedAccess& one : references_) {
            simulation_.reach(one, period.steps, simulation_.to_last(period, periods));
            one.first.address += steps * static_cast<std::uint64_t>(one.stride);
        }
        std::array<StoreStream*, most_streams> moved{};
        each_stream([&](StoreStream& stream, std::uint64_t was) {
            // Two references may continue one stream by turns.
            if (was == no_sector || std::ranges::find(moved, &stream) != moved.end()) return;
            *std::ranges::find(moved, nullptr) = &stream;
            stream.bypassed_sector += sectors_in(lines);
        });
    }

private:
    static constexpr std::uint64_t no_sector = StoreStream{}.bypassed_sector;

    [[nodiscard]] std::uint64_t sectors_in(std::int64_t lines) const {
        const CacheMachine& machine = simulation_.machine_;
        return static_cast<std::uint64_t>(lines) * (machine.line_bytes / machine.sector_bytes);
    }

    // visit(stream, what was remembered of it)
    template <class Visit>
    void each_stream(const Visit& visit) {
        if (steadiness_ == nullptr) return;
        for (std::size_t r = 0; r < references_.size(); ++r) {
            if (StoreStream* const stream = steadiness_->stream(r)) visit(*stream, bypassed_[r]);
        }
    }

    Simulation& simulation_;
    unsigned core_;
    std::span<StridedAccess> references_;
    const Steadiness* steadiness_;
    std::array<std::uint64_t, most_streams> bypassed_{};
};

// The outer one of walk(), from a step on.
template <class Caches>
class Simulation<Caches>::OuterLoop {
public:
    OuterLoop(Simulation& simulation, unsigned core, const Nest& nest)
        : simulation_(simulation), nest_(nest), passes_(simulation, core, nest) {}

    [[nodiscard]] std::optional<Period> period() const {
        const auto& strides = nest_.outer_strides;
        if (strides.empty() || nest_.count == 0) return std::nullopt;
        const auto is_alike = [&](std::int64_t stride) { return stride == strides.front(); };
        const bool alike = std::ranges::all_of(strides, is_alike) &&
                           std::ranges::all_of(nest_.after, is_alike,
                                               [](const StridedAccess& one) { return one.stride; });
        return alike ? simulation_.period_of(strides.front()) : std::nullopt;
    }

    [[nodiscard]] double lines_per_step() const {
        auto lines = static_cast<double>(nest_.after.size());
        for (const StridedAccess& one : passes_.references()) {
            const auto count = static_cast<double>(nest_.count);
            lines += std::max(1.0, count * simulation_.lines_per_step(one));
        }
        return lines;
    }

    [[nodiscard]] std::vector<std::uint64_t> begins() const {
        constexpr std::uint64_t some = 4;
        std::vector<std::uint64_t> lines;
        for (std::uint64_t i = 0; i < some; ++i) {
            for (const StridedAccess& one : passes_.references()) {
                const std::uint64_t step = nest_.count / some * i;
                const std::uint64_t moved = step * static_cast<std::uint64_t>(one.stride);
                lines.push_back((one.first.address + moved) >> simulation_.grain_.line_bits);
            }
        }
        return lines;
    }

    void run(std::uint64_t steps) { passes_.run(steps); }

    void remember() {}
    [[nodiscard]] bool went_on(std::int64_t /*lines*/) const { return true; }

    void skip(const Period& period, std::uint64_t periods) {
        const std::int64_t to_last = simulation_.to_last(period, periods);
        for (const StridedAccess& one : passes_.after()) {
            simulation_.reach(one, period.steps, to_last);
        }
        for (std::size_t r = 0; r < passes_.references().size(); ++r) {
            StridedAccess one = passes_.references()[r];
            for (std::uint64_t step = 0; step < period.steps; ++step) {
                simulation_.reach(one, nest_.count, to_last);
                one.first.address += static_cast<std::uint64_t>(nest_.outer_strides[r]);
            }
        }
        passes_.move(periods * period.steps);
    }

private:
    Simulation& simulation_;
    const Nest& nest_;
    Passes passes_;
};

template <class Caches>
double Simulation<Caches>::lines_per_step(const StridedAccess& one) const {
    const double bytes = std::abs(static_cast<double>(one.stride));
    return std::min(1.0, bytes / static_cast<double>(machine_.line_bytes));
}

template <class Caches>
void Simulation<Caches>::reach(const StridedAccess& one, std::uint64_t steps, std::int64_t bytes) {
    std::uint64_t last_area = ~0ull;
    for (std::uint64_t step = 0; step < steps; ++step) {
        const std::uint64_t moved = step * static_cast<std::uint64_t>(one.stride);
        grain_.pieces(one.first.address + moved, one.first.bytes, [&](std::uint64_t from) {
            const std::uint64_t to = from + static_cast<std::uint64_t>(bytes);
            const std::uint64_t area =
                from >> LineNumbers::area_bits << 32 ^ to >> LineNumbers::area_bits;
            if (area == last_area) return;
            last_area = area;
            caches_.numbers().reach(std::min(from, to), std::max(from, to));
        });
    }
}

template <class Caches>
template <class Visit>
void Simulation<Caches>::each_count(const Visit& visit) {
    for (std::uint64_t& count : pieces_) visit(count);
    for (auto& level : caches_.levels()) {
        LevelCounts& counts = level.counts();
        for (std::uint64_t* const count : {&counts.hits, &counts.misses, &counts.write_backs}) {
            visit(*count);
        }
    }
    MemoryCounts& memory = caches_.memory();
    for (std::uint64_t& count : memory.reads) visit(count);
    for (std::uint64_t& count : memory.stream_reads) visit(count);
    visit(memory.write_backs);
    visit(memory.bypasses);
}

template <class Caches>
std::vector<std::uint64_t> Simulation<Caches>::counted() {
    std::vector<std::uint64_t> counts;
    each_count([&](std::uint64_t count) { counts.push_back(count); });
    return counts;
}

template <class Caches>
void Simulation<Caches>::count_again(const std::vector<std::uint64_t>& before,
                                     std::uint64_t times) {
    auto was = before.begin();
    each_count([&](std::uint64_t& count) { count += times * (count - *was++); });
}

template <class Caches>
template <class Walked>
std::optional<Period> Simulation<Caches>::worth_skipping(const Walked& loop,
                                                         std::uint64_t steps) const {
    const double lines = static_cast<double>(steps) * loop.lines_per_step();
    return lines >= Looks::least_left(ways_) ? loop.period() : std::nullopt;
}

template <class Caches>
template <class Walked>
void Simulation<Caches>::warp(Walked& loop, std::uint64_t left, const Period& period,
                              Snapshots& snapshots) {
    const double lines = loop.lines_per_step();
    snapshots.all.choose_all(caches_, grain_.part);
    snapshots.some.choose_some(caches_, grain_.part, before(loop.begins(), period));
    Looks looks(ways_, snapshots.some.ways());
    const auto run = [&](std::uint64_t steps) {
        loop.run(steps);
        left -= steps;
        looks.went(static_cast<double>(steps) * lines);
    };
    for (;;) {
        run(std::min(left, static_cast<std::uint64_t>(std::ceil(looks.lines_to_next() / lines))));
        if (left < least_periods * period.steps ||
            static_cast<double>(left) * lines < Looks::least_left(ways_)) {
            return loop.run(left);
        }
        snapshots.some.take(caches_);
        run(period.steps);
        if (!snapshots.some.is_now(caches_, ByLines{period.lines})) {
            looks.looked_at_some();
            continue;
        }
        snapshots.all.take(caches_);
        loop.remember();
        const std::vector<std::uint64_t> counts = counted();
        run(period.steps);
        if (loop.went_on(period.lines) && snapshots.all.is_now(caches_, ByLines{period.lines})) {
            skip(loop, period, left / period.steps, counts, snapshots.all);
            return loop.run(left % period.steps);
        }
        looks.looked_at_all();
    }
}

// Periods that each do what was done since the snapshot was taken, when that was counted.
template <class Caches>
template <class Walked>
void Simulation<Caches>::skip(Walked& loop, const Period& period, std::uint64_t periods,
                              const std::vector<std::uint64_t>& counts, const Snapshot& snapshot) {
    loop.skip(period, periods);
    snapshot.put(caches_, ByLines{static_cast<std::int64_t>(periods + 1) * period.lines});
    count_again(counts, periods);
    skipped_ += periods * period.steps;
}

// Sets where what a loop found differs longest from what it leaves: those of its first lines, and
// of what lay a period before them.
template <class Caches>
std::vector<std::uint64_t> Simulation<Caches>::before(std::span<const std::uint64_t> lines,
                                                      const Period& period) {
    constexpr std::int64_t some = 4;
    const std::int64_t direction = period.lines < 0 ? -1 : 1;
    std::vector<std::uint64_t> all;
    for (const std::uint64_t line : lines) {
        for (std::int64_t k = 0; k < std::min(some, direction * period.lines); ++k) {
            all.push_back(line + static_cast<std::uint64_t>(k * direction - period.lines));
        }
    }
    return all;
}

}  // namespace memgauge::cache
