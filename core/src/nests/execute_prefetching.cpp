// The loop nests that prefetch loads, or twice, as running code.

#include "nests/memory.hpp"
#include "nests/running.hpp"

namespace memgauge::nests {

void run_prefetching(const Nest& nest, const InMemory& arrays, const Team* team) noexcept {
    run_prefetching(nest, arrays, [team] { return team != nullptr && team->stop_requested(); });
}

}  // namespace memgauge::nests
