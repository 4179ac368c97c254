#include "memgauge/team.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "threads/affinity.hpp"
#include "threads/spin.hpp"
#include "threads/team_state.hpp"

namespace memgauge {
namespace {

// What the kernel counted for the calling thread.
struct Disturbances {
    std::uint64_t involuntary_switches = 0;
    std::uint64_t page_faults = 0;

    static Disturbances now() noexcept {
        rusage usage{};
        getrusage(RUSAGE_THREAD, &usage);
        return {static_cast<std::uint64_t>(usage.ru_nivcsw),
                static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt)};
    }
};

// Counters read around a burst, by one of its threads.
class RegionReader {
public:
    explicit RegionReader(Reader& reader)
        : reader_(reader), readings_{reader.make_reading(), reader.make_reading()} {}

    void before() noexcept { reader_.read(readings_.before); }
    void after() noexcept { reader_.read(readings_.after); }
    [[nodiscard]] const RegionReadings& readings() const noexcept { return readings_; }

private:
    Reader& reader_;
    RegionReadings readings_;
};

// One burst: prepare, meet, count, meet again, start together.
class Burst {
public:
    // `reader_rank` reads the region's counters, if there is a region reader.
    Burst(std::span<Job* const> jobs, std::uint32_t parties, Slice& slice, RegionReader* region,
          std::size_t reader_rank)
        : barrier_(parties),
          jobs_(jobs),
          slice_(slice),
          lead_(start_lead(parties)),
          region_(region),
          reader_rank_(reader_rank) {}

    void operator()(std::size_t rank) {
        ThreadSlice mine;  // on this thread's stack, away from the others' lines
        std::exception_ptr error = prepare(*jobs_[rank], mine);
        barrier_.arrive_and_wait();
        if (error) std::rethrow_exception(error);
        if (failed_.load(std::memory_order_relaxed)) return;
        time(*jobs_[rank], mine, rank == reader_rank_ ? region_ : nullptr);
        slice_.threads[rank] = std::move(mine);
    }

private:
    // Time for the barrier's release to reach every thread.
    static Ticks start_lead(std::uint32_t parties) {
        return Clock::instance().from_duration_ns(1000.0 + 20.0 * parties);
    }

    std::exception_ptr prepare(Job& job, ThreadSlice& mine) noexcept {
        try {
            // Resized, not only reserved: the pages of the stamps are touched before the timing.
            mine.iterations.resize(job.iterations());
            mine.iterations.clear();
            job.prepare();
            return nullptr;
        } catch (...) {
            failed_.store(true, std::memory_order_relaxed);  // published by the barrier
            return std::current_exception();
        }
    }

    void time(Job& job, ThreadSlice& mine, RegionReader* mine_to_read) noexcept {
        // Between two barriers, so that waiting for the others is not counted and a slow system
        // call delays nobody's start. Counters come last: nothing but the start follows them.
        const Disturbances before = Disturbances::now();
        if (mine_to_read != nullptr) mine_to_read->before();
        barrier_.arrive_and_wait([this] { deadline_ = clock_.now() + lead_; });
        while (clock_.now() < deadline_) {
        }
        job.run(mine);
        const Disturbances after = Disturbances::now();
        if (region_ != nullptr) barrier_.arrive_and_wait();
        if (mine_to_read != nullptr) mine_to_read->after();
        mine.cpu = sched_getcpu();
        mine.involuntary_switches = after.involuntary_switches - before.involuntary_switches;
        mine.page_faults = after.page_faults - before.page_faults;
    }

    SpinBarrier barrier_;
    std::span<Job* const> jobs_;
    Slice& slice_;
    const Clock& clock_ = Clock::instance();
    Ticks lead_;
    Ticks deadline_ = 0;  // published by the barrier
    RegionReader* region_;
    std::size_t reader_rank_;
    std::atomic<bool> failed_{false};
};

// The stop flag of one parallel(), and how the caller's StopCheck answered.
class Stopping {
public:
    Stopping(const StopCheck& check, std::atomic<bool>& flag) noexcept
        : check_(check), flag_(flag) {}
    ~Stopping() { flag_.store(false, std::memory_order_relaxed); }
    Stopping(const Stopping&) = delete;
    Stopping& operator=(const Stopping&) = delete;

