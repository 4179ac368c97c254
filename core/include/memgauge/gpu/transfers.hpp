#pragma once
// Copies between the host's memory and a GPU's, and between two GPUs', by their copy engines.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "memgauge/buffer.hpp"
#include "memgauge/gpu/driver.hpp"
#include "memgauge/memory_source.hpp"
#include "memgauge/stream_arrays.hpp"

namespace memgauge {

// pinned: page-locked, which copy engines reach by themselves. pageable: ordinary memory, which the
// driver copies through pinned memory of its own.
enum class GpuHost : std::uint8_t { pinned, pageable };
std::string_view to_string(GpuHost) noexcept;
GpuHost gpu_host_from_string(std::string_view);

enum class GpuDirection : std::uint8_t {
    host_to_device,
    device_to_host,
    both,
    to_peer,
    from_peer,
    both_peers
};
std::string_view to_string(GpuDirection) noexcept;  // "host-to-device", ...
GpuDirection gpu_direction_from_string(std::string_view);

struct GpuTransfersRequest {
    std::size_t bytes = 0;  // the largest transfer; so much at both ends, for each direction
    GpuHost host = GpuHost::pinned;
    // Pinned: ordinary memory is allocated by the driver (cuMemHostAlloc); pages of nodes or of an
    // area are ours, touched by the calling thread and then registered (cuMemHostRegister).
    MemorySource memory;
};

struct GpuTransfersRun {
    GpuDirection direction = GpuDirection::host_to_device;
    std::size_t bytes = 0;       // of one copy
    std::size_t iterations = 1;  // stamps
    // Copies in each stamp, back to back: events resolve about 0.5 us, and each takes a part of
    // one.
    std::size_t repeats = 1;
};

// Each direction has its own two buffers, its own stream and a ThreadSlice of its own, in the order
// of the names above; bytes are not counted in it. Source buffers hold words that are never zero
// and never repeat; what arrived is compared with them.
//
// Pinned, and between GPUs: copies of a direction are queued back to back on its stream while a
// kernel holds the GPU, and stamped from one event of the GPU to the next (cuEventElapsedTime).
// Both directions begin when the kernel ends. Pageable: a copy is one call, and the host's clock is
// read around it (and around waiting for the stream, since a call for memory to a GPU returns when
// the last of it was staged); both directions are two threads of the host.
class GpuTransfers {
public:
    // RequestError: not so much memory, on the host or the GPU, or it cannot be pinned.
    GpuTransfers(const Gpu& gpu, const GpuTransfersRequest& request, const StopCheck& stop = {});
    // With another GPU: directions to_peer, from_peer, both_peers. Streams are those of `gpu`.
    GpuTransfers(const Gpu& gpu, const Gpu& peer, std::size_t bytes, const StopCheck& stop = {});
    ~GpuTransfers();

    Slice run(const GpuTransfersRun& request, const StopCheck& stop = {});
    // Queues a run and returns at once, so that the host can work meanwhile; finish() waits for it.
    // Drivers queue about a thousand copies and events; with more this returns when the rest fits.
    // RequestError: pageable, or one is under way.
    void start(const GpuTransfersRun& request, const StopCheck& stop = {});
    Slice finish(const StopCheck& stop = {});
    // Of the last run, timed by events: whether its copies may have waited for the host to queue
    // them, so that stamps hold what the host took. run() tries again before it says so.
    [[nodiscard]] bool host_was_slower() const noexcept;
    // Between GPUs: whether one reaches the other's memory; else the host's memory lies between.
    [[nodiscard]] bool direct() const noexcept;

    // Every 8 bytes (at the end, fewer) that arrived since the last call, for each direction that
    // ran: exact. Array 'd': in this GPU's memory, 'h': the host's, 'p': the other GPU's. The error
    // is the share that differs. What arrived is overwritten after.
    std::vector<ArrayValidation> validate(const StopCheck& stop = {});
    void corrupt(GpuDirection direction, std::size_t element);  // for tests of the validation
    // Of the host's buffers that are ours; those that the driver allocates are none.
    [[nodiscard]] std::vector<Backing> backing() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memgauge
