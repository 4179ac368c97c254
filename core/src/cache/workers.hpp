#pragma once
// The parts of a model at work: the first by the caller, each other by a thread of its own that
// comes after as it can.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cache/engine.hpp"

namespace memgauge::cache {

using Command = std::function<void(Engine&)>;

// A thread that does commands on one engine in their order.
class Worker {
public:
    explicit Worker(std::unique_ptr<Engine> engine);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // Waits where too many are waiting already.
    void add(std::shared_ptr<const Command> command);
    // Until all are done; what one of them threw.
    std::exception_ptr wait();
    // After wait().
    [[nodiscard]] Engine& engine() { return *engine_; }

private:
    void run();

    std::unique_ptr<Engine> engine_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<const Command>> waiting_;
    bool busy_ = false;
    bool ends_ = false;
    std::exception_ptr failure_;
    std::thread thread_;
};

class Parts {
public:
    explicit Parts(std::vector<std::unique_ptr<Engine>> engines);

    // In each part; the command must own what it needs where is_alone() is false.
    void each(Command command);
    [[nodiscard]] bool is_alone() const { return workers_.empty(); }
    // All engines, at rest; throws what a command threw, unless all is forgotten anyway.
    std::vector<Engine*> settled(bool forgets = false);

private:
    std::unique_ptr<Engine> own_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace memgauge::cache
