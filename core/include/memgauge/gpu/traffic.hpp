#pragma once
// Traffic of a chosen mix in a GPU's memory.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "memgauge/gpu/driver.hpp"
#include "memgauge/gpu/kernels.hpp"
#include "memgauge/stream_arrays.hpp"

namespace memgauge {

struct GpuTrafficRequest {
    unsigned reads = 1;  // of reads + writes accesses; not both 0, sum at most 1000
    unsigned writes = 0;
    std::size_t bytes = 0;  // of all accesses of one iteration; rounded up to whole tiles
    GpuHint hint = GpuHint::normal;
    std::size_t lead_in_bytes = 0;  // of the same, untimed before
    std::size_t iterations = 1;
};

// Loads from one array and stores to another, 16 bytes each by each thread, alternating as evenly
// as their ratio allows; both arrays are walked in order, wrapping, each run going on where the
// last ended. What is stored shows which store put it there, so that the last one to every address
// is validated.
class GpuTraffic {
public:
    // `bytes` of each array, rounded up to whole MiB.
    GpuTraffic(const Gpu& gpu, std::size_t bytes, const StopCheck& stop = {});
    ~GpuTraffic();

    [[nodiscard]] std::size_t bytes() const noexcept;
    // Compiles for all (reads, writes) in one go, without hint; run() compiles what was not.
    void prepare(const std::vector<std::pair<unsigned, unsigned>>& mixes);
    // One ThreadSlice; read_bytes and write_bytes are exact, of all iterations together.
    Slice run(const GpuTrafficRequest& request, const StopCheck& stop = {});
    // One entry, array 'w': elements are 16 bytes.
    std::vector<ArrayValidation> validate(const StopCheck& stop = {});
    void corrupt(std::size_t element);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memgauge
