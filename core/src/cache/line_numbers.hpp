#pragma once
// Lines by 32-bit numbers, so that tags stay small: areas of 256 MiB are numbered as they come.

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "memgauge/error.hpp"

namespace memgauge::cache {

using Line = std::uint32_t;

class LineNumbers {
public:
    static constexpr unsigned area_bits = 28;

    explicit LineNumbers(unsigned line_bits) : line_bits_(line_bits) {}

    [[nodiscard, gnu::always_inline]] Line number(std::uint64_t address) {
        const std::uint64_t area = address >> area_bits;
        const Recent& recent = recent_[area % recent_.size()];
        if (recent.area != area) [[unlikely]]
            remember(area);
        return recent.first + within(address);
    }

    // The line as memory counts them.
    [[nodiscard]] std::uint64_t line(Line number) const {
        const unsigned bits = area_bits - line_bits_;
        return (areas_[number >> bits] << bits) | (number & ((Line{1} << bits) - 1));
    }

    [[nodiscard]] std::uint64_t lines_in_area() const { return 1ull << (area_bits - line_bits_); }

    void clear() {
        recent_.fill({});
        areas_.clear();
        numbers_.clear();
    }

private:
    struct Recent {
        std::uint64_t area = ~0ull;
        Line first = 0;
    };

    [[nodiscard]] Line within(std::uint64_t address) const {
        return static_cast<Line>((address & ((1ull << area_bits) - 1)) >> line_bits_);
    }

    [[gnu::noinline]] void remember(std::uint64_t area) {
        const auto [at, is_new] = numbers_.try_emplace(area, static_cast<Line>(areas_.size()));
        if (is_new) {
            // The last area is left out, for its numbers stand for empty ways.
            if (areas_.size() + 1 >= (1ull << 32) / lines_in_area()) refuse();
            areas_.push_back(area);
        }
        recent_[area % recent_.size()] = {area, static_cast<Line>(at->second * lines_in_area())};
    }

    [[noreturn]] void refuse() const {
        throw RequestError("cache model: the accesses lie in more than " +
                           std::to_string(areas_.size()) +
                           " areas of 256 MiB; use addresses that lie closer together");
    }

    unsigned line_bits_;
    std::array<Recent, 64> recent_{};
    std::vector<std::uint64_t> areas_;
    std::unordered_map<std::uint64_t, Line> numbers_;
};

}  // namespace memgauge::cache
