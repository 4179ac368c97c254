#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "kernels/pause_chain.hpp"
#include "memgauge/clock.hpp"
#include "memgauge/traffic.hpp"

namespace memgauge {

namespace {

class Pauses final : public Job {
public:
    static constexpr std::size_t count = 9;

    explicit Pauses(std::uint32_t units) noexcept : units_(units) {}

    void prepare() override { pause(units_); }

    void run(ThreadSlice& slice) noexcept override {
        const Clock& clock = Clock::instance();
        for (std::size_t index = 0; index < count; ++index) {
            const Ticks begin = clock.now();
            pause(units_);
            slice.iterations.push_back({begin, clock.now()});
        }
    }

    [[nodiscard]] std::size_t iterations() const noexcept override { return count; }

private:
    std::uint32_t units_;
};

}  // namespace

void pause(std::uint32_t units) noexcept {
    const std::uint64_t chain = kernels::pause_chain(1, units);
    asm volatile("" ::"r"(chain));
}

double pause_ns(Team& team, std::uint32_t units, std::size_t rank) {
    if (rank >= team.size()) {
        throw RequestError("cannot time a pause on thread " + std::to_string(rank) +
                           ": the team has " + std::to_string(team.size()) +
                           "; choose a smaller rank");
    }
    Pauses pauses(units);
    std::vector<Job*> jobs(team.size(), nullptr);
    jobs[rank] = &pauses;
    const Slice slice = team.run(jobs);
    std::vector<Ticks> times;
    for (const Stamp& stamp : slice.threads[rank].iterations) {
        times.push_back(stamp.end - stamp.begin);
    }
    std::ranges::sort(times);
    const ClockInfo& info = Clock::instance().info();
    const double median_ns = static_cast<double>(times[times.size() / 2]) * info.ns_per_tick;
    // No pause at all may read as a little less than the clock's usual cost.
    return std::max(0.0, median_ns - info.cost_ns);
}

}  // namespace memgauge
