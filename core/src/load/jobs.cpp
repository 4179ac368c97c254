#include "load/jobs.hpp"

#include <sched.h>

namespace memgauge::load {

void FixedWork::prepare() {
    generator_.advance(lead_in_pieces_);
    generator_.close();
}

void FixedWork::run(ThreadSlice& slice) noexcept {
    const Clock& clock = Clock::instance();
    const Counts before = generator_.issued();
    const Ticks begin = clock.now();
    generator_.advance(pieces_);
    generator_.close();
    slice.iterations.push_back({begin, clock.now()});
    const std::uint64_t line = generator_.line_bytes();
    slice.read_bytes = (generator_.issued().reads - before.reads) * line;
    slice.write_bytes = (generator_.issued().writes - before.writes) * line;
}

void Background::prepare() {
    generator_.advance(lead_in_pieces_);
}

void Background::run(ThreadSlice&) noexcept {
    const std::size_t pieces = generator_.pieces_per_look();
    while (!stop_.set.load(std::memory_order_relaxed)) {
        generator_.advance(pieces);
        generator_.publish();
    }
    generator_.close();
}

Probe::Probe(void**& position, const Generators& generators, StopFlag& stop,
             const ProbeRequest& request)
    : walk_(position, request), generators_(generators), stop_(stop) {
    for (const auto& generator : generators) {
        const Counts counts = generator->published().look();
        issued_before_.push_back(counts.reads + counts.writes);
    }
    begin_.issued.resize(generators.size());
    end_.issued.resize(generators.size());
}

void Probe::run(ThreadSlice& slice) noexcept {
    const Clock& clock = Clock::instance();
    wait_for_traffic();
    walk_.warm();
    look(begin_);
    begin_.at = clock.now();
    walk_.walk(slice);
    walk_.time_loads();
    look(end_);
    end_.at = clock.now();
    stop_.set.store(true, std::memory_order_relaxed);
}

// All start at one deadline, but one may have lost its CPU just then.
void Probe::wait_for_traffic() const noexcept {
    constexpr unsigned turns_before_yield = 4096;
    for (std::size_t i = 0; i < generators_.size(); ++i) {
        for (unsigned turns = 0;; ++turns) {
            const Counts counts = generators_[i]->published().look();
            if (counts.reads + counts.writes != issued_before_[i]) break;
            relax();
            if (turns > turns_before_yield) sched_yield();
        }
    }
}

void Probe::look(Sight& sight) const noexcept {
    for (std::size_t i = 0; i < generators_.size(); ++i) {
        sight.issued[i] = generators_[i]->published().look();
    }
}

}  // namespace memgauge::load
