#include "gpu/transfers/host_memory.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace memgauge::gpu {
namespace {

constexpr std::size_t touched_at_once = std::size_t{16} << 20U;

void touch(const Buffer& buffer, const StopCheck& stop) {
    for (std::size_t at = 0; at < buffer.size(); at += touched_at_once) {
        if (stop && stop()) throw Interrupted();
        std::fill_n(buffer.data() + at, std::min(touched_at_once, buffer.size() - at),
                    std::byte{1});
    }
}

// cuMemHostAlloc says the same whether it is the GPU's memory or the host's that is short.
[[noreturn]] void cannot_pin(const Device& device, cuda::Result result, const std::string& call,
                             std::size_t bytes) {
    throw RequestError(device.name() + ": cannot pin " + bytes_text(bytes) +
                       " of the host's memory: " + call + ": " +
                       cuda::text(device.calls(), result) +
                       "; ask for less or other memory (--host-memory), raise the limits on locked "
                       "memory (ulimit -l, the cgroup's), or take pageable memory");
}

}  // namespace

HostMemory::HostMemory(std::shared_ptr<Device> device, const GpuTransfersRequest& request,
                       const StopCheck& stop)
    : device_(std::move(device)) {
    const bool placed = !request.memory.nodes.empty() || request.memory.area != nullptr;
    if (request.host == GpuHost::pinned && !placed) {
        allocate(request.bytes);
        return;
    }
    buffer_ = std::make_unique<Buffer>(
        BufferRequest{.bytes = request.bytes, .memory = request.memory}, stop);
    touch(*buffer_, stop);
    if (request.host == GpuHost::pinned) pin();
}

void HostMemory::allocate(std::size_t bytes) {
    device_->enter();
    const cuda::Result result =
        device_->calls().host_allocate(&allocated_, bytes, cuda::host_alloc_portable);
    if (result != cuda::success) cannot_pin(*device_, result, "cuMemHostAlloc", bytes);
}

void HostMemory::pin() {
    device_->enter();
    const cuda::Result result = device_->calls().host_register(buffer_->data(), buffer_->size(),
                                                               cuda::host_register_portable);
    if (result != cuda::success) {
        cannot_pin(*device_, result, "cuMemHostRegister", buffer_->size());
    }
    registered_ = true;
}

HostMemory::~HostMemory() {
    const cuda::Calls& calls = device_->calls();
    calls.context_set(device_->context());
    if (registered_) calls.host_unregister(buffer_->data());
    if (allocated_ != nullptr) calls.host_free(allocated_);
}

std::byte* HostMemory::data() const noexcept {
    return buffer_ ? buffer_->data() : static_cast<std::byte*>(allocated_);
}

std::optional<Backing> HostMemory::backing() const {
    return buffer_ ? std::optional(buffer_->backing()) : std::nullopt;
}

}  // namespace memgauge::gpu
