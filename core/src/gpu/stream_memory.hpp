#pragma once
// The arrays a, b and c in device memory, and the launches that walk, fill and compare them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/device.hpp"
#include "kernels/arrays/ramp.hpp"
#include "kernels/arrays/replay.hpp"
#include "memgauge/gpu/kernels.hpp"

namespace memgauge::gpu {

class StreamMemory {
public:
    static constexpr std::size_t array_count = 3;
    static constexpr std::size_t grain =
        32;  // elements; lengths are whole ones: 128 bytes of floats

    // `elements` are rounded up. RequestError: none, more than 2^40, or not so much memory.
    StreamMemory(std::shared_ptr<Device> device, std::size_t elements, ElementType element);

    // What fill(), repeated() and compare() need.
    void prepare();

    // The part of each array that begins at element `first`; nothing here waits.
    void queue(const GpuKernelSpec& spec, cuda::Function function, std::size_t first,
               std::size_t count, double scalar) const;
    // Of array a, from its begin, L1 passed by; `function`: repeated().
    void queue_repeated(cuda::Function function, std::size_t count, std::size_t repeats) const;
    [[nodiscard]] cuda::Function repeated() const;
    void fill(std::size_t first, std::size_t count) const;

    // How far elements are from a multiple of the ramp, one array at a time. Waits.
    [[nodiscard]] kernels::Deviation compare(std::size_t array, std::size_t first,
                                             std::size_t count, const kernels::Multiple& multiple,
                                             const StopCheck& stop);
    // Flips the highest bit of the fraction of one element. Waits.
    void flip(std::size_t array, std::size_t at) const;

    [[nodiscard]] Device& device() const noexcept { return *device_; }
    [[nodiscard]] ElementType element() const noexcept { return element_; }
    [[nodiscard]] std::size_t elements() const noexcept { return elements_; }

private:
    [[nodiscard]] cuda::DevicePointer at(std::size_t array, std::size_t first) const noexcept;
    void launch_scaled(cuda::Function function, std::uint64_t blocks, unsigned threads,
                       cuda::DevicePointer x, cuda::DevicePointer y, cuda::DevicePointer out,
                       std::size_t count, double scalar, std::uint64_t first) const;
    [[nodiscard]] unsigned multiprocessors() const noexcept {
        return static_cast<unsigned>(device_->facts().multiprocessors);
    }

    std::shared_ptr<Device> device_;
    ElementType element_;
    std::size_t elements_;
    std::array<DeviceMemory, array_count> arrays_;
    std::unique_ptr<DeviceMemory> found_;  // what compare() finds; made by the first
};

}  // namespace memgauge::gpu
