#pragma once
// The three STREAM arrays of one team, filled, timed and validated.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "memgauge/buffer.hpp"
#include "memgauge/kernels.hpp"
#include "memgauge/team.hpp"

namespace memgauge {

struct ArraysRequest {
    ElementType element = ElementType::f64;
    std::size_t elements = 0;  // of each array
    PagePolicy pages = PagePolicy::automatic;
    MemorySource memory;           // first touch is by the thread that uses the part
    std::size_t offset_bytes = 0;  // array k is shifted by k * offset_bytes
    std::size_t blocks = 1;        // each thread's part is cut into this many equal blocks
};

// Which blocks of each thread's part one slice covers, and how often.
struct SliceRequest {
    std::size_t first_block = 0;
    std::size_t blocks = 1;          // timed; consecutive, wrapping
    std::size_t lead_in_blocks = 0;  // the ones just before, run untimed with the same kernel
    std::size_t iterations = 1;      // times the timed blocks are walked, each stamped
    // read only: walk just the first `prefix_elements` of each thread's part (0: the blocks), with
    // `repeats` walks inside one stamp, so that small footprints outlast the clock. They are walked
    // once untimed before, in place of a lead-in.
    std::size_t prefix_elements = 0;
    std::size_t repeats = 1;
    bool pingpong = false;  // tag the slice with the team's core-to-core latency
};

struct ArrayValidation {
    char array;  // 'a', 'b', 'c'; 'w': what traffic writes
    double average_relative_error;
    double epsilon;  // 1e-13 for double, 1e-6 for float, as STREAM
    std::size_t elements;
    std::size_t failed_elements;  // relative error above epsilon
    std::size_t first_failed;     // index, when failed_elements > 0
    bool passed;
};

// Array element i starts as a multiple of the ramp x(i) = 1 + i * 2^-k: real, never zero and not
// repeating (some processors write zeros three times faster). Every kernel keeps each block a
// multiple of x, and the multiples are replayed in scalars as STREAM's own check does.
class StreamArrays {
public:
    // Allocates, first-touches and fills on the team's threads. The team must outlive this object.
    StreamArrays(Team& team, const ArraysRequest& request, const StopCheck& stop = {});
    ~StreamArrays();

    Slice run(const KernelSpec& spec, const SliceRequest& slice);
    // Compares every element with the replayed value; then the arrays are as before.
    std::vector<ArrayValidation> validate(const StopCheck& stop = {});
    [[nodiscard]] std::vector<Backing> backing() const;   // of a, b, c
    [[nodiscard]] std::size_t elements() const noexcept;  // of each array, rounded as laid out
    [[nodiscard]] std::size_t elements_per_block() const noexcept;  // of one thread

    // For tests of the validation: flips one element, as corrupted memory would.
    void corrupt(char array, std::size_t element);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memgauge
