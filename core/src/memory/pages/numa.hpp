#pragma once
// NUMA placement by raw system calls: libnuma is not linked.

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memgauge/error.hpp"

namespace memgauge::memory {

inline constexpr int mpol_bind = 2;  // MPOL_BIND of linux/mempolicy.h

// Online nodes that have memory, ascending; node 0 alone where the kernel knows no nodes.
std::vector<int> memory_nodes();

// What all nodes have together; 0: the kernel does not report it.
std::size_t physical_bytes() noexcept;

// RequestError naming the nodes there are, unless `node` is online and has memory.
void require_node(int node);

// Binds pages of the range not touched yet strictly to `node`. RequestError when the kernel or the
// container forbids it.
void bind_to_node(std::byte* begin, std::size_t bytes, int node);

// A bit for each node, as the system calls of memory policies take them, and how many of its bits
// they are to be known.
std::vector<unsigned long> node_mask(const std::vector<int>& nodes);
std::size_t mask_bits(const std::vector<unsigned long>& mask);
// Why such a call failed, in words.
std::string bind_refusal(int node, int error_number);

struct Placement {
    int node;
    double share;                               // of the resident pages looked at
    std::vector<std::pair<int, double>> nodes;  // all of them, ascending, with their shares
};

// Where most pages of a mapping lie; empty where none is resident or the kernel does not report it.
// Some thousand pages, spread evenly but not in step, are asked for by move_pages; where a
// container forbids that, all are counted from numa_maps, which has a line for the mapping that
// starts at `begin`.
std::optional<Placement> placement(const std::byte* begin, std::size_t bytes);

// The counts of that line of /proc/self/numa_maps (numa(7)).
std::optional<Placement> parse_numa_maps(std::istream& text, std::uintptr_t begin);

}  // namespace memgauge::memory
