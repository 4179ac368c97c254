#include "load/memory.hpp"

#include <bit>
#include <limits>
#include <string>

#include "kernels/fill.hpp"
#include "kernels/pieces.hpp"
#include "kernels/replay.hpp"
#include "kernels/traffic_table.hpp"

namespace memgauge::load {

namespace {

constexpr ElementType element = ElementType::f64;
constexpr std::size_t lines_of_a_period = 64;
constexpr std::size_t lines_over_a_period = 17;

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

}  // namespace

std::size_t Layout::random_lines() const noexcept {
    return std::bit_floor(region_lines());
}

Layout lay_out(std::size_t bytes, std::size_t line_bytes) {
    const std::size_t least = std::size_t{2} * kernels::lines_per_piece * line_bytes;
    if (bytes < least) {
        throw RequestError("traffic of " + std::to_string(bytes) +
                           " bytes for each thread is too small to walk: give at least " +
                           std::to_string(least));
    }
    if (bytes > std::numeric_limits<std::size_t>::max() / 8) {
        throw RequestError("traffic of " + std::to_string(bytes) +
                           " bytes for each thread is more than can be addressed; give fewer");
    }
    const std::size_t half = (bytes / line_bytes + 2) / 2;  // rounded up
    const std::size_t past = (half + lines_of_a_period - lines_over_a_period) % lines_of_a_period;
    return {line_bytes, past == 0 ? half : half + lines_of_a_period - past};
}

Memory::Memory(const TrafficRequest& request, const Layout& layout, std::size_t first_element)
    : layout_(layout), first_element_(first_element), buffer_(buffer_request(request, layout)) {}

double* Memory::reads() const noexcept {
    return reinterpret_cast<double*>(buffer_.data());
}

double* Memory::writes() const noexcept {
    return reads() + layout_.region_elements();
}

void Memory::fill(const Team& team) const {
    fill_region(team, reads(), first_element_, layout_.region_elements());
    fill_region(team, writes(), first_element_, layout_.region_elements());
}

kernels::Deviation Memory::deviation(const Team& team) const {
    kernels::Deviation total;
    const kernels::Range all{first_element_, layout_.region_elements()};
    kernels::for_pieces(team, all, [&](const kernels::Range& piece) {
        total.add(kernels::deviation(element, writes() + (piece.first - first_element_), piece, 1.0,
                                     kernels::stream_epsilon(element)));
    });
    return total;
}

}  // namespace memgauge::load
