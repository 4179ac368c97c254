#include "threads/workers.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "memgauge/team.hpp"
#include "threads/affinity.hpp"
#include "threads/signals_blocked.hpp"
#include "threads/thread_refusal.hpp"

namespace memgauge {
namespace {

constexpr auto tick_interval = std::chrono::milliseconds(20);

// glibc reserves 64 MiB of addresses for the heap of each thread and keeps them when it ends. Where
// addresses are limited they are for arrays, and all threads share one heap.
void spare_addresses() noexcept {
#ifdef __GLIBC__
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        mallopt(M_ARENA_MAX, 1);
    }
#endif
}

}  // namespace

Workers::Workers(const std::vector<int>& cpus) : owner_(getpid()) {
    try {
        start(cpus);
        check_pins(cpus);
    } catch (...) {
        dismiss();
        throw;
    }
}

Workers::~Workers() {
    dismiss();
}

bool Workers::alive() const noexcept {
    return getpid() == owner_;
}

void Workers::start(const std::vector<int>& cpus) {
    const SignalsBlocked blocked;
    spare_addresses();
    workers_.reserve(cpus.size());
    // One more than the threads: they cannot end the wait before the last one is started.
    pending_.store(1, std::memory_order_relaxed);
    done_ = false;
    for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
        workers_.push_back(std::make_unique<Worker>());
        Worker& worker = *workers_.back();
        pending_.fetch_add(1, std::memory_order_relaxed);
        try {
            worker.thread = std::thread([this, &worker, cpu = cpus[rank], rank] {
                worker.pin_error = pin_this_thread(cpu);
                const std::string name = "memgauge/" + std::to_string(cpu);
                pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
                finish_one();
                serve(worker, rank);
            });
        } catch (const std::system_error& error) {
            refuse_thread("cannot start thread " + std::to_string(rank) + " of a team of " +
                              std::to_string(cpus.size()),
                          error.code().value());
        }
    }
    finish_one();
    wait_all({});
}

void Workers::check_pins(const std::vector<int>& cpus) const {
    for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
        const int error = workers_[rank]->pin_error;
        if (error == 0) continue;
        const std::string what = "cannot pin a thread to cpu " + std::to_string(cpus[rank]);
        if (error != EINVAL) throw SystemError(what, error);
        throw RequestError(what + ": it went offline or left this process's cpuset just now; " +
                           "allowed: " + format_cpu_list(allowed_cpus()) + "; choose among these");
    }
}

void Workers::serve(Worker& me, std::size_t rank) noexcept {
    for (;;) {
        const Task* task = nullptr;
        {
            std::unique_lock lock(me.mutex);
            me.wake.wait(lock, [&me] { return me.task != nullptr || me.quit; });
            if (me.quit) return;
            task = std::exchange(me.task, nullptr);
        }
        try {
            (*task)(rank);
        } catch (...) {
            me.error = std::current_exception();
        }
        finish_one();
    }
}

void Workers::finish_one() noexcept {
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const std::scoped_lock lock(done_mutex_);
    done_ = true;
    done_cv_.notify_one();
}

void Workers::wait_all(const std::function<void()>& tick) {
    std::unique_lock lock(done_mutex_);
    const auto is_done = [this] { return done_; };
    if (!tick) return done_cv_.wait(lock, is_done);
    while (!done_cv_.wait_for(lock, tick_interval, is_done)) {
        lock.unlock();
        tick();
        lock.lock();
    }
}

void Workers::run(std::span<const std::size_t> ranks, const Task& task,
                  const std::function<void()>& tick) {
    if (ranks.empty()) return;
    pending_.store(ranks.size(), std::memory_order_relaxed);
    done_ = false;  // all workers sleep: nobody else looks at it now
    for (const std::size_t rank : ranks) {
        Worker& worker = *workers_[rank];
        {
            const std::scoped_lock lock(worker.mutex);
            worker.task = &task;
        }
        worker.wake.notify_one();
    }
    wait_all(tick);
    std::exception_ptr first;
    for (const std::size_t rank : ranks) {
        const std::exception_ptr error = std::exchange(workers_[rank]->error, nullptr);
        if (!first) first = error;
    }
    if (first) std::rethrow_exception(first);
}

void Workers::dismiss() noexcept {
    for (const auto& worker : workers_) {
        {
            const std::scoped_lock lock(worker->mutex);
            worker->quit = true;
        }
        worker->wake.notify_one();
    }
    for (const auto& worker : workers_) {
        if (worker->thread.joinable()) worker->thread.join();
    }
    workers_.clear();
}

Workers::Claim::Claim(Workers& workers) : workers_(workers) {
    if (!workers.alive()) {
        throw RequestError(
            "this team's threads belong to the parent process; make a new team after fork");
    }
    if (workers.claimed_.exchange(true, std::memory_order_acquire)) {
        throw RequestError(
            "this team is already at work for another call; wait for it, or use one team per "
            "calling thread");
    }
}

}  // namespace memgauge
