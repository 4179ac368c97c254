#pragma once
// The walk of a probe: dependent loads around a ring, while others make traffic.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "memgauge/clock.hpp"
#include "memgauge/team.hpp"

namespace memgauge::load {

struct ProbeRequest {
    std::size_t hops;
    std::size_t warm_hops;
    std::size_t iterations;
    std::size_t timed_loads;
};

class RingWalk {
public:
    // `position` is where the ring's last walk ended; it moves on.
    RingWalk(void**& position, const ProbeRequest& request);

    void warm() noexcept;
    // Appends a stamp for each iteration.
    void walk(ThreadSlice& slice) noexcept;
    void time_loads() noexcept;

    [[nodiscard]] std::size_t iterations() const noexcept { return request_.iterations; }
    // Loads timed one by one: whole ns with the clock's own cost, and how many took that long,
    // ascending.
    [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> load_ns() const;

private:
    void**& position_;
    ProbeRequest request_;
    std::vector<Ticks> load_ticks_;
};

}  // namespace memgauge::load
