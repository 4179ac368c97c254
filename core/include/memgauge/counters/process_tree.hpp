#pragma once
// What a process and all its descendants have used, from procfs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memgauge/counters/perf.hpp"
#include "memgauge/counters/source.hpp"

namespace memgauge {

// Slots, in this order. All but the gauges are sums that never fall.
//
// Exact, but for what no process of the tree waited for (see below):
//   user_time_ns, system_time_ns  in the kernel's ticks of USER_HZ, 10 ms
//   minor_faults, major_faults
//   read_bytes, write_bytes       to and from storage; missing where /proc/PID/io of one process
//   may
//                                 not be read (another user's)
// cpu_time_ns: user and system in ns, by the CPU clock of each living process, which the kernel
// brings up to date at each of its switches and scheduler ticks (1 to 10 ms); in ticks of USER_HZ
// for ended children. Missing on a procfs that numbers processes otherwise than system calls here
// do. voluntary_switches, involuntary_switches: lower bounds. The kernel shows them for living
// threads only: those of a thread after its last reading, and of threads that lived between two
// discoveries, are lost.
// run_delay_ns: time for which threads could have run and waited for a processor, by
// /proc/PID/task/TID/schedstat; a lower bound for the same reasons. The kernel adds a wait when it
// ends. Missing where the kernel keeps no such account (CONFIG_SCHED_INFO).
// Gauges: resident_bytes (by statm; shared pages once for each process), threads, processes
// (without zombies).
enum class ProcessFigure : std::uint8_t {
    user_time_ns,
    system_time_ns,
    cpu_time_ns,
    minor_faults,
    major_faults,
    read_bytes,
    write_bytes,
    voluntary_switches,
    involuntary_switches,
    run_delay_ns,
    resident_bytes,
    threads,
    processes,
};
inline constexpr std::size_t process_figures = 13;
std::string_view to_string(ProcessFigure figure) noexcept;
[[nodiscard]] constexpr bool is_gauge(ProcessFigure figure) noexcept {
    return figure >= ProcessFigure::resident_bytes;
}

// What an event came to in one thread since it was found, and how long it was to count and did.
struct ThreadCount {
    std::uint64_t value = 0;
    std::uint64_t enabled_ns = 0;
    std::uint64_t running_ns = 0;
};
inline constexpr std::size_t most_thread_events = 24;

// What one thread used, as last read: what came after its last reading is lost.
struct ThreadUse {
    int pid = 0;
    int tid = 0;
    // The kernel's names have 15 bytes, each of which it may escape as four.
    std::array<char, 64> name{};
    std::uint64_t cpu_ns = 0;
    std::uint64_t run_delay_ns = 0;
    std::uint64_t voluntary_switches = 0;
    std::uint64_t involuntary_switches = 0;
    // Of the ledger's events, in their order; nothing: that one could not be opened or read.
    std::array<std::optional<ThreadCount>, most_thread_events> counts{};
};

// Every thread that was seen, kept up to date by each reading of its tree; also when that is
// closed. Memory of all entries is taken at once.
class ThreadLedger {
public:
    static constexpr std::size_t most_threads = 4096;

    // `events` are counted for each thread that is found, from then on, without what it starts, for
    // as long as there are descriptors: half of those that are free when it is opened. Their counts
    // are final also when the thread has ended. RequestError: more events than
    // `most_thread_events`.
    explicit ThreadLedger(std::vector<PerfEvent> events = {});
    [[nodiscard]] const std::vector<PerfEvent>& events() const noexcept { return events_; }

    // Where a new entry is; nothing: there is no room for one more.
    std::optional<std::size_t> add(const ThreadUse& use) noexcept;
    void update(std::size_t place, const ThreadUse& use) noexcept;
    // The largest resident size (VmHWM of proc_pid_status(5)) of any process. `is_first`: that of
    // the root at its first reading, and as long as it stays so: where a program was held before
    // its first instruction, it is that of who made it.
    void add_peak(std::uint64_t bytes, bool is_first) noexcept;

    [[nodiscard]] std::vector<ThreadUse> threads() const;
    // Those that there was no room for.
    [[nodiscard]] std::size_t left_out() const;
    // 0: none was read.
    [[nodiscard]] std::uint64_t first_peak_bytes() const;
    [[nodiscard]] std::uint64_t later_peak_bytes() const;

private:
    std::vector<PerfEvent> events_;
    mutable std::mutex mutex_;
    std::vector<ThreadUse> threads_;
    std::size_t left_out_ = 0;
    std::uint64_t first_peak_bytes_ = 0;
    std::uint64_t later_peak_bytes_ = 0;
};

struct ProcessTreeRequest {
    int pid = 0;
    std::string procfs = "/proc";
    // New descendants and threads are looked for when so much time has passed since the last look.
    // Until found, a living process is not in the sums, and what it used comes all at once.
    std::uint64_t discovery_interval_ns = 100'000'000;
    // Sooner, up to each reading, where readings that look take no more than this share of the
    // time. 0: never sooner.
    double discovery_share = 0.01;
    // Room for so many processes at once, and as many threads as `max_threads`: memory is taken
    // when opened. While a tree has more, or descriptors run out, all slots are missing.
    std::size_t max_processes = 4096;
    std::size_t max_threads = 16384;
    // Context switches and run delay cost two files for each thread, kept open and read each time.
    // false: missing.
    bool switches = true;
    // Filled from the files of threads; null: nobody asks.
    std::shared_ptr<ThreadLedger> ledger;
};

// What may be missed: a process that no one in the tree waited for (an orphan, or its parent
// ignores SIGCHLD) counts up to its last reading only, and not at all if it was never found:
// children are found through living parents. Of waited-for children nothing is lost, found or not.
// A process whose CPU clock stood still since the last reading, as its parent's did, is not read
// again before the next discovery: until then its resident memory is the older.
//
// Cost of a reading from warm caches, and three to five times as much where others used them
// meanwhile: 0.3 us for each idle process, 6 us for one that ran, and 8 us for each of its threads
// with switches, 1 us more for each event that is counted for it. Held open: four descriptors a
// process, two a thread with switches, and one for each of its events.
// Discovery: 6 us a thread; without CONFIG_PROC_CHILDREN 7 us for each process of the machine.
//
// The slots stay readable when the tree has ended. All slots of one reading are missing when
// processes ended, or were being waited for, throughout sixteen looks at all of them.
//
// CounterRefused: the process does not exist (ESRCH, ENOENT) or may not be looked at.
// RequestError: a process identifier below 1, or no room for any process.
std::unique_ptr<CounterSource> open_process_tree(const ProcessTreeRequest& request);

}  // namespace memgauge
