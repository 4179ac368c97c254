#pragma once
// The two threads of a lane: one samples into a ring of blocks, one writes blocks to the file.

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "counters/lane/block.hpp"
#include "counters/lane/file.hpp"
#include "memgauge/counters/lane.hpp"

namespace memgauge {

class LaneThreads {
public:
    // The request was checked. Returns when the first sample is taken.
    explicit LaneThreads(LaneRequest request);
    ~LaneThreads();
    LaneThreads(const LaneThreads&) = delete;
    LaneThreads& operator=(const LaneThreads&) = delete;

    void stop() noexcept;
    [[nodiscard]] LaneState state() const;
    [[nodiscard]] std::optional<Reading> latest() const;

private:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr std::size_t ring_blocks = 8;  // each of a second: what a disk may hang

    void start();
    void sample_until_stopped() noexcept;
    // The next instant to sample; those between are missed.
    [[nodiscard]] Time instant_after(Time last) noexcept;
    // Skips instants where sampling took more of a core than it may, as when a process tree grew.
    void spare_the_core() noexcept;
    void take_sample() noexcept;
    void publish() noexcept;
    // Whether the lane goes on; false: it was stopped, or its file failed.
    bool wait_until(Time deadline) noexcept;
    void hand_over(bool last) noexcept;

    void write_until_done() noexcept;
    void write_block(LaneBlock& block) noexcept;

    [[nodiscard]] LaneBlock& filling() noexcept { return ring_[filled_ % ring_blocks]; }

    const LaneRequest request_;
    const std::chrono::nanoseconds interval_;
    LaneFile file_;
    std::vector<LaneBlock> ring_;
    std::vector<std::uint8_t> encoded_;  // the writer's
    Reading reading_;                    // the sampler's, as the next three
    std::int64_t stride_ = 1;            // instants from one sample to the next
    Time spared_at_;
    std::uint64_t spared_cpu_ns_ = 0;

    mutable std::mutex mutex_;
    std::condition_variable sampler_wakes_;
    std::condition_variable writer_wakes_;
    std::condition_variable changed_;  // started, or a block was written
    std::size_t filled_ = 0;           // blocks handed over; the sampler's to change
    std::size_t written_ = 0;          // blocks written or lost; the writer's to change
    bool started_ = false;
    bool stopping_ = false;
    bool sampled_ = false;  // the sampler has ended
    int pin_error_ = 0;
    std::uint64_t written_bytes_ = 0;
    std::uint64_t sampler_cpu_ns_ = 0;
    std::uint64_t writer_cpu_ns_ = 0;
    int error_number_ = 0;

    std::atomic<std::uint64_t> samples_{0};
    std::atomic<std::uint64_t> missed_{0};
    std::atomic<std::uint64_t> dropped_{0};
    std::atomic<std::uint64_t> longest_read_ns_{0};

    mutable std::mutex latest_mutex_;  // the sampler only ever tries it
    Reading latest_;
    bool has_latest_ = false;

    std::mutex stop_mutex_;  // of who joins the threads
    std::thread sampler_;
    std::thread writer_;
};

}  // namespace memgauge
