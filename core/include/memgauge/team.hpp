#pragma once
// Persistent threads, one per CPU, each pinned. They sleep between bursts; within a burst they meet
// at a spinning barrier and start together at a common deadline.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "memgauge/clock.hpp"
#include "memgauge/counters/source.hpp"
#include "memgauge/error.hpp"

namespace memgauge {

struct Stamp {
    Ticks begin;
    Ticks end;
};

// What one thread did in one slice.
struct ThreadSlice {
    int cpu = -1;                            // where it ended; differs from the pin only if moved
    std::uint64_t involuntary_switches = 0;  // during the timed part
    std::uint64_t page_faults = 0;           // during the timed part: a page went away
    std::uint64_t read_bytes = 0;  // between the stamps, where the job counts its own work
    std::uint64_t write_bytes = 0;
    std::vector<Stamp> iterations;
};

struct Slice {
    std::vector<ThreadSlice> threads;
    double pingpong_ns = -1.0;  // one way, between this team's threads; negative: not taken
};

// Counters around the timed part of one burst: read by the first thread that works, while all
// others wait at a barrier, so that nothing untimed lies between the two readings but the start.
struct RegionReadings {
    Reading before;
    Reading after;
};

// A burst's work for one thread. Called on the pinned thread.
class Job {
public:
    virtual ~Job() = default;
    // Untimed, before the barrier: touch, lead-in, warm-up.
    virtual void prepare() {}
    // Timed. Appends its stamps to `slice.iterations` (capacity reserved: see iterations()).
    virtual void run(ThreadSlice& slice) noexcept = 0;
    [[nodiscard]] virtual std::size_t iterations() const noexcept { return 1; }
};

// CPUs this process may run on: affinity mask, cgroup cpuset and online CPUs intersected,
// ascending.
std::vector<int> allowed_cpus();

class Team {
public:
    // One thread per entry. RequestError: empty, a CPU listed twice, or one outside allowed_cpus()
    // (the message names it and the allowed list).
    explicit Team(std::vector<int> cpus);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] const std::vector<int>& cpus() const noexcept;

    // Runs jobs[i] on thread i (a null job: the thread idles) and returns when all are done.
    // prepare() runs on all threads at once, then a barrier, then run() at a common deadline.
    // An exception from prepare() is rethrown here after all threads have returned. With `stop`,
    // for jobs that may take seconds: asked as in parallel(), whose stop_requested() the jobs look
    // at; Interrupted when they have returned.
    Slice run(std::span<Job* const> jobs, const StopCheck& stop = {});

    // Reads counters around the timed part of every run() from now on; null: no more. The readings
    // of the last run() wait in readings(): none before the first, or without a reader.
    void read_with(std::shared_ptr<Reader> reader);
    [[nodiscard]] const std::optional<RegionReadings>& readings() const noexcept;
    // Kernel thread identifiers of the team's threads, for counters bound to a thread.
    [[nodiscard]] std::vector<int> thread_ids();

    // The same function on every thread, for filling and first touch. `work(rank)` is called for
    // each rank at once; it should look at stop_requested() every few MiB and return when true.
    // `stop` is asked every 20 ms and at the end; when it says so, waits for the workers and
    // throws Interrupted.
    void parallel(const std::function<void(std::size_t)>& work, const StopCheck& stop = {});
    [[nodiscard]] bool stop_requested() const noexcept;

    // One-way core-to-core latency in ns between threads a and b: the low quantile over
    // `round_trips` handovers of a cache line (default well under 0.2 ms).
    double pingpong_ns(std::size_t a, std::size_t b, unsigned round_trips = 200);
    // The largest of the pairs (0, i) for teams up to 8, of (i, i+1) beyond; negative for one
    // thread. Of the threads of these ranks, each named once, or of all.
    double pingpong_ns(const std::vector<std::size_t>& ranks);
    double pingpong_ns();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memgauge
