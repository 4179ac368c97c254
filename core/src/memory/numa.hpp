#pragma once
// NUMA placement by raw system calls: libnuma is not linked.

#include <cstddef>
#include <optional>
#include <vector>

namespace memgauge::memory {

// Online nodes that have memory, ascending; node 0 alone where the kernel knows no nodes.
std::vector<int> memory_nodes();

// RequestError naming the nodes there are, unless `node` is online and has memory.
void require_node(int node);

// Binds pages of the range not touched yet strictly to `node`. RequestError when the kernel or the
// container forbids it.
void bind_to_node(std::byte* begin, std::size_t bytes, int node);

struct Placement {
    int node;
    double share;  // of the sampled resident pages
};

// Where most of some hundred evenly spaced pages lie; empty where none is resident or the kernel
// does not tell.
std::optional<Placement> placement(const std::byte* begin, std::size_t bytes);

}  // namespace memgauge::memory
