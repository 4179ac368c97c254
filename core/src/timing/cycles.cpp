#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#if defined(__powerpc64__)
#include <sys/auxv.h>

#include <string_view>
#endif

#include "memgauge/chase.hpp"
#include "memgauge/clock.hpp"

namespace memgauge {

namespace {

constexpr std::size_t adds_per_block = 64;  // the .rept below

// 64 additions, each of which needs the last one's result. Both operands are registers: recent
// Intel cores add small immediates while renaming, in no time at all.
inline void add_block([[maybe_unused]] std::uint64_t& sum,
                      [[maybe_unused]] std::uint64_t step) noexcept {
#if defined(__x86_64__)
    asm volatile(".rept 64\n\taddq %1, %0\n\t.endr" : "+r"(sum) : "r"(step) : "cc");
#elif defined(__aarch64__)
    asm volatile(".rept 64\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(step));
#elif defined(__powerpc64__)
    asm volatile(".rept 64\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(step));
#endif
}

// Cycles until the result of an addition can be added to; zero: not known.
unsigned add_latency_cycles() {
#if defined(__x86_64__) || defined(__aarch64__)
    return 1;
#elif defined(__powerpc64__)
    // GCC's scheduling models of these processors, rs6000/power8.md, power9.md and power10.md.
    const auto* const platform = reinterpret_cast<const char*>(getauxval(AT_PLATFORM));
    const std::string_view name = platform != nullptr ? platform : "";
    if (name.starts_with("power8")) {
        return 1;
    }
    return name == "power9" || name == "power10" || name == "power11" ? 2 : 0;
#else
    return 0;
#endif
}

// Several runs of some ten microseconds each: an interrupt falls into few of them.
class AddChain final : public Job {
public:
    static constexpr std::size_t runs = 9;
    static constexpr std::size_t blocks = 512;
    static constexpr std::size_t adds = blocks * adds_per_block;

    void prepare() override { chain(blocks); }

    void run(ThreadSlice& slice) noexcept override {
        const Clock& clock = Clock::instance();
        for (std::size_t run = 0; run < runs; ++run) {
            const Ticks begin = clock.now();
            chain(blocks);
            slice.iterations.push_back({begin, clock.now()});
        }
    }

    [[nodiscard]] std::size_t iterations() const noexcept override { return runs; }

private:
    static void chain(std::size_t count) noexcept {
        std::uint64_t sum = 0;
        for (std::size_t block = 0; block < count; ++block) {
            add_block(sum, block);
        }
    }
};

double median_ns(const std::vector<Stamp>& stamps) {
    const ClockInfo& info = Clock::instance().info();
    std::vector<double> times;
    for (const Stamp& stamp : stamps) {
        // Between two readings lies, besides the work, the cost of one.
        times.push_back(static_cast<double>(stamp.end - stamp.begin) * info.ns_per_tick -
                        info.cost_ns);
    }
    std::ranges::sort(times);
    return times[times.size() / 2];
}

}  // namespace

double core_cycles_per_ns(Team& team, std::size_t rank) {
    if (rank >= team.size()) {
        throw RequestError("cannot measure the clock of thread " + std::to_string(rank) +
                           ": the team has " + std::to_string(team.size()) +
                           "; choose a smaller rank");
    }
    const unsigned cycles_per_add = add_latency_cycles();
    if (cycles_per_add == 0) {
        throw RequestError(
            "cannot count core cycles: how many an addition takes is not known for this processor; "
            "read latencies in ns");
    }
    AddChain chain;
    std::vector<Job*> jobs(team.size(), nullptr);
    jobs[rank] = &chain;
    const Slice slice = team.run(jobs);
    const double elapsed_ns = median_ns(slice.threads[rank].iterations);
    if (!(elapsed_ns > 0.0)) {
        throw Error("cannot count core cycles: the clock did not move; see its resolution");
    }
    return static_cast<double>(AddChain::adds * cycles_per_add) / elapsed_ns;
}

}  // namespace memgauge
