#pragma once
// Lines by numbers of at most 32 bits, so that tags stay small: areas of 256 MiB are numbered as
// they come.

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace memgauge::cache {

using Line = std::uint32_t;

class LineNumbers {
public:
    static constexpr unsigned area_bits = 28;

    // `mark_bits` of the 32 are left free.
    explicit LineNumbers(unsigned line_bits, unsigned mark_bits = 0)
        : line_bits_(line_bits), most_areas_((1ull << (32 - mark_bits)) / lines_in_area()) {}

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

    [[nodiscard]] Line numbered(std::uint64_t line) { return number(line << line_bits_); }

    // As if all areas from one address to another were accessed.
    void reach(std::uint64_t first, std::uint64_t last);

    [[nodiscard]] std::uint64_t lines_in_area() const { return 1ull << (area_bits - line_bits_); }

    void clear();

private:
    struct Recent {
        std::uint64_t area = ~0ull;
        Line first = 0;
    };

    [[nodiscard]] Line within(std::uint64_t address) const {
        return static_cast<Line>((address & ((1ull << area_bits) - 1)) >> line_bits_);
    }

    void remember(std::uint64_t area);
    [[noreturn]] void refuse() const;

    unsigned line_bits_;
    std::uint64_t most_areas_;
    std::array<Recent, 64> recent_{};
    std::vector<std::uint64_t> areas_;
    std::unordered_map<std::uint64_t, Line> numbers_;
};

}  // namespace memgauge::cache
