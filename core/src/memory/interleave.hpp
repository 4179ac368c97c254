#pragma once
// Pages dealt out to several NUMA nodes in turn.

#include <cstddef>
#include <vector>

namespace memgauge::memory {

// Pages of the range not touched yet go to the nodes one each in turn, as MPOL_INTERLEAVE does.
// RequestError when the kernel or the container forbids it.
void interleave(std::byte* begin, std::size_t bytes, const std::vector<int>& nodes);

// The same with weights[i] pages for nodes[i] before the next has its turn, as Linux's weighted
// interleave deals them (MPOL_WEIGHTED_INTERLEAVE, Linux 6.9), whose weights are the machine's and
// root's to set; here they are the buffer's, and any kernel does. The pages, of `page_bytes` each,
// are touched here, under a policy of this thread that is put back after.
// RequestError: as above; a node that is full.
void interleave_weighted(std::byte* begin, std::size_t bytes, std::size_t page_bytes,
                         const std::vector<int>& nodes, const std::vector<unsigned>& weights);

}  // namespace memgauge::memory
