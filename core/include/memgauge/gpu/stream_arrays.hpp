#pragma once
// The three STREAM arrays in a GPU's memory: filled, timed and validated there.

#include <cstddef>
#include <memory>
#include <vector>

#include "memgauge/gpu/driver.hpp"
#include "memgauge/gpu/kernels.hpp"
#include "memgauge/stream_arrays.hpp"

namespace memgauge {

struct GpuSliceRequest {
    // Of the end of each array, rounded up to whole blocks: run untimed with the same kernel
    // before, so that what another kernel left dirty in the L2 is not charged to this one.
    std::size_t lead_in_bytes = 0;
    std::size_t iterations = 1;  // launches over the whole arrays, each stamped
    // read only: walk just the first `prefix_elements` (whole 32; 0: all), L1 passed by, `repeats`
    // times within one launch; walked once untimed before, in place of a lead-in.
    std::size_t prefix_elements = 0;
    std::size_t repeats = 1;
};

// Contents and replay are those of StreamArrays (stream_arrays.hpp).
class GpuStreamArrays {
public:
    // RequestError: not so much memory free (says how much is).
    GpuStreamArrays(const Gpu& gpu, std::size_t elements, ElementType element,
                    const StopCheck& stop = {});
    ~GpuStreamArrays();

    [[nodiscard]] std::size_t elements() const noexcept;  // of each, rounded up to whole 32
    // Compiles all in one go, for the life of the GPU. run() compiles what was not.
    void prepare(const std::vector<GpuKernelSpec>& specs);
    // One ThreadSlice, with a stamp for each iteration by events of the device.
    Slice run(const GpuKernelSpec& asked, const GpuSliceRequest& request,
              const StopCheck& stop = {});
    std::vector<ArrayValidation> validate(const StopCheck& stop = {});
    void corrupt(char array, std::size_t element);  // for tests of the validation

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memgauge
