#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "counters/processes/account.hpp"
#include "counters/processes/table.hpp"
#include "memgauge/clock.hpp"
#include "memgauge/counters/process_tree.hpp"
#include "memgauge/error.hpp"

namespace memgauge {
namespace {

// Each begins again without those that had gone before, so few are needed.
constexpr int most_passes = 16;

// The CPU clock of another process, as clock_getcpuclockid(3) makes it.
clockid_t cpu_clock(int pid) noexcept {
    constexpr unsigned scheduled = 2;
    return static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | scheduled);
}

std::optional<std::uint64_t> cpu_ns_of(int pid) noexcept {
    timespec used{};
    if (clock_gettime(cpu_clock(pid), &used) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(used.tv_nsec);
}

// Where the procfs numbers processes as our system calls do.
bool has_cpu_clock(const ProcessTreeRequest& request) {
    std::array<char, 16> self{};
    const ssize_t length =
        readlink((request.procfs + "/self").c_str(), self.data(), self.size() - 1);
    return length > 0 && std::to_string(getpid()) == self.data() && cpu_ns_of(request.pid);
}

// Descriptors that counters of threads may take, so that processes found later have theirs.
std::size_t descriptors_for_counters() noexcept {
    constexpr rlim_t most = 1U << 16U;
    rlimit limit{};
    const Descriptor next(eventfd(0, EFD_CLOEXEC));
    if (!next || getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    return std::min<rlim_t>(limit.rlim_cur - static_cast<rlim_t>(next.get()), most) / 2;
}

std::unique_ptr<CounterSource> opened_or_null(const PerfEvent& event, int tid) noexcept {
    try {
        return open_perf_single(event, {.pid = tid});
    } catch (const std::exception&) {
        return nullptr;
    }
}

std::optional<ThreadCount> count_of(CounterSource& counter) noexcept {
    std::array<std::uint64_t, 3> values{};
    std::array<std::uint8_t, 3> present{};
    counter.read({values, present});
    if (present[0] == 0 || present[1] == 0 || present[2] == 0) return std::nullopt;
    return ThreadCount{.value = values[2], .enabled_ns = values[0], .running_ns = values[1]};
}

bool is_alive(const KnownProcess& process) noexcept {
    return process.stat.state != 'Z' && process.stat.state != 'X';
}

class ProcessTree final : public CounterSource {
public:
    explicit ProcessTree(const ProcessTreeRequest& request)
        : table_(request),
          root_(request.pid),
          ns_per_tick_(1'000'000'000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK))),
          page_bytes_(static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))),
          has_cpu_clock_(has_cpu_clock(request)),
          has_switches_(request.switches),
          discovery_interval_(Clock::instance().from_duration_ns(
              static_cast<double>(request.discovery_interval_ns))),
          discovered_(Clock::instance().now()),
          discovery_share_(request.discovery_share),
          soonest_(discovery_share_ > 0 ? 0 : discovery_interval_),
          ledger_(request.ledger),
          free_descriptors_(descriptors_for_counters()),
          text_(proc_text_bytes) {}

    [[nodiscard]] std::size_t slots() const noexcept override { return process_figures; }

    void read(SlotSpan into) noexcept override {
        into.mark_all_missing();
        const bool looked = discover_when_due();
        read_all(into, looked);
        if (looked) plan_discovery();
    }

private:
    void read_all(SlotSpan into, bool looked) noexcept {
        // One that went in a reading without end may be in what its parent has got since.
        unsettled_ = !read_processes(looked || unsettled_);
        if (unsettled_) return;
        read_threads();
        settle(table_, departed_, ns_per_tick_);
        if (table_.all_processes()) deliver(into);
    }

    // After a reading that looked: it reads all processes, those that did nothing too.
    void plan_discovery() noexcept {
        const auto took = static_cast<double>(Clock::instance().now() - discovered_);
        soonest_ = discovery_share_ > 0 ? static_cast<Ticks>(took / discovery_share_)
                                        : discovery_interval_;
    }

    bool discover_when_due() noexcept {
        const Ticks now = Clock::instance().now();
        if (now - discovered_ < std::min(discovery_interval_, soonest_)) return false;
        discovered_ = now;
        table_.discover();
        return true;
    }

    // Parents are read before their children: a child that is there when read cannot be in what its
    // parent had got from waiting. When one has gone all are read again, so that what it used is
    // found with who waited for it. False: processes went faster than they could be read.
    bool read_processes(bool fully) noexcept {
        for (int pass = 0; pass < most_passes; ++pass) {
            bool complete = true;
            for (KnownProcess& process : table_.processes()) {
                if (process.gone) continue;
                const Outcome outcome = read_process(process, fully || pass > 0);
                process.gone = outcome == Outcome::gone;
                complete = complete && outcome == Outcome::read;
            }
            if (complete) return true;
        }
        return false;
    }

    enum class Outcome : std::uint8_t { read, gone, going };

    Outcome read_process(KnownProcess& process, bool fully) noexcept {
        if (has_cpu_clock_) {
            const auto cpu_ns = cpu_ns_of(process.pid);
            if (!cpu_ns) return Outcome::gone;
            process.skipped = !fully && *cpu_ns == process.cpu_ns && parent_skipped(process);
            process.cpu_ns = *cpu_ns;
            if (process.skipped) return Outcome::read;
        }
        const auto stat = parse_stat(read_text(process.stat_file, text_));
        if (!stat || stat->start_ticks != process.stat.start_ticks) return Outcome::gone;
        // Being waited for: in its parent's figures already, or not yet.
        if (stat->state == 'X') return Outcome::going;
        return read_rest(process, *stat) ? Outcome::read : Outcome::gone;
    }

    // One whose CPU clock stands still since the last reading has used nothing. Where its parent
    // ran, it may all the same have been waited for meanwhile.
    bool parent_skipped(const KnownProcess& process) noexcept {
        if (process.pid == root_) return true;
        const KnownProcess* parent = table_.find(process.stat.parent);
        return parent != nullptr && !parent->gone && parent->skipped;
    }

    bool read_rest(KnownProcess& process, const ProcessStat& stat) noexcept {
        const auto resident = parse_resident(read_text(process.statm_file, text_));
        if (!resident) return false;
        std::optional<StorageUse> io;
        if (process.io_file) {
            errno = 0;
            io = parse_io(read_text(process.io_file, text_));
            if (!io && errno == ESRCH) return false;
        }
        process.stat = stat;
        process.resident_pages = *resident;
        process.io = io;
        return true;
    }

    void read_threads() noexcept {
        bool all_alive = true;
        for (KnownThread& thread : table_.threads()) {
            const KnownProcess* process = table_.find(thread.pid);
            if (process != nullptr && !process->gone && process->skipped) continue;
            const std::string_view status = read_text(thread.status_file, text_);
            const auto switches = parse_switches(status);
            if (switches) {
                take_status(thread, *switches, status);
                take_peak(thread, status);
                take_times(thread);
                enter(thread);
            } else {
                departed_switches_.voluntary += thread.switches.voluntary;
                departed_switches_.involuntary += thread.switches.involuntary;
                departed_delay_ns_ += thread.times.run_delay_ns;
                enter(thread);
                close_counters(thread);
                thread.status_file.close();
                all_alive = false;
            }
        }
        if (!all_alive) table_.forget_ended_threads();
    }

    void take_times(KnownThread& thread) noexcept {
        if (!thread.schedstat_file) return;
        const auto times = parse_schedstat(read_text(thread.schedstat_file, text_));
        if (times) thread.times = *times;
        // Without the account the file says 0 of everything.
        has_delays_ = has_delays_ || thread.times.cpu_ns > 0;
    }

    // Threads of one process share it: that of the first stands for it.
    void take_peak(const KnownThread& thread, std::string_view status) noexcept {
        if (ledger_ == nullptr || thread.tid != thread.pid) return;
        const auto peak = parse_peak_bytes(status);
        if (!peak) return;
        if (thread.pid == root_ && first_peak_ == 0) first_peak_ = *peak;
        ledger_->add_peak(*peak, thread.pid == root_ && *peak == first_peak_);
    }

    void open_counters(KnownThread& thread) noexcept {
        const std::vector<PerfEvent>& events = ledger_->events();
        if (events.empty() || events.size() > free_descriptors_) return;
        try {
            thread.counters.reserve(events.size());
        } catch (const std::exception&) {
            return;
        }
        for (const PerfEvent& event : events) {
            thread.counters.push_back(opened_or_null(event, thread.tid));
        }
        free_descriptors_ -= events.size();
    }

    void close_counters(KnownThread& thread) noexcept {
        free_descriptors_ += thread.counters.size();
        thread.counters.clear();
    }

    void enter(KnownThread& thread) noexcept {
        if (ledger_ == nullptr || thread.entry == KnownThread::Entry::refused) return;
        if (thread.entry == KnownThread::Entry::none) open_counters(thread);
        ThreadUse use{.pid = thread.pid,
                      .tid = thread.tid,
                      .name = thread.name,
                      .cpu_ns = thread.times.cpu_ns,
                      .run_delay_ns = thread.times.run_delay_ns,
                      .voluntary_switches = thread.switches.voluntary,
                      .involuntary_switches = thread.switches.involuntary,
                      .counts = {}};
        for (std::size_t at = 0; at < thread.counters.size(); ++at) {
            if (thread.counters[at]) use.counts[at] = count_of(*thread.counters[at]);
        }
        if (thread.entry == KnownThread::Entry::made) return ledger_->update(thread.place, use);
        const auto place = ledger_->add(use);
        thread.entry = place ? KnownThread::Entry::made : KnownThread::Entry::refused;
        thread.place = place.value_or(0);
    }

    void deliver(SlotSpan into) noexcept {
        TreeUse total = departed_;
        for (const KnownProcess& process : table_.processes()) total.add(process, ns_per_tick_);
        using enum ProcessFigure;
        put(into, user_time_ns, total.use.user_ticks * ns_per_tick_);
        put(into, system_time_ns, total.use.system_ticks * ns_per_tick_);
        if (has_cpu_clock_) put(into, cpu_time_ns, total.cpu_ns);
        put(into, minor_faults, total.use.minor_faults);
        put(into, major_faults, total.use.major_faults);
        if (total.storage_known) {
            put(into, read_bytes, total.storage.read_bytes);
            put(into, write_bytes, total.storage.write_bytes);
        }
        deliver_switches(into);
        deliver_gauges(into);
    }

    void deliver_switches(SlotSpan into) noexcept {
        if (!has_switches_ || !table_.all_threads()) return;
        Switches total = departed_switches_;
        for (const KnownThread& thread : table_.threads()) {
            total.voluntary += thread.switches.voluntary;
            total.involuntary += thread.switches.involuntary;
        }
        put(into, ProcessFigure::voluntary_switches, total.voluntary);
        put(into, ProcessFigure::involuntary_switches, total.involuntary);
        if (!has_delays_) return;
        std::uint64_t delay_ns = departed_delay_ns_;
        for (const KnownThread& thread : table_.threads()) delay_ns += thread.times.run_delay_ns;
        put(into, ProcessFigure::run_delay_ns, delay_ns);
    }

    void deliver_gauges(SlotSpan into) noexcept {
        std::uint64_t pages = 0;
        std::uint64_t alive_threads = 0;
        std::uint64_t alive = 0;
        for (const KnownProcess& process : table_.processes()) {
            if (!is_alive(process)) continue;
            pages += process.resident_pages;
            alive_threads += process.stat.threads;
            ++alive;
        }
        put(into, ProcessFigure::resident_bytes, pages * page_bytes_);
        put(into, ProcessFigure::threads, alive_threads);
        put(into, ProcessFigure::processes, alive);
    }

    // Sums never fall, though a child's times are rounded to ticks when its parent takes them over.
    void put(SlotSpan into, ProcessFigure figure, std::uint64_t value) noexcept {
        const auto slot = static_cast<std::size_t>(figure);
        if (!is_gauge(figure)) value = floor_[slot] = std::max(floor_[slot], value);
        into.values[slot] = value;
        into.present[slot] = 1;
    }

    ProcessTable table_;
    int root_;
    TreeUse departed_;
    Switches departed_switches_;
    std::uint64_t departed_delay_ns_ = 0;
    std::uint64_t first_peak_ = 0;
    bool has_delays_ = false;
    std::array<std::uint64_t, process_figures> floor_{};
    std::uint64_t ns_per_tick_;
    std::uint64_t page_bytes_;
    bool has_cpu_clock_;
    bool has_switches_;
    bool unsettled_ = false;
    Ticks discovery_interval_;
    Ticks discovered_;
    double discovery_share_;
    Ticks soonest_;
    std::shared_ptr<ThreadLedger> ledger_;
    std::size_t free_descriptors_;
    std::vector<char> text_;
};

}  // namespace

std::string_view to_string(ProcessFigure figure) noexcept {
    static constexpr std::array<std::string_view, process_figures> names{
        "user_time_ns", "system_time_ns",     "cpu_time_ns",
        "minor_faults", "major_faults",       "read_bytes",
        "write_bytes",  "voluntary_switches", "involuntary_switches",
        "run_delay_ns", "resident_bytes",     "threads",
        "processes"};
    return names[static_cast<std::size_t>(figure)];
}

ThreadLedger::ThreadLedger(std::vector<PerfEvent> events) : events_(std::move(events)) {
    if (events_.size() > most_thread_events) {
        throw RequestError("cannot count " + std::to_string(events_.size()) +
                           " events by thread; give at most " + std::to_string(most_thread_events));
    }
    threads_.reserve(most_threads);
}

std::optional<std::size_t> ThreadLedger::add(const ThreadUse& use) noexcept {
    const std::scoped_lock lock(mutex_);
    if (threads_.size() == most_threads) {
        ++left_out_;
        return std::nullopt;
    }
    threads_.push_back(use);
    return threads_.size() - 1;
}

void ThreadLedger::update(std::size_t place, const ThreadUse& use) noexcept {
    const std::scoped_lock lock(mutex_);
    threads_[place] = use;
}

void ThreadLedger::add_peak(std::uint64_t bytes, bool is_first) noexcept {
    const std::scoped_lock lock(mutex_);
    std::uint64_t& peak = is_first ? first_peak_bytes_ : later_peak_bytes_;
    peak = std::max(peak, bytes);
}

std::vector<ThreadUse> ThreadLedger::threads() const {
    const std::scoped_lock lock(mutex_);
    return threads_;
}

std::size_t ThreadLedger::left_out() const {
    const std::scoped_lock lock(mutex_);
    return left_out_;
}

std::uint64_t ThreadLedger::first_peak_bytes() const {
    const std::scoped_lock lock(mutex_);
    return first_peak_bytes_;
}

std::uint64_t ThreadLedger::later_peak_bytes() const {
    const std::scoped_lock lock(mutex_);
    return later_peak_bytes_;
}

std::unique_ptr<CounterSource> open_process_tree(const ProcessTreeRequest& request) {
    if (request.pid < 1 || request.max_processes < 1) {
        throw RequestError("process tree of " + std::to_string(request.pid) +
                           ": needs a process identifier from 1 on, and room for a process");
    }
    return std::make_unique<ProcessTree>(request);
}

}  // namespace memgauge
