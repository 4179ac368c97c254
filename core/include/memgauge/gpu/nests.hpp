#pragma once
// Loop nests of known traffic (nests.hpp) in a GPU's memory, by as many threads at once as the nest
// has trips or results. No tiles, no shared memory: reference kernels.

#include <cstddef>
#include <memory>
#include <vector>

#include "memgauge/gpu/driver.hpp"
#include "memgauge/nests.hpp"

namespace memgauge {

// How a nest is laid over threads. Maps (copies, re-sorts, STREAM): one for each trip of the
// innermost loop, consecutive threads being consecutive trips of it, whatever their distance in the
// arrays. Inner products (GEMV, GEMM): one for each element of the result, consecutive threads
// being consecutive elements of it, and each goes through the innermost loop as the nest has it: of
// GEMV next to each other they read rows of A that are n apart, of GEMM the same element of A and
// neighbours of B.
class GpuNest {
public:
    // `copies` sets of arrays that are used in turn, as LoopNest's; filled on the device with the
    // same numbers. RequestError: not so much memory free, or stores are to be prefetched.
    GpuNest(const Gpu& gpu, const NestSpec& spec, std::size_t copies, const StopCheck& stop = {});
    ~GpuNest();

    // Executes the nest so often, each stamped by events of the device, going on with the next set:
    // one ThreadSlice. What the arrays hold once (of GEMV's matrix every walk) is booked as this
    // process's known traffic; nothing is read before it is written.
    Slice run(std::size_t repetitions, const StopCheck& stop = {});
    // As LoopNest::validate(), on the device; of inner products what is compared comes to the host.
    [[nodiscard]] std::vector<NestValidation> validate(const StopCheck& stop = {});
    void corrupt(std::size_t array, std::size_t element);  // of the first set, for tests

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memgauge
