#pragma once
// Streams that really run beside the host: one thread each, begun with its first work. Time is the
// monotonic clock as work ends, or scripted: a stream's own time goes on by what its work costs.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "device.hpp"

namespace stand_in {

// Scripted: what each kind of work costs.
struct Clockwork {
    bool scripted = false;
    double launch_ns = 0;
    double kernel_ns_per_byte = 0;
    double copy_ns = 0;
    double to_device_ns_per_byte = 0;
    double to_host_ns_per_byte = 0;
    double peer_ns_per_byte = 0;
};
const Clockwork& clockwork();

// Does the work, and gives what it costs in scripted nanoseconds; told when it begins.
using Work = std::function<double(std::uint64_t begin_ns)>;

struct EventState {
    std::mutex turn;
    std::condition_variable changed;
    std::uint64_t asked = 0;  // times it was put into a stream
    std::uint64_t done = 0;
    std::uint64_t ns = 0;
    int device = 0;
};

class Queue {
public:
    Queue(Device& device, bool blocking);
    void put(Work work);
    void put_event(const std::shared_ptr<EventState>& event);
    void put_wait(const std::shared_ptr<EventState>& event);
    void drain();
    [[nodiscard]] bool idle();
    [[nodiscard]] bool blocking() const { return blocking_; }
    [[nodiscard]] Device& device() { return device_; }

private:
    struct Entry {
        Work work;
        std::uint64_t floor_ns;  // the host had seen this time when it queued the work
    };
    void serve();
    void run(const Entry& entry);

    Device& device_;
    bool blocking_;
    std::mutex turn_;
    std::condition_variable changed_;
    std::deque<Entry> waiting_;
    bool running_ = false;
    bool served_ = false;
    std::uint64_t now_ns_ = 0;
};

// Of a handle; the default stream of the current device for a null one, null without a context.
std::shared_ptr<Queue> queue_of(CUstream stream);
std::shared_ptr<Queue> default_queue(Device& device);
// All work of a device done, or only that of the streams that heed the default one.
void drain(Device& device, bool blocking_only);
// Work of the default stream waits for the streams that heed it, and the host for its end.
void submit(CUstream stream, Work work, bool host_waits = false);
void synchronised(Device& device, std::uint64_t ns);

}  // namespace stand_in

struct CUstream_st {
    std::shared_ptr<stand_in::Queue> queue;
};

struct CUevent_st {
    bool timed = true;
    std::shared_ptr<stand_in::EventState> state;
};
