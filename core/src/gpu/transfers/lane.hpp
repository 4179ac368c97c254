#pragma once
// One direction of transfers: two buffers, a stream and its events, and what has to arrive.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/transfers/host_memory.hpp"
#include "memgauge/stream_arrays.hpp"

namespace memgauge::gpu {

// A buffer: of the host, or of a GPU.
struct TransferEnd {
    std::unique_ptr<HostMemory> host;
    std::shared_ptr<Device> device;  // whose memory it is, else null
    std::unique_ptr<DeviceMemory> memory;

    void write(const void* from, std::size_t begin, std::size_t bytes) const;
    void read(void* into, std::size_t begin, std::size_t bytes) const;
};

class TransferLane {
public:
    // Streams and events are those of `device`. `number` distinguishes the contents of one lane
    // from another's; `array`: the name of the target in validations.
    TransferLane(std::shared_ptr<Device> device, TransferEnd source, TransferEnd target,
                 std::size_t bytes, unsigned number, char array, const StopCheck& stop);
    ~TransferLane();
    TransferLane(const TransferLane&) = delete;
    TransferLane& operator=(const TransferLane&) = delete;

    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] cuda::Stream stream() const noexcept { return stream_; }
    [[nodiscard]] const HostMemory* host() const noexcept;

    // Makes as many events as stamps of a run need.
    void prepare(std::size_t stamps);
    // Queues one copy, or the event of a stamp.
    void copy(std::size_t bytes) const;
    void record(std::size_t event) const;
    void wait(const StopCheck& stop) const { device_->wait(stream_, stop); }
    [[nodiscard]] bool happened(std::size_t event) const;
    // Stamps of a run that is over, by `anchor`, which came after it.
    [[nodiscard]] ThreadSlice stamped(std::size_t stamps, const Anchor& anchor) const;
    void arrived(std::size_t bytes) noexcept;

    // True: something arrived, and `into` says what came of it.
    bool validate(ArrayValidation& into, const StopCheck& stop);
    void corrupt(std::size_t element) const;

private:
    void fill(const StopCheck& stop) const;
    void clear(std::size_t bytes, const StopCheck& stop) const;

    std::shared_ptr<Device> device_;
    TransferEnd source_;
    TransferEnd target_;
    std::size_t bytes_;
    std::uint64_t salt_;
    char array_;
    cuda::Stream stream_ = nullptr;
    std::vector<cuda::Event> events_;
    std::size_t arrived_ = 0;  // of the target, from its begin, since it was cleared
};

}  // namespace memgauge::gpu
