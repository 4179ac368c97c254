#include "cache/levels/line_numbers.hpp"

#include <string>

#include "memgauge/error.hpp"

namespace memgauge::cache {

void LineNumbers::clear() {
    recent_.fill({});
    areas_.clear();
    numbers_.clear();
}

void LineNumbers::reach(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t area = first >> area_bits; area <= last >> area_bits; ++area) remember(area);
}

void LineNumbers::remember(std::uint64_t area) {
    const auto [at, is_new] = numbers_.try_emplace(area, static_cast<Line>(areas_.size()));
    if (is_new) {
        // The last area is left out, for its numbers stand for empty ways.
        if (areas_.size() + 1 >= most_areas_) refuse();
        areas_.push_back(area);
    }
    recent_[area % recent_.size()] = {area, static_cast<Line>(at->second * lines_in_area())};
}

void LineNumbers::refuse() const {
    throw RequestError("cache model: the accesses lie in more than " +
                       std::to_string(areas_.size()) +
                       " areas of 256 MiB, and there are no numbers for more lines");
}

}  // namespace memgauge::cache
