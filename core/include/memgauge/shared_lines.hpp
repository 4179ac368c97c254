#pragma once
// Cache lines that threads hand to each other, or contend for.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "memgauge/buffer.hpp"
#include "memgauge/team.hpp"

namespace memgauge {

// What each thread does to the contended line, over and over: add one in one instruction, or read
// and swap until it succeeds.
enum class Contention : std::uint8_t { fetch_add, compare_and_swap };
std::string_view to_string(Contention) noexcept;  // "fetch-add", "compare-and-swap"
Contention contention_from_string(std::string_view);

// What two threads did with one line. By stores: each waits with loads until it reads what the
// other wrote, and answers with a store. At once after that by swaps: each tries to compare and
// swap until what it expects is there, which waits and answers in one instruction; a failed try
// takes the line, too.
struct HandoverSlices {
    Slice store;
    Slice compare_and_swap;
};

class SharedLines {
public:
    // Lines in `memory`, touched by thread `home_rank` of the team, which must outlive this object:
    // where no node is asked for, they lie on that thread's. RequestError: no such thread, and what
    // Buffer refuses.
    SharedLines(Team& team, std::size_t home_rank, const MemorySource& memory = {},
                const StopCheck& stop = {});
    ~SharedLines();

    // Threads a and b hand a line back and forth: a warm-up batch, then `batches` timed ones of
    // `batch_round_trips`, in one stamped iteration of each thread; b's lies within a's. Each call
    // uses the next line, so that samples see several places in a cache that is spread by address.
    // No stamps: a CPU was not to be had for 5 ms. `pingpong_ns` of both is the one-way latency by
    // stores, by the first quartile over batches. RequestError: the same thread twice, none of that
    // number, or amounts out of range.
    HandoverSlices hand_over(std::size_t a, std::size_t b, unsigned batches,
                             unsigned batch_round_trips);

    // All of `ranks` work on one line until together they have done `operations`; for fetch_add one
    // more for each thread, which shows it the end. One stamped iteration of each thread.
    // RequestError: no thread, one twice or none of that number, or amounts out of range.
    Slice contend(const std::vector<std::size_t>& ranks, Contention how, std::uint32_t operations);

    [[nodiscard]] Backing backing() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memgauge
