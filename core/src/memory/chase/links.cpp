#include "memory/chase/links.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "memgauge/buffer.hpp"
#include "memgauge/error.hpp"
#include "memory/pages/huge_pages.hpp"

namespace memgauge::memory {

namespace {

using Stop = std::function<bool()>;

// Touched by one linker at a time: whole huge pages, and few enough for a look at `stop` after it.
constexpr std::size_t touched_at_once = std::size_t{4} << 20U;
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

constexpr std::size_t parts_of(std::size_t count, std::size_t size) noexcept {
    return (count + size - 1) / size;
}

// Calls `part(number, first, end)` for all parts of `size` out of `count`; each linker takes the
// next one when it is done with the last. False: they were told to stop.
template <class Part>
bool for_parts(const Linkers& linkers, std::size_t count, std::size_t size, Part part) {
    const std::size_t parts = parts_of(count, size);
    std::atomic<std::size_t> next{0};
    linkers.parallel([&] {
        for (std::size_t number = next++; number < parts && !linkers.stop(); number = next++) {
            part(number, number * size, std::min(count, (number + 1) * size));
        }
    });
    return !linkers.stop();
}

// Writes the successor of every node, in the order of addresses: the first touch.
template <class Successor>
void write_all(const Layout& layout, std::size_t node_bytes, Successor successor,
               const Linkers& linkers) {
    const std::size_t step = std::max<std::size_t>(1, touched_at_once / node_bytes);
    for_parts(linkers, layout.nodes(), step, [&](std::size_t, std::size_t first, std::size_t end) {
        for (std::size_t index = first; index < end; ++index) {
            *layout.node(index) = successor(index);
        }
    });
}

// Each block is touched and becomes a cycle of its own while it is in cache, then the blocks are
// joined at their first nodes.
void link_blocks(const Layout& layout, std::uint64_t seed, const Linkers& linkers) {
    const std::size_t per_block = layout.nodes_per_block();
    const std::size_t blocks = parts_of(layout.nodes(), per_block);
    const auto link_one = [&](std::size_t block, std::size_t first, std::size_t end) {
        for (std::size_t index = first; index < end; ++index) {
            *layout.node(index) = layout.node(index);
        }
        SplitMix64 random(seed, block);
        const auto node = [&](std::size_t index) { return layout.node(first + index); };
        shuffle_into_one_cycle(end - first, node, random, linkers.stop);
    };
    const auto join = [&](std::size_t, std::size_t, std::size_t) {
        SplitMix64 random(seed, blocks);
        const auto node = [&](std::size_t block) { return layout.node(block * per_block); };
        shuffle_into_one_cycle(blocks, node, random, linkers.stop);
    };
    if (for_parts(linkers, layout.nodes(), per_block, link_one)) {
        for_parts(linkers, 1, 1, join);
    }
}

// An array that nobody has touched yet, in huge pages where these are to be had: it is accessed at
// random.
template <class Item>
class Untouched {
public:
    explicit Untouched(std::size_t items)
        : buffer_({items * sizeof(Item), 4096, 0, PagePolicy::automatic, {}}) {}

    Item& operator[](std::size_t at) const noexcept {
        return reinterpret_cast<Item*>(buffer_.data())[at];
    }

private:
    Buffer buffer_;
};

// All nodes in random order, each order equally likely, and made by many at once (Rao, "Generation
// of random permutations of given number of elements using random sampling numbers", Sankhya A 23,
// 1961; Sanders, "Random permutations on distributed, external and hierarchical memory",
// Information Processing Letters 67, 1998): each node goes into a bucket drawn for it, then each
// bucket is shuffled. Chunks of nodes and buckets draw from random streams of their own, so that
// the order does not depend on who does which.
template <class Index>
class RandomOrder {
public:
    RandomOrder(std::size_t nodes, const Grain& grain)
        : nodes_(nodes),
          chunk_(std::max(grain.chunk, parts_of(nodes, most_parts))),
          chunks_(parts_of(nodes, chunk_)),
          buckets_(std::min(most_parts, parts_of(nodes, grain.bucket))),
          order_(nodes),
          places_(chunks_ * buckets_),
          begins_(buckets_ + 1) {}

