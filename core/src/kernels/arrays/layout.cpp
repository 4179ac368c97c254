#include "kernels/arrays/layout.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "round_up.hpp"

namespace memgauge::kernels {

namespace {

// Holds whole lines of every processor (64, 128 or 256 bytes) and whole steps of most kernels, so
// that blocks share no line.
constexpr std::size_t piece_bytes = 256;

}  // namespace

ArrayLayout::Ranges ArrayLayout::ranges(std::size_t rank, std::size_t first,
                                        std::size_t count) const noexcept {
    const std::size_t begin = first % blocks;
    const std::size_t in_front = std::min(count, blocks - begin);
    const std::size_t part = rank * part_elements();
    return {{part + begin * elements_per_block, in_front * elements_per_block},
            {part, (count - in_front) * elements_per_block}};
}

ArrayLayout lay_out(const ArraysRequest& request, std::size_t threads) {
    const std::size_t bytes = element_bytes(request.element);
    const std::size_t piece = piece_bytes / bytes;
    if (request.blocks == 0) {
        throw RequestError("cannot divide arrays into 0 blocks: give at least 1");
    }
    if (request.offset_bytes % bytes != 0) {
        throw RequestError("cannot shift arrays by " + std::to_string(request.offset_bytes) +
                           " bytes: give a multiple of the element size, " + std::to_string(bytes));
    }
    constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max() / 16;
    if (request.elements > most / bytes || request.blocks > most / threads / piece) {
        throw RequestError("cannot lay out arrays of " + std::to_string(request.elements) +
                           " elements in " + std::to_string(request.blocks) +
                           " blocks: more than can be addressed; ask for less");
    }
    const std::size_t shares = threads * request.blocks;
    if (request.elements < shares * piece) {
        throw RequestError("arrays of " + std::to_string(request.elements) +
                           " elements are too small for " + std::to_string(threads) +
                           " threads with " + std::to_string(request.blocks) +
                           " blocks each: give at least " + std::to_string(shares * piece));
    }
    return {threads, request.blocks, round_up((request.elements + shares - 1) / shares, piece)};
}

void check_slice(const SliceRequest& slice, Operation operation, const ArrayLayout& layout) {
    if (slice.first_block >= layout.blocks || slice.blocks == 0 || slice.blocks > layout.blocks ||
        slice.lead_in_blocks > layout.blocks) {
        throw RequestError("cannot time " + std::to_string(slice.blocks) + " blocks from block " +
                           std::to_string(slice.first_block) + " after " +
                           std::to_string(slice.lead_in_blocks) + " of lead-in: there are " +
                           std::to_string(layout.blocks) + " blocks");
    }
    if (slice.iterations == 0 || slice.repeats == 0) {
        throw RequestError("cannot time 0 iterations or repeats: give at least 1 of each");
    }
    const bool prefix_only = slice.prefix_elements > 0 || slice.repeats > 1;
    if (prefix_only && operation != Operation::read) {
        throw RequestError("cannot repeat " + std::string(to_string(operation)) +
                           " over a prefix: only read leaves the arrays as they are");
    }
    if (slice.prefix_elements > layout.part_elements()) {
        throw RequestError("cannot read a prefix of " + std::to_string(slice.prefix_elements) +
                           " elements: each thread has " + std::to_string(layout.part_elements()));
    }
}

}  // namespace memgauge::kernels