    void order() noexcept { flag_.store(true, std::memory_order_relaxed); }

    void ask() noexcept {
        if (wished_ || !check_) return;
        try {
            wished_ = check_();
        } catch (...) {
            wished_ = true;
            error_ = std::current_exception();
        }
        if (wished_) order();
    }

    void throw_if_wished() const {
        if (error_) std::rethrow_exception(error_);
        if (wished_) throw Interrupted();
    }

private:
    const StopCheck& check_;
    std::atomic<bool>& flag_;
    bool wished_ = false;
    std::exception_ptr error_;
};

}  // namespace

Team::Team(std::vector<int> cpus) {
    check_cpus(cpus, allowed_cpus());
    state_ = std::make_unique<State>(std::move(cpus));
}

Team::~Team() {
    // In a forked child the threads are not there to be joined: their memory is left as it is.
    if (!state_->workers.alive()) static_cast<void>(state_.release());
}

std::size_t Team::size() const noexcept {
    return state_->cpus.size();
}
const std::vector<int>& Team::cpus() const noexcept {
    return state_->cpus;
}

bool Team::stop_requested() const noexcept {
    return state_->stop.load(std::memory_order_relaxed);
}

Slice Team::run(std::span<Job* const> jobs, const StopCheck& stop) {
    if (jobs.size() != size()) {
        throw RequestError("a team of " + std::to_string(size()) + " got " +
                           std::to_string(jobs.size()) +
                           " jobs; give one per thread, null to idle");
    }
    const Workers::Claim claim(state_->workers);
    std::vector<std::size_t> ranks;
    for (std::size_t rank = 0; rank < jobs.size(); ++rank) {
        if (jobs[rank] != nullptr) ranks.push_back(rank);
    }
    Slice slice;
    slice.threads.resize(size());
    state_->readings.reset();
    std::optional<RegionReader> region;
    if (state_->reader) region.emplace(*state_->reader);
    Burst burst(jobs, static_cast<std::uint32_t>(ranks.size()), slice, region ? &*region : nullptr,
                ranks.empty() ? 0 : ranks.front());
    const Workers::Task task = [&burst](std::size_t rank) { burst(rank); };
    if (stop) {
        Stopping stopping(stop, state_->stop);
        state_->workers.run(ranks, task, [&stopping] { stopping.ask(); });
        stopping.throw_if_wished();
    } else {
        state_->workers.run(ranks, task);
    }
    if (region) state_->readings = region->readings();
    return slice;
}

void Team::read_with(std::shared_ptr<Reader> reader) {
    const Workers::Claim claim(state_->workers);
    state_->reader = std::move(reader);
    state_->readings.reset();
}

const std::optional<RegionReadings>& Team::readings() const noexcept {
    return state_->readings;
}

std::vector<int> Team::thread_ids() {
    const Workers::Claim claim(state_->workers);
    std::vector<int> ids(size());
    std::vector<std::size_t> ranks(size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    state_->workers.run(ranks, [&ids](std::size_t rank) { ids[rank] = gettid(); });
    return ids;
}

void Team::parallel(const std::function<void(std::size_t)>& work, const StopCheck& stop) {
    const Workers::Claim claim(state_->workers);
    Stopping stopping(stop, state_->stop);
    const Workers::Task task = [&](std::size_t rank) {
        try {
            work(rank);
        } catch (...) {
            stopping.order();  // no use in the others going on
            throw;
        }
    };
    std::vector<std::size_t> ranks(size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    try {
        state_->workers.run(ranks, task, [&stopping] { stopping.ask(); });
    } catch (...) {
        // The caller's wish to end outranks what it made the workers do.
        stopping.throw_if_wished();
        throw;
    }
    // Short work can end between two looks at the caller's wish.
    stopping.ask();
    stopping.throw_if_wished();
}

}  // namespace memgauge
