#include "load/memory.hpp"

#include <bit>
#include <limits>
#include <string>

#include "kernels/arrays/fill.hpp"
#include "kernels/arrays/pieces.hpp"
#include "kernels/arrays/replay.hpp"
#include "kernels/traffic_table.hpp"

namespace memgauge::load {

namespace {

constexpr ElementType element = ElementType::f64;
constexpr std::size_t lines_of_a_period = 64;
constexpr std::size_t lines_over_a_period = 17;
constexpr std::size_t least_lines = std::size_t{2} * kernels::lines_per_piece;

void fill_region(const Team& team, double* region, std::size_t first, std::size_t count) {
    kernels::for_pieces(team, {0, count}, [&](const kernels::Range& piece) {
        const kernels::Range range{first + piece.first, piece.count};
        kernels::fill_ramp(element, region + piece.first, range, 1.0);
    });
}

BufferRequest buffer_request(const TrafficRequest& request, const Layout& layout) {
    BufferRequest buffer;
    buffer.bytes = 2 * layout.region_lines() * layout.line_bytes;
    buffer.pages = request.pages;
    buffer.memory = request.memory;
    return buffer;
}

[[noreturn]] void refuse_small(std::size_t bytes, std::size_t least) {
    throw RequestError("traffic of " + std::to_string(bytes) +
                       " bytes for each thread is too small to walk: give at least " +
                       std::to_string(least));
}

Regions regions_of(const Buffer& buffer, const Layout& layout, std::size_t first_element) {
    auto* const reads = reinterpret_cast<double*>(buffer.data());
    return {layout, reads, reads + layout.region_elements(), first_element};
}

}  // namespace

std::size_t Layout::random_lines() const noexcept {
    return std::bit_floor(region_lines());
}

Layout lay_out(std::size_t bytes, std::size_t line_bytes) {
    if (bytes < least_lines * line_bytes) refuse_small(bytes, least_lines * line_bytes);
    if (bytes > std::numeric_limits<std::size_t>::max() / 8) {
        throw RequestError("traffic of " + std::to_string(bytes) +
                           " bytes for each thread is more than can be addressed; give fewer");
    }
    const std::size_t half = (bytes / line_bytes + 2) / 2;  // rounded up
    const std::size_t past = (half + lines_of_a_period - lines_over_a_period) % lines_of_a_period;
    return {line_bytes, past == 0 ? half : half + lines_of_a_period - past};
}

Layout lay_out_within(std::size_t bytes, std::size_t line_bytes) {
    const std::size_t least = 2 * (lines_of_a_period + lines_over_a_period) * line_bytes;
    if (bytes < least) refuse_small(bytes, least);
    const std::size_t most = bytes / line_bytes / 2;
    return {line_bytes, most - (most - lines_over_a_period) % lines_of_a_period};
}

Memory::Memory(const TrafficRequest& request, const Layout& layout, std::size_t first_element,
               const StopCheck& stop)
    : buffer_(buffer_request(request, layout), stop),
      regions_(regions_of(buffer_, layout, first_element)) {}

void Memory::fill(const Team& team) const {
    const std::size_t count = regions_.layout.region_elements();
    fill_region(team, regions_.reads, regions_.first_element, count);
    fill_region(team, regions_.writes, regions_.first_element, count);
}

kernels::Deviation Memory::deviation(const Team& team) const {
    kernels::Deviation total;
    const kernels::Range all{regions_.first_element, regions_.layout.region_elements()};
    kernels::for_pieces(team, all, [&](const kernels::Range& piece) {
        total.add(kernels::deviation(element, regions_.writes + (piece.first - all.first), piece,
                                     1.0, kernels::stream_epsilon(element)));
    });
    return total;
}

}  // namespace memgauge::load
