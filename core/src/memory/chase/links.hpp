#pragma once
// How the nodes of a ring are laid out and linked, apart from who touches them and who walks them.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "memgauge/chase.hpp"

namespace memgauge::memory {

// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
class SplitMix64 {
public:
    explicit SplitMix64(std::uint64_t seed) noexcept : state_(seed) {}

    // One of many streams of the same seed.
    SplitMix64(std::uint64_t seed, std::uint64_t stream) noexcept
        : state_(mix(seed + (stream + 1) * 0x9e3779b97f4a7c15U)) {}

    static std::uint64_t mix(std::uint64_t x) noexcept {
        x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
        return x ^ (x >> 31U);
    }
    // Multiply-shift: biased by less than bound / 2^64.
    static std::uint64_t scale(std::uint64_t random, std::uint64_t bound) noexcept {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((static_cast<Wide>(random) * bound) >> 64U);
    }
    std::uint64_t below(std::uint64_t bound) noexcept {
        state_ += 0x9e3779b97f4a7c15U;
        return scale(mix(state_), bound);
    }

private:
    std::uint64_t state_;
};

// Where node i of a ring lies. Slots are node_bytes apart. If every node lay at the start of its
// slot, nodes 512 bytes apart would use only every eighth set of a cache. So the nodes of a random
// ring lie on a line of their slot drawn at random, one draw for all slots of a 4 KiB region: nodes
// stay exactly node_bytes apart within it, and a prefetcher that fetches a neighbouring line, which
// stops at a 4 KiB boundary, finds no node there. A stride ring keeps its stride: no shift.
class Layout {
public:
    Layout(std::byte* base, const ChaseRequest& request) noexcept;

    [[nodiscard]] std::size_t nodes() const noexcept { return nodes_; }
    [[nodiscard]] std::size_t nodes_per_block() const noexcept { return nodes_per_block_; }
    [[nodiscard]] void** node(std::size_t index) const noexcept {
        const std::size_t slot = index * node_bytes_;
        return reinterpret_cast<void**>(base_ + slot + shift(slot));
    }
    // Whether the address is that of one of the nodes.
    [[nodiscard]] bool holds(const void* address) const noexcept;

private:
    [[nodiscard]] std::size_t shift(std::size_t slot) const noexcept {
        if (lines_ == 1) {
            return 0;
        }
        const std::uint64_t random =
            SplitMix64::mix(seed_ + slot / region_bytes * 0x9e3779b97f4a7c15U);
        return SplitMix64::scale(random, lines_) * line_bytes;
    }

    static constexpr std::size_t region_bytes = 4096;
    static constexpr std::size_t line_bytes = 64;  // on 128-byte lines: either half, the same line

    std::byte* base_;
    std::size_t node_bytes_;
    std::size_t nodes_;
    std::size_t nodes_per_block_;
    std::size_t lines_;  // of a slot that a node may lie on
    std::uint64_t seed_;
};

// Who links a ring. The ring is the same, however many they are.
struct Linkers {
    // Calls the function on every linker at once, and returns when all have returned.
    std::function<void(const std::function<void()>&)> parallel;
    std::function<bool()> stop;  // asked every few milliseconds
};

// Into what parts a random order is drawn.
struct Grain {
    std::size_t chunk = std::size_t{1} << 16U;   // nodes that are dealt out by one linker at a time
    std::size_t bucket = std::size_t{1} << 14U;  // about so many are then shuffled by one: in cache
};

// Touches all nodes and links them in the asked order. A random order over the whole ring takes 8
// bytes a node besides (16 from 2^32 nodes on), until it is linked. Returns early, with an unusable
// ring, when the linkers are to stop.
void link(const Layout& layout, const ChaseRequest& request, const Linkers& linkers,
          const Grain& grain = {});

// RequestError: fewer than two nodes, node_bytes or block_bytes that do not fit.
void check(const ChaseRequest& request);

}  // namespace memgauge::memory
