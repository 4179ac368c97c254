#pragma once
// One thread's traffic: where it is, and what it has issued.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernels/traffic_table.hpp"
#include "load/memory.hpp"
#include "load/spec.hpp"
#include "threads/spin.hpp"

namespace memgauge::load {

// Lines.
struct Counts {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
};

// Counts that one thread writes and another reads now and then, on a line of their own. Two words,
// not one transaction: a reader may see them one look apart.
class alignas(line_bytes) PublishedCounts {
public:
    void publish(const Counts& counts) noexcept {
        reads_.store(counts.reads, std::memory_order_relaxed);
        writes_.store(counts.writes, std::memory_order_relaxed);
    }
    [[nodiscard]] Counts look() const noexcept {
        return {reads_.load(std::memory_order_relaxed), writes_.load(std::memory_order_relaxed)};
    }

private:
    std::atomic<std::uint64_t> reads_{0};
    std::atomic<std::uint64_t> writes_{0};
};

// Everything a generator touches while it runs lies on lines of its own.
class alignas(line_bytes) Generator {
public:
    explicit Generator(const Regions& regions) noexcept;

    // What to do from now on; goes on where the same order was left.
    void follow(const TrafficSpec& spec, const Mix& mix) noexcept;
    // Issues so many pieces.
    void advance(std::size_t pieces) noexcept {
        const std::size_t more = mix_.kernel(task_, pieces);
        const std::uint64_t reads = 2 * (pieces * mix_.slots + more);
        issued_.reads += reads;
        issued_.writes += pieces * kernels::lines_per_piece - reads;
    }
    // Waits for non-temporal stores.
    void close() const noexcept {
        if (mix_.close != nullptr) mix_.close();
    }
    void publish() noexcept { published_.publish(issued_); }

    [[nodiscard]] const Counts& issued() const noexcept { return issued_; }  // own thread
    [[nodiscard]] const PublishedCounts& published() const noexcept { return published_; }
    [[nodiscard]] std::size_t line_bytes() const noexcept { return line_bytes_; }
    // Pieces between two looks at whether to stop.
    [[nodiscard]] std::size_t pieces_per_look() const noexcept;

private:
    struct Cursor {
        std::size_t read_at = 0;
        std::size_t write_at = 0;
    };

    kernels::TrafficTask task_;
    Mix mix_{};
    Counts issued_;
    std::array<Cursor, kernels::traffic_order_count> cursors_;
    std::size_t order_ = 0;
    std::size_t line_bytes_;
    PublishedCounts published_;
};

}  // namespace memgauge::load
