#pragma once
// A loop nest as data: how many trips each loop makes, how far each trip moves each array's
// element, and what the innermost trip does. Running code and address stream both come from it.

#include <array>
#include <cstddef>

#include "memgauge/nests.hpp"

namespace memgauge::nests {

// From the outermost loop to the innermost.
inline constexpr std::size_t most_loops = 4;
inline constexpr std::size_t innermost = most_loops - 1;
inline constexpr std::size_t most_references = 3;

// One array's element: `first`, then so many elements on with each trip of each loop.
struct Reference {
    std::size_t first = 0;
    std::array<std::size_t, most_loops> strides{};
};

// Perfectly nested loops; the references in the order of the nest's arrays.
struct Loops {
    std::array<std::size_t, most_loops> trips{1, 1, 1, 1};
    std::array<Reference, most_references> references{};
};

// What is done with the references of one innermost trip, the last being what is written.
// dot: products of the first two are summed in a register and stored after the innermost loop.
enum class Body : unsigned char { copy, scale, add, triad, dot };

// The scalar of scale and triad, as STREAM's.
inline constexpr double stream_scalar = 3.0;

struct Nest {
    Body body = Body::copy;
    std::size_t element_bytes = 8;
    std::size_t references = 0;
    bool store_prefetch = false;
    bool load_prefetch = false;
    std::size_t prefetch_lines = prefetch_lines_ahead;
    std::size_t prefetch_far_lines = 0;
    // One after the other; capped GEMV ends with the rows left over.
    std::array<Loops, 2> parts{};
    std::size_t part_count = 1;

    [[nodiscard]] std::size_t written() const noexcept { return references - 1; }
    [[nodiscard]] bool prefetches() const noexcept { return store_prefetch || load_prefetch; }
    // More than stores, once.
    [[nodiscard]] bool prefetches_more() const noexcept {
        return load_prefetch || (store_prefetch && prefetch_far_lines != 0);
    }
};

// RequestError as arrays_of.
Nest describe(const NestSpec& spec);

// Loops that go on where the last trip of the loop inside them ended become one with it: the same
// accesses in the same order, in fewer and longer innermost loops.
Loops joined(const Loops& loops, std::size_t references) noexcept;

// With joined loops, where neither sums nor prefetches depend on where innermost loops begin.
Nest as_run(const Nest& nest) noexcept;

// Bytes of an array that an execution surely moves where nothing is kept from before, in pieces
// that memory moves as a whole: all of it; of a capped matrix every walk; of elements further apart
// than such a piece a piece each.
std::uint64_t walked_bytes(const NestSpec& spec, const NestArray& array, std::size_t piece_bytes);

// Rows of A that exist.
std::size_t rows_of_a(const NestShape& shape) noexcept;

// Of one reference: a prefetch goes before every `period`th trip and concerns the one `ahead`
// later, and another the one `far` later, unless 0. Period 0: it is not prefetched.
struct PrefetchRhythm {
    std::size_t period = 0;
    std::size_t ahead = 0;
    std::size_t far = 0;
};
// Of the stream of stores. For dot, whose stores are in the loop around the innermost one, as well.
PrefetchRhythm prefetch_rhythm(const Nest& nest, const Reference& stored) noexcept;

// Of the innermost loop, in groups of so many trips.
struct Prefetches {
    std::array<PrefetchRhythm, most_references> of;
    std::size_t group = 1;
};
Prefetches prefetches_of(const Nest& nest, const Loops& loops) noexcept;

}  // namespace memgauge::nests
