#include <algorithm>
#include <cmath>
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

constexpr std::size_t steps_per_block = 64;  // the .rept below

// 64 operations, each of which needs the last one's result. Both operands are registers: recent
// Intel cores add small immediates while renaming, in no time at all.
inline void add_block([[maybe_unused]] std::uint64_t& chain,
                      [[maybe_unused]] std::uint64_t operand) noexcept {
#if defined(__x86_64__)
    asm volatile(".rept 64\n\taddq %1, %0\n\t.endr" : "+r"(chain) : "r"(operand) : "cc");
#elif defined(__aarch64__)
    asm volatile(".rept 64\n\tadd %0, %0, %1\n\t.endr" : "+r"(chain) : "r"(operand));
#elif defined(__powerpc64__)
    asm volatile(".rept 64\n\tadd %0, %0, %1\n\t.endr" : "+r"(chain) : "r"(operand));
#endif
}

inline void multiply_block([[maybe_unused]] std::uint64_t& chain,
                           [[maybe_unused]] std::uint64_t operand) noexcept {
#if defined(__x86_64__)
    asm volatile(".rept 64\n\timulq %1, %0\n\t.endr" : "+r"(chain) : "r"(operand) : "cc");
#elif defined(__aarch64__)
    asm volatile(".rept 64\n\tmul %0, %0, %1\n\t.endr" : "+r"(chain) : "r"(operand));
#elif defined(__powerpc64__)
    asm volatile(".rept 64\n\tmulld %0, %0, %1\n\t.endr" : "+r"(chain) : "r"(operand));
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

// Pairs of runs of a few microseconds each, additions then multiplications: an interrupt falls into
// few of them.
class OperationChains final : public Job {
public:
    static constexpr std::size_t pairs = 7;
    static constexpr std::size_t blocks = 128;
    static constexpr std::size_t steps = blocks * steps_per_block;

    void prepare() override { chain(add_block); }

    void run(ThreadSlice& slice) noexcept override {
        const Clock& clock = Clock::instance();
        for (std::size_t pair = 0; pair < pairs; ++pair) {
            const Ticks begin = clock.now();
            chain(add_block);
            const Ticks middle = clock.now();
            slice.iterations.push_back({begin, middle});
            const Ticks again = clock.now();
            chain(multiply_block);
            slice.iterations.push_back({again, clock.now()});
        }
    }

    [[nodiscard]] std::size_t iterations() const noexcept override { return 2 * pairs; }

private:
    template <class Block>
    [[gnu::always_inline]] static void chain(Block block) noexcept {
        std::uint64_t value = 1;
        for (std::size_t index = 0; index < blocks; ++index) {
            block(value, index | 1U);
        }
    }
};

// Median ns per step of every second stamp from `first` on.
double median_step_ns(const std::vector<Stamp>& stamps, std::size_t first) {
    const ClockInfo& info = Clock::instance().info();
    std::vector<double> times;
    for (std::size_t index = first; index < stamps.size(); index += 2) {
        // Between two readings lies, besides the work, the cost of one.
        const auto ticks = static_cast<double>(stamps[index].end - stamps[index].begin);
        times.push_back(ticks * info.ns_per_tick - info.cost_ns);
    }
    std::ranges::sort(times);
    return times[times.size() / 2] / static_cast<double>(OperationChains::steps);
}

// A chain of additions loses some percent to a busy sibling thread, a cycle each time the other is
// served first; one of multiplications, each several cycles long, far less. So the additions
// show how many cycles a multiplication takes, a whole number, and the multiplications the clock.
// When the number is not clearly whole, the additions have to do.
double cycles_per_ns(double add_ns, double multiply_ns, unsigned add_cycles) {
    const double ratio = add_cycles * multiply_ns / add_ns;
    const double multiply_cycles = std::round(ratio);
    const bool whole = multiply_cycles >= add_cycles && std::abs(ratio - multiply_cycles) < 0.3;
    return whole ? multiply_cycles / multiply_ns : add_cycles / add_ns;
}

}  // namespace

double core_cycles_per_ns(Team& team, std::size_t rank) {
    if (rank >= team.size()) {
        throw RequestError("cannot measure the clock of thread " + std::to_string(rank) +
                           ": the team has " + std::to_string(team.size()) +
                           "; choose a smaller rank");
    }
    const unsigned add_cycles = add_latency_cycles();
    if (add_cycles == 0) {
        throw RequestError(
            "cannot count core cycles: how many an addition takes is not known for this processor; "
            "read latencies in ns");
    }
    OperationChains chains;
    std::vector<Job*> jobs(team.size(), nullptr);
    jobs[rank] = &chains;
    const Slice slice = team.run(jobs);
    const auto& stamps = slice.threads[rank].iterations;
    const double add_ns = median_step_ns(stamps, 0);
    const double multiply_ns = median_step_ns(stamps, 1);
    if (!(add_ns > 0.0) || !(multiply_ns > 0.0)) {
        throw Error("cannot count core cycles: the clock did not move; see its resolution");
    }
    return cycles_per_ns(add_ns, multiply_ns, add_cycles);
}

}  // namespace memgauge
