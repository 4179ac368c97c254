#pragma once
// What every fuzz target of the core shares. A target defines run(): whatever the bytes, the reader
// gives a value that is right by the target's own reckoning, or refuses; never anything undefined.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace memgauge::fuzz {

using Data = std::span<const std::uint8_t>;

void run(Data data);

// Ends the program, which the engine takes for a finding.
[[noreturn]] void found(std::string_view what);

inline void require(bool holds, std::string_view what) {
    if (!holds) found(what);
}

// Numbers and texts taken off the front of an input: zeros and nothing once it is used up.
class Input {
public:
    explicit Input(Data data) : data_(data) {}

    [[nodiscard]] bool empty() const noexcept { return data_.empty(); }

    template <typename Number>
    Number take() noexcept {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < sizeof(Number); ++i) value |= std::uint64_t{byte()} << (8 * i);
        return static_cast<Number>(value);
    }

    // In as few bytes as hold it, so that mutants change few numbers at a time.
    std::uint64_t below(std::uint64_t limit) noexcept {
        std::uint64_t value = 0;
        for (std::uint64_t rest = limit - 1; rest > 0; rest >>= 8U) value = value << 8U | byte();
        return value % limit;
    }

    // Up to so many bytes; all that is left where it is fewer.
    std::string_view text(std::size_t most) noexcept {
        const Data taken = data_.first(most < data_.size() ? most : data_.size());
        data_ = data_.subspan(taken.size());
        return {reinterpret_cast<const char*>(taken.data()), taken.size()};
    }

private:
    std::uint8_t byte() noexcept {
        if (data_.empty()) return 0;
        const std::uint8_t taken = data_.front();
        data_ = data_.subspan(1);
        return taken;
    }

    Data data_;
};

}  // namespace memgauge::fuzz
