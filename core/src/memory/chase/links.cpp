#include "memory/chase/links.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "memgauge/error.hpp"
#include "memory/pages/huge_pages.hpp"

namespace memgauge::memory {

namespace {

using Stop = std::function<bool()>;

// Nodes handled between two looks at `stop`, so that few MiB are touched for the first time.
constexpr std::size_t touched_between_stops = std::size_t{4} << 20U;
constexpr std::size_t swaps_between_stops = std::size_t{1} << 14U;

// Turns the successors of `count` nodes, one cycle or several, so that a random one of all single
// cycles over them results when each was its own successor (Sattolo, "An algorithm to generate a
// random cyclic permutation", Information Processing Letters 22, 1986). When each was the end of a
// separate cycle, those cycles are joined one after the other in random order.
//
// Partners are drawn some way ahead and prefetched, because in a large ring each is a cache miss.
template <class Node>
bool shuffle_into_one_cycle(std::size_t count, Node node, SplitMix64& random, const Stop& stop) {
    constexpr std::size_t ahead = 16;
    std::array<void**, ahead> partners{};
    std::size_t drawn = count - 1;
    const auto draw = [&] {
        void** const partner = node(random.below(drawn));
        __builtin_prefetch(partner, 1);
        partners[drawn-- % ahead] = partner;
    };
    for (std::size_t early = std::min(ahead, drawn); early != 0; --early) {
        draw();
    }
    for (std::size_t last = count - 1; last > 0; --last) {
        if (last % swaps_between_stops == 0 && stop()) {
            return false;
        }
        std::swap(*node(last), *partners[last % ahead]);
        if (drawn > 0) {
            draw();
        }
    }
    return true;
}

// Calls `set(index)` for every node in the order of addresses: the first touch.
template <class Set>
bool touch_all(const Layout& layout, std::size_t node_bytes, Set set, const Stop& stop) {
    const std::size_t step = std::max<std::size_t>(1, touched_between_stops / node_bytes);
    for (std::size_t first = 0; first < layout.nodes(); first += step) {
        if (stop()) {
            return false;
        }
        const std::size_t end = std::min(layout.nodes(), first + step);
        for (std::size_t index = first; index < end; ++index) {
            set(index);
        }
    }
    return true;
}

// Each block becomes a cycle of its own while it is in cache, then the blocks are joined at their
// first nodes.
void link_blocks(const Layout& layout, SplitMix64& random, const Stop& stop) {
    const std::size_t per_block = layout.nodes_per_block();
    const std::size_t blocks = (layout.nodes() + per_block - 1) / per_block;
    for (std::size_t block = 0; block < blocks; ++block) {
        const std::size_t first = block * per_block;
        const std::size_t count = std::min(per_block, layout.nodes() - first);
        const auto node = [&](std::size_t index) { return layout.node(first + index); };
        if (stop() || !shuffle_into_one_cycle(count, node, random, stop)) {
            return;
        }
    }
    shuffle_into_one_cycle(
        blocks, [&](std::size_t block) { return layout.node(block * per_block); }, random, stop);
}

}  // namespace

Layout::Layout(std::byte* base, const ChaseRequest& request) noexcept
    : base_(base),
      node_bytes_(request.node_bytes),
      nodes_(request.bytes / request.node_bytes),
      nodes_per_block_(request.order == ChaseOrder::block_random
                           ? std::min(nodes_, request.block_bytes / request.node_bytes)
                           : nodes_),
      lines_(request.order == ChaseOrder::stride
                 ? 1
                 : std::max<std::size_t>(1, request.node_bytes / line_bytes)),
      seed_(SplitMix64::mix(request.seed)) {}

bool Layout::holds(const void* address) const noexcept {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base_);
    const std::size_t index = offset / node_bytes_;
    return index < nodes_ && node(index) == address;
}

void link(const Layout& layout, const ChaseRequest& request, const Stop& stop) {
    const std::size_t nodes = layout.nodes();
    const bool stride = request.order == ChaseOrder::stride;
    const auto first_successor = [&](std::size_t index) {
        *layout.node(index) = layout.node(stride ? (index + 1) % nodes : index);
    };
    if (!touch_all(layout, request.node_bytes, first_successor, stop) || stride) {
        return;
    }
    SplitMix64 random(request.seed);
    if (request.order == ChaseOrder::block_random) {
        link_blocks(layout, random, stop);
    } else {
        shuffle_into_one_cycle(
            nodes, [&](std::size_t index) { return layout.node(index); }, random, stop);
    }
}

void check(const ChaseRequest& request) {
    const std::string what = "cannot build a chase ring of " + size_text(request.bytes) + ": ";
    const std::string node = std::to_string(request.node_bytes) + " bytes";
    if (request.node_bytes == 0 || request.node_bytes % sizeof(void*) != 0) {
        throw RequestError(what + "nodes of " + node +
                           " cannot each hold a pointer; use a multiple of " +
                           std::to_string(sizeof(void*)) + " bytes, for example 64");
    }
    if (request.bytes / request.node_bytes < 2) {
        throw RequestError(what + "it holds fewer than two nodes of " + node +
                           "; ask for a larger ring or smaller nodes");
    }
    if (request.order != ChaseOrder::block_random) {
        return;
    }
    if (request.block_bytes == 0 || request.block_bytes % request.node_bytes != 0) {
        throw RequestError(what + "blocks of " + std::to_string(request.block_bytes) +
                           " bytes do not hold a whole number of nodes of " + node +
                           "; use a multiple, for example the page size");
    }
}

}  // namespace memgauge::memory
