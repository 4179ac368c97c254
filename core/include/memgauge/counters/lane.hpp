#pragma once
// A lane: counters read at a fixed interval by a thread of its own, kept in a file while it runs.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "memgauge/counters/source.hpp"

namespace memgauge {

struct LaneRequest {
    std::shared_ptr<Reader> reader;  // the lane's own: nobody else may read it meanwhile
    std::string path;                // of the file to make; see counters/lane/block.hpp
    std::int64_t interval_ns = 10'000'000;
    std::optional<int> cpu;  // to sample on; where the scheduler likes otherwise
    std::string name;        // of the thread, 15 characters at most are kept
};

// How far a lane is. Times are counted once a block.
struct LaneState {
    std::uint64_t samples = 0;  // taken
    std::uint64_t missed = 0;  // instants that passed during a reading or a pause, or were left out
    std::uint64_t dropped = 0;  // of those taken: lost, as the disk did not keep up or failed
    std::uint64_t bytes = 0;    // in the file
    std::uint64_t cpu_ns = 0;   // time that sampling and writing took of a core
    std::uint64_t longest_read_ns = 0;  // from begin to end of one reading
    int error_number = 0;               // that ended it: the disk is full, say
};

class Lane {
public:
    static constexpr std::int64_t shortest_interval_ns = 1'000'000;
    static constexpr std::int64_t longest_interval_ns = 10'000'000'000;

    // Returns when the first sample is taken. From then on one is taken at each multiple of the
    // interval; an instant that passes while the one before is still being read is missed, never
    // made up for. Where sampling takes more than 5% of a core, instants are left out until it does
    // not. Samples reach the file each second, by a second thread, so that a slow disk
    // delays none: it may hang for some seconds before samples are dropped, and dropped ones leave
    // a gap. A full disk ends the lane and nothing else. Memory does not grow.
    // RequestError: no reader, or an interval out of range. SystemError: the file cannot be made,
    // or no thread started.
    explicit Lane(LaneRequest request);
    // Ends as stop() does. In a process forked from the one that made it: leaves all as it is.
    ~Lane();
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    // Takes a last sample, writes all and closes the file. A second call only
    // waits for the first.
    void stop() noexcept;
    [[nodiscard]] LaneState state() const;
    // The last sample, for a live view; none before the first. Never delays sampling.
    [[nodiscard]] std::optional<Reading> latest() const;

private:
    class Running;
    std::unique_ptr<Running> running_;
};

}  // namespace memgauge
