#pragma once
// Memory of the host that a GPU copies from and to.

#include <cstddef>
#include <memory>
#include <optional>

#include "gpu/device.hpp"
#include "memgauge/buffer.hpp"
#include "memgauge/gpu/transfers.hpp"

namespace memgauge::gpu {

class HostMemory {
public:
    // As GpuTransfersRequest says; all of it was touched, by the calling thread where it is ours.
    HostMemory(std::shared_ptr<Device> device, const GpuTransfersRequest& request,
               const StopCheck& stop);
    ~HostMemory();
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

    [[nodiscard]] std::byte* data() const noexcept;
    [[nodiscard]] std::optional<Backing> backing() const;  // none: the driver's

private:
    void allocate(std::size_t bytes);
    void pin();

    std::shared_ptr<Device> device_;
    std::unique_ptr<Buffer> buffer_;
    void* allocated_ = nullptr;  // by the driver
    bool registered_ = false;
};

}  // namespace memgauge::gpu
