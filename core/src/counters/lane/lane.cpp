#include "memgauge/counters/lane.hpp"

#include <unistd.h>

#include <string>
#include <utility>

#include "counters/lane/threads.hpp"
#include "memgauge/error.hpp"

namespace memgauge {
namespace {

LaneRequest checked(LaneRequest request) {
    if (request.reader == nullptr) {
        throw RequestError("lane " + request.name + ": no reader to sample; open counters first");
    }
    if (request.interval_ns < Lane::shortest_interval_ns ||
        request.interval_ns > Lane::longest_interval_ns) {
        throw RequestError("lane " + request.name + ": cannot sample each " +
                           std::to_string(request.interval_ns) +
                           " ns; choose between 1 ms and 10 s");
    }
    return request;
}

}  // namespace

class Lane::Running : public LaneThreads {
public:
    explicit Running(LaneRequest request) : LaneThreads(std::move(request)), owner(getpid()) {}
    const pid_t owner;
};

Lane::Lane(LaneRequest request)
    : running_(std::make_unique<Running>(checked(std::move(request)))) {}

Lane::~Lane() {
    // After fork(2) the threads are the parent's, and so is what the file still lacks.
    if (getpid() != running_->owner) static_cast<void>(running_.release());
}

void Lane::stop() noexcept {
    running_->stop();
}

LaneState Lane::state() const {
    return running_->state();
}

std::optional<Reading> Lane::latest() const {
    return running_->latest();
}

}  // namespace memgauge
