#include "cache/workers.hpp"

#include <system_error>
#include <utility>

#include "threads/thread_refusal.hpp"

namespace memgauge::cache {
namespace {

constexpr std::size_t most_waiting = 64;

}  // namespace

Worker::Worker(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
        refuse_thread("cannot start a thread for a part of the caches", error.code().value());
    }
}

Worker::~Worker() {
    {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
        waiting_.clear();
    }
    changed_.notify_all();
    thread_.join();
}

void Worker::add(std::shared_ptr<const Command> command) {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return waiting_.size() < most_waiting; });
        waiting_.push_back(std::move(command));
    }
    changed_.notify_all();
}

std::exception_ptr Worker::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.empty() && !busy_; });
    return std::exchange(failure_, nullptr);
}

void Worker::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
        if (ends_) return;
        const std::shared_ptr<const Command> command = std::move(waiting_.front());
        waiting_.pop_front();
        busy_ = true;
        lock.unlock();
        changed_.notify_all();
        std::exception_ptr failure;
        try {
            (*command)(*engine_);
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        if (failure) failure_ = failure;
        busy_ = false;
        changed_.notify_all();
    }
}

Parts::Parts(std::vector<std::unique_ptr<Engine>> engines) : own_(std::move(engines.front())) {
    for (std::size_t i = 1; i < engines.size(); ++i) {
        workers_.push_back(std::make_unique<Worker>(std::move(engines[i])));
    }
}

void Parts::each(Command command) {
    const auto shared = std::make_shared<const Command>(std::move(command));
    for (const auto& worker : workers_) worker->add(shared);
    (*shared)(*own_);
}

std::vector<Engine*> Parts::settled(bool forgets) {
    std::vector<Engine*> engines{own_.get()};
    std::exception_ptr failure;
    for (const auto& worker : workers_) {
        if (std::exception_ptr of_worker = worker->wait()) failure = std::move(of_worker);
        engines.push_back(&worker->engine());
    }
    if (failure && !forgets) std::rethrow_exception(failure);
    return engines;
}

}  // namespace memgauge::cache
