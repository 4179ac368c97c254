#include "gpu/transfers/host_timed.hpp"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "gpu/timing.hpp"
#include "threads/signals_blocked.hpp"

namespace memgauge::gpu {
namespace {

// Copies of one lane that the host times; ends early when it is asked to.
class HostTimed {
public:
    HostTimed(const Device& device, const TransferLane& lane, const GpuTransfersRun& run)
        : device_(device), lane_(lane), run_(run) {
        slice.iterations.reserve(run.iterations);
    }

    template <class Stopped>
    void go(Stopped stopped) {
        const Clock& clock = Clock::instance();
        slice.cpu = sched_getcpu();
        for (std::size_t k = 0; k < run_.iterations && !stopped(); ++k) {
            const Ticks begin = clock.now();
            for (std::size_t copy = 0; copy < run_.repeats; ++copy) lane_.copy(run_.bytes);
            device_.check(device_.calls().stream_synchronize(lane_.stream()),
                          "cuStreamSynchronize");
            slice.iterations.push_back({begin, clock.now()});
        }
    }

    ThreadSlice slice;

private:
    const Device& device_;
    const TransferLane& lane_;
    GpuTransfersRun run_;
};

// Asked every 20 ms: the caller's check takes the interpreter's lock.
class NowAndThen {
public:
    explicit NowAndThen(const StopCheck& stop) : stop_(stop) {}
    bool operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (!stop_ || now - asked_ < std::chrono::milliseconds(20)) return false;
        asked_ = now;
        return stop_();
    }

private:
    const StopCheck& stop_;
    std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

// One or two lanes at work at once, until they are done or one fails or is asked to stop.
class Together {
public:
    Together(const Device& device, std::vector<HostTimed>& works)
        : device_(device), works_(works) {}

    void go(const StopCheck& stop) {
        std::thread second;
        if (works_.size() > 1) {
            const SignalsBlocked blocked;  // they are the caller's
            second = std::thread([this] {
                guarded([this] { device_.enter(); });
                work(works_[1], [] { return false; });
            });
        }
        work(works_[0], NowAndThen(stop));
        if (second.joinable()) second.join();
        if (failed_) std::rethrow_exception(failed_);
    }

private:
    template <class Asked>
    void work(HostTimed& timed, Asked asked) {
        ++ready_;
        while (ready_ < works_.size()) std::this_thread::yield();
        guarded([&] {
            timed.go([&] {
                if (asked()) throw Interrupted();
                return ended_.load(std::memory_order_relaxed);
            });
        });
    }

    // Keeps what is thrown first, and ends the other's work.
    template <class Work>
    void guarded(const Work& work) {
        try {
            work();
        } catch (...) {
            const std::scoped_lock lock(failing_);
            if (!failed_) failed_ = std::current_exception();
            ended_ = true;
        }
    }

    const Device& device_;
    std::vector<HostTimed>& works_;
    std::atomic<unsigned> ready_{0};
    std::atomic<bool> ended_{false};
    std::mutex failing_;
    std::exception_ptr failed_;
};

}  // namespace

Slice host_timed(Device& device, const std::vector<TransferLane*>& lanes,
                 const GpuTransfersRun& run, const StopCheck& stop) {
    device.enter();
    std::vector<HostTimed> works;
    works.reserve(lanes.size());
    for (const TransferLane* lane : lanes) works.emplace_back(device, *lane, run);
    Region counted(device);
    counted.before(stop);
    Together(device, works).go(stop);
    counted.after();
    Slice slice;
    slice.threads.reserve(works.size());
    for (HostTimed& work : works) slice.threads.push_back(std::move(work.slice));
    for (TransferLane* lane : lanes) lane->arrived(run.bytes);
    return slice;
}

}  // namespace memgauge::gpu