    // False: told to stop.
    bool draw(std::uint64_t seed, const Linkers& linkers) {
        const auto count = [&](std::size_t chunk, std::size_t first, std::size_t end) {
            deal(seed, chunk, first, end, [](Index& place, std::size_t) { ++place; });
        };
        const auto place = [&](std::size_t chunk, std::size_t first, std::size_t end) {
            deal(seed, chunk, first, end,
                 [&](Index& free, std::size_t node) { order_[free++] = static_cast<Index>(node); });
        };
        const auto shuffle_one = [&](std::size_t bucket, std::size_t, std::size_t) {
            shuffle(seed, bucket);
        };
        if (!for_parts(linkers, nodes_, chunk_, count)) {
            return false;
        }
        lay_out();
        return for_parts(linkers, nodes_, chunk_, place) &&
               for_parts(linkers, buckets_, 1, shuffle_one);
    }

    Index operator[](std::size_t at) const noexcept { return order_[at]; }

private:
    static constexpr std::size_t most_parts = 4096;

    // Draws the bucket of each node of a chunk anew; `use` gets what the chunk has for that bucket.
    template <class Use>
    void deal(std::uint64_t seed, std::size_t chunk, std::size_t first, std::size_t end, Use use) {
        SplitMix64 random(seed, chunk);
        Index* const places = &places_[chunk * buckets_];
        for (std::size_t node = first; node < end; ++node) {
            use(places[random.below(buckets_)], node);
        }
    }

    // From how many nodes of each chunk fall into each bucket to where the first of them goes.
    void lay_out() {
        Index begin = 0;
        for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
            begins_[bucket] = begin;
            for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
                begin += std::exchange(places_[chunk * buckets_ + bucket], begin);
            }
        }
        begins_[buckets_] = begin;
    }

    // Fisher and Yates.
    void shuffle(std::uint64_t seed, std::size_t bucket) {
        SplitMix64 random(seed, chunks_ + bucket);
        const std::size_t first = begins_[bucket];
        for (std::size_t left = begins_[bucket + 1] - first; left > 1; --left) {
            std::swap(order_[first + left - 1], order_[first + random.below(left)]);
        }
    }

    std::size_t nodes_;
    std::size_t chunk_;
    std::size_t chunks_;
    std::size_t buckets_;
    Untouched<Index> order_;
    std::vector<Index> places_;  // by chunk and bucket
    std::vector<Index> begins_;  // by bucket
};

// Each node leads to the one that follows it in a random order of all, and the last to the first:
// of all single cycles over them each is equally likely. What is accessed at random is small: who
// follows whom is gathered in an array, with those ahead prefetched, and the nodes are then written
// once, in the order of their addresses.
template <class Index>
void link_randomly(const Layout& layout, const ChaseRequest& request, const Linkers& linkers,
                   const Grain& grain) {
    constexpr std::size_t ahead = 16;
    const std::size_t nodes = layout.nodes();
    RandomOrder<Index> order(nodes, grain);
    Untouched<Index> successor(nodes);
    const auto gather = [&](std::size_t, std::size_t first, std::size_t end) {
        for (std::size_t at = first; at < end; ++at) {
            __builtin_prefetch(&successor[order[std::min(at + ahead, nodes - 1)]], 1);
            successor[order[at]] = order[at + 1 < nodes ? at + 1 : 0];
        }
    };
    const auto write = [&](std::size_t index) { return layout.node(successor[index]); };
    if (order.draw(request.seed, linkers) && for_parts(linkers, nodes, grain.chunk, gather)) {
        write_all(layout, request.node_bytes, write, linkers);
    }
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

void link(const Layout& layout, const ChaseRequest& request, const Linkers& linkers,
          const Grain& grain) {
    const std::size_t nodes = layout.nodes();
    if (request.order == ChaseOrder::stride) {
        const auto next = [&](std::size_t index) { return layout.node((index + 1) % nodes); };
        write_all(layout, request.node_bytes, next, linkers);
    } else if (request.order == ChaseOrder::block_random) {
        link_blocks(layout, request.seed, linkers);
    } else if (nodes <= std::numeric_limits<std::uint32_t>::max()) {
        link_randomly<std::uint32_t>(layout, request, linkers, grain);
    } else {
        link_randomly<std::uint64_t>(layout, request, linkers, grain);
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
