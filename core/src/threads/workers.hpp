#pragma once
// Persistent threads, each pinned to its CPU, asleep until a task comes.

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "threads/spin.hpp"

namespace memgauge {

class Workers {
public:
    using Task = std::function<void(std::size_t)>;

    // Returns when every thread runs on its CPU. RequestError: a CPU went away meanwhile.
    // SystemError: a thread cannot be started. Nothing is left running when it throws.
    explicit Workers(const std::vector<int>& cpus);
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    // Holds the workers for one caller at a time. RequestError: another call is under way, or this
    // process was forked from the one that owns the threads.
    class Claim {
    public:
        explicit Claim(Workers& workers);
        ~Claim() { workers_.claimed_.store(false, std::memory_order_release); }
        Claim(const Claim&) = delete;
        Claim& operator=(const Claim&) = delete;

    private:
        Workers& workers_;
    };

    // Wakes the threads of `ranks` (each once) for task(rank) and sleeps until all are done; then
    // rethrows the first exception in order of rank. `tick`, which must not throw, is called here
    // every 20 ms meanwhile. The caller holds a Claim.
    void run(std::span<const std::size_t> ranks, const Task& task,
             const std::function<void()>& tick = {});

    [[nodiscard]] std::size_t size() const noexcept { return workers_.size(); }
    // False in a child made by fork, where the threads do not exist.
    [[nodiscard]] bool alive() const noexcept;

private:
    struct alignas(line_bytes) Worker {
        std::mutex mutex;
        std::condition_variable wake;
        const Task* task = nullptr;  // guarded by mutex, as is quit
        bool quit = false;
        std::exception_ptr error;  // of the last task; handed over by done_
        int pin_error = 0;
        std::thread thread;
    };

    void start(const std::vector<int>& cpus);
    void serve(Worker& me, std::size_t rank) noexcept;
    void finish_one() noexcept;
    void wait_all(const std::function<void()>& tick);
    void check_pins(const std::vector<int>& cpus) const;
    void dismiss() noexcept;

    std::vector<std::unique_ptr<Worker>> workers_;
    std::atomic<std::size_t> pending_{0};
    std::mutex done_mutex_;
    std::condition_variable done_cv_;
    bool done_ = true;  // guarded by done_mutex_
    std::atomic<bool> claimed_{false};
    pid_t owner_;
};

}  // namespace memgauge
