#pragma once
// NVIDIA GPUs through the CUDA driver, which is loaded at run time, as is NVRTC, the compiler of
// the kernels. Their calls are declared by us (src/gpu/driver/cuda_abi.hpp,
// src/gpu/driver/nvrtc_abi.hpp); nothing of CUDA is needed to build. Sources: CUDA Driver API
// reference; NVRTC user guide.
//
// Errors: RequestError where the machine or the request is at fault (no such device, no memory
// left, a driver older than the compiler), SystemError where the GPU or its driver failed. Each
// names the call, what CUDA says, the device and what to do.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memgauge/counters/source.hpp"
#include "memgauge/error.hpp"
#include "memgauge/team.hpp"

namespace memgauge {

namespace gpu {
struct Driver;  // src/gpu/driver/driver.hpp
class Device;   // src/gpu/device.hpp
}  // namespace gpu

// A GPU as the driver describes it; what it does not report is none.
struct GpuFacts {
    int index = 0;  // as the driver numbers what it shows; CUDA_VISIBLE_DEVICES is heeded
    std::string name;
    std::string uuid;
    std::string bus_id;  // 0000:3b:00.0, in lower case as sysfs has it
    int compute_major = 0;
    int compute_minor = 0;
    int multiprocessors = 0;
    std::size_t memory_bytes = 0;
    std::optional<std::size_t> l2_bytes;
    std::optional<int> memory_clock_khz;
    std::optional<int> bus_bits;
    std::optional<int> clock_khz;
    std::optional<bool> ecc;
    bool integrated = false;
    int copy_engines = 0;
    bool mig = false;   // an instance of a partitioned GPU: its name holds " MIG "
    std::string error;  // why it cannot be used; empty: it can

    [[nodiscard]] std::string compute() const;  // "9.0"
};

// The driver, loaded and initialised; never unloaded.
class GpuDriver {
public:
    // Takes up to a second. RequestError: not found, not CUDA's, or it finds no GPU.
    explicit GpuDriver(const std::string& file = "libcuda.so.1");
    ~GpuDriver();
    GpuDriver(const GpuDriver&) = delete;
    GpuDriver& operator=(const GpuDriver&) = delete;

    [[nodiscard]] std::string version() const;  // of the CUDA it runs: "13.0"
    [[nodiscard]] const std::vector<GpuFacts>& devices() const noexcept;

private:
    friend class Gpu;
    std::shared_ptr<const gpu::Driver> driver_;
};

// One device: its primary context, retained, and a stream of our own. From any thread, one call at
// a time. What is made on it keeps it as long as needed.
class Gpu {
public:
    // `compiler`: the file of NVRTC. RequestError: no such device, one in prohibited or exclusive
    // compute mode that another process has, no compiler, or one that cannot serve this GPU.
    Gpu(const GpuDriver& driver, int index, const std::string& compiler);
    ~Gpu();
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    [[nodiscard]] const GpuFacts& facts() const noexcept;
    [[nodiscard]] std::size_t free_bytes() const;  // of its memory, asked now
    [[nodiscard]] std::string compiler_version() const;
    [[nodiscard]] std::vector<int> peers() const;  // whose memory it can reach directly

    // Stamps lie on the clock of the host by an event that is bracketed between two readings of it;
    // half of the bracket. Durations are the device's own. None: nothing was timed yet.
    [[nodiscard]] std::optional<double> clock_error_ns() const noexcept;

    // Counters around exactly the timed part of every later run, the device idle at both readings,
    // as Team::read_with().
    void read_with(std::shared_ptr<Reader> reader);
    [[nodiscard]] const std::optional<RegionReadings>& readings() const noexcept;

    [[nodiscard]] const std::shared_ptr<gpu::Device>& device() const noexcept { return device_; }

private:
    std::shared_ptr<gpu::Device> device_;
};

}  // namespace memgauge
