#pragma once
// The initialised driver and the devices it shows.

#include <string>
#include <vector>

#include "gpu/driver/cuda_abi.hpp"
#include "memgauge/gpu/driver.hpp"

namespace memgauge::gpu {

struct Driver {
    cuda::Calls calls;
    int version = 0;  // 13000: CUDA 13.0
    std::vector<cuda::DeviceHandle> handles;
    std::vector<GpuFacts> devices;

    [[nodiscard]] std::string version_text() const;  // "13.0"
};

// "GPU-" or "MIG-" and 32 hexadecimal digits, as nvidia-smi writes them.
std::string uuid_text(const cuda::Uuid& uuid, bool mig);

// Initialises the driver and asks it for its devices.
Driver started(const cuda::Calls& calls);

}  // namespace memgauge::gpu
