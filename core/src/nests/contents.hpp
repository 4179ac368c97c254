#pragma once
// What the arrays of a nest are filled with, and what must then be written.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "memgauge/team.hpp"
#include "nests/memory.hpp"

namespace memgauge::nests {

// Double `index` of the array at position `array` of the operands: at least 1, below 2, its
// fraction the upper bits of a multiple of an odd number, so that neighbours differ much and no
// two elements of an array below 2^52 are likely to be the same.
inline double content(std::size_t array, std::size_t index) noexcept {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
    const std::uint64_t scrambled =
        (index + 1 + (static_cast<std::uint64_t>(array) << 56)) * golden;
    return std::bit_cast<double>((scrambled >> 12) | (std::uint64_t{0x3ff} << 52));
}

// A few milliseconds of work.
inline constexpr std::size_t piece_doubles = std::size_t{1} << 19;

// Until the team is asked to stop.
void fill(const Team& team, std::size_t array, double* at, std::size_t doubles) noexcept;

// How far what was written is from what it must be.
struct Difference {
    double sum = 0.0;  // of relative errors; one that is not below 1 (or no number): 1
    std::size_t compared = 0;
    std::size_t failed = 0;
    std::size_t first_failed = 0;

    void add(double found, double expected, double epsilon, std::size_t index) noexcept;
    void add(const Difference& other) noexcept;
};

// What inner products must come to, from contents alone: for GEMV each row of A that exists, for
// GEMM each row of A (B r), r being `content` of a fourth array.
class Products {
public:
    // Computed on the team's threads. Nothing for nests without inner products.
    Products(Team& team, const NestSpec& spec, const Nest& nest, const StopCheck& stop);
    [[nodiscard]] const std::vector<double>& values() const noexcept { return values_; }

private:
    std::vector<double> values_;
};

// Largest relative error that rounding can leave in what is compared, on either side.
double epsilon_of(const NestSpec& spec, const Nest& nest) noexcept;

// What the difference of the nest's `array` says of it.
NestValidation validation_of(const NestSpec& spec, const Nest& nest, std::string array,
                             const Difference& difference);

Difference difference(const Team& team, const NestSpec& spec, const Nest& nest,
                      const InMemory& arrays, const Products& products) noexcept;

}  // namespace memgauge::nests
