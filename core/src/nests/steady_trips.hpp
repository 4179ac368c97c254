#pragma once
// Trips of the loop around the two innermost ones that a cache model need not be told, for they do
// what earlier ones did with memory that moved on: rows of a matrix product.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "memgauge/cache_model.hpp"
#include "nests/walk.hpp"

namespace memgauge::nests {

// The first trips find caches as others left them.
inline constexpr std::size_t trips_to_mark = 2;

[[nodiscard]] inline std::uint64_t bytes_of_trip(const Nest& nest, const Loops& loops,
                                                 std::size_t i) noexcept {
    return loops.references[i].strides[around_rows] * nest.element_bytes;
}

// After so many trips all arrays come to the same sets again, which lie so many bytes apart; 0: not
// often enough, or not known.
[[nodiscard]] inline std::size_t steady_period(const Nest& nest, const Loops& loops,
                                               std::uint64_t around_bytes) noexcept {
    // The last prefetches lie behind their arrays.
    if (around_bytes == 0 || nest.prefetches()) return 0;
    std::uint64_t trips = 1;
    for (std::size_t i = 0; i < nest.references; ++i) {
        const std::uint64_t bytes = bytes_of_trip(nest, loops, i);
        trips = std::lcm(trips, around_bytes / std::gcd(around_bytes, bytes));
        if (3 * trips > loops.trips[around_rows]) return 0;
    }
    return trips;
}

template <class Model>
class SteadyTrips {
public:
    // Of a nest of arrays that begin at `bases` and have so many bytes.
    SteadyTrips(const Nest& nest, std::span<const std::uint64_t> bases,
                std::span<const std::uint64_t> bytes, Model& model)
        : nest_(nest), bases_(bases), bytes_(bytes), model_(model) {}

    // After a trip: of those that follow, so many are made known to the model.
    [[nodiscard]] std::size_t skipped_after(const OuterLoops& at) {
        const std::size_t done = at.trip() + 1;
        if (done == 1) begin(at.loops());
        if (period_ == 0 || done % period_ != trips_to_mark % period_) return 0;
        const std::size_t periods = at.trips_left() / period_;
        if (std::exchange(marked_, false) && periods > 0 && model_.repeat(memories_, periods)) {
            return periods * std::exchange(period_, 0);
        }
        marked_ = periods >= 2 && model_.mark();
        return 0;
    }

private:
    void begin(const Loops& loops) {
        marked_ = false;
        period_ = steady_period(nest_, loops, model_.bytes_around_sets());
        memories_.clear();
        for (std::size_t i = 0; i < nest_.references; ++i) {
            const std::uint64_t shift = period_ * bytes_of_trip(nest_, loops, i);
            memories_.push_back({.begin = bases_[i],
                                 .bytes = bytes_[i],
                                 .shift = static_cast<std::int64_t>(shift),
                                 .stream = static_cast<std::uint8_t>(i),
                                 .stored = i == nest_.written()});
        }
    }

    const Nest& nest_;
    std::span<const std::uint64_t> bases_;
    std::span<const std::uint64_t> bytes_;
    Model& model_;
    std::vector<MovingMemory> memories_;
    std::size_t period_ = 0;  // in trips; 0: none is looked for
    bool marked_ = false;
};

}  // namespace memgauge::nests
