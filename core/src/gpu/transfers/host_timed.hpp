#pragma once
// Copies of pageable memory, which the driver does in the calling thread: timed by the host.

#include <vector>

#include "gpu/transfers/lane.hpp"
#include "memgauge/gpu/transfers.hpp"

namespace memgauge::gpu {

// One or two lanes; the second on a thread of its own, which begins with the first. Interrupted:
// `stop` said so, asked between copies.
Slice host_timed(Device& device, const std::vector<TransferLane*>& lanes,
                 const GpuTransfersRun& run, const StopCheck& stop);

}  // namespace memgauge::gpu
