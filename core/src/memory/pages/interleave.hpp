#pragma once
// Pages dealt out to several NUMA nodes in turn.

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <vector>

#include "memgauge/error.hpp"

namespace memgauge::memory {

// Pages of the range not touched yet go to the nodes one each in turn, as MPOL_INTERLEAVE does.
// RequestError when the kernel or the container forbids it.
void interleave(std::byte* begin, std::size_t bytes, const std::vector<int>& nodes);

// The same with weights[i] pages for nodes[i] before the next has its turn, as Linux's weighted
// interleave deals them (MPOL_WEIGHTED_INTERLEAVE, Linux 6.9), whose weights are the machine's and
// root's to set; here they are the buffer's, and any kernel does. The pages, of `page_bytes` each,
// are touched here, by threads with a memory policy of their own; the range is then left under
// MPOL_INTERLEAVE of these nodes, so that automatic NUMA balancing does not move what was placed.
// RequestError: as above; a node that is full, where the kernel reports that. Interrupted: `stop`
// said so.
void interleave_weighted(std::byte* begin, std::size_t bytes, std::size_t page_bytes,
                         const std::vector<int>& nodes, const std::vector<unsigned>& weights,
                         const StopCheck& stop = {});

// Refuses what would fill a node of ordinary pages, because the kernel then kills a process instead
// of refusing. RequestError: it has less left than its share of the range.
void require_room(std::size_t bytes, std::size_t page_bytes, const std::vector<int>& nodes,
                  const std::vector<unsigned>& weights);

// How many of `pages` pages nodes[i] gets, dealt out like that.
std::vector<std::size_t> dealt_pages(std::size_t pages, const std::vector<unsigned>& weights);

// What a node's meminfo (numa(7)) says can still be had: free, or clean pages of files.
std::optional<std::uint64_t> parse_node_room(std::istream& meminfo);

}  // namespace memgauge::memory
