#pragma once
// What the threads do: a fixed amount of traffic; traffic until a stop is requested; and the probe.

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "load/generator.hpp"
#include "load/ring_walk.hpp"
#include "memgauge/clock.hpp"
#include "memgauge/team.hpp"
#include "threads/spin.hpp"

namespace memgauge::load {

using Generators = std::vector<std::unique_ptr<Generator>>;

// So many pieces, stamped once and counted.
class FixedWork final : public Job {
public:
    FixedWork(Generator& generator, std::size_t pieces, std::size_t lead_in_pieces) noexcept
        : generator_(generator), pieces_(pieces), lead_in_pieces_(lead_in_pieces) {}
    void prepare() override;
    void run(ThreadSlice& slice) noexcept override;

private:
    Generator& generator_;
    std::size_t pieces_;
    std::size_t lead_in_pieces_;
};

// Set once, by the probe; looked at by all generators.
struct alignas(line_bytes) StopFlag {
    std::atomic<bool> set{false};
};

// Traffic until the flag is set, with counts for others to look at.
class Background final : public Job {
public:
    Background(Generator& generator, const StopFlag& stop, std::size_t lead_in_pieces) noexcept
        : generator_(generator), stop_(stop), lead_in_pieces_(lead_in_pieces) {}
    void prepare() override;
    void run(ThreadSlice& slice) noexcept override;

private:
    Generator& generator_;
    const StopFlag& stop_;
    std::size_t lead_in_pieces_;
};

// The clock, and what each generator had issued by then.
struct Sight {
    Ticks at = 0;
    std::vector<Counts> issued;
};

// Walks a ring while the generators run, and then stops them.
class Probe final : public Job {
public:
    Probe(void**& position, const Generators& generators, StopFlag& stop,
          const ProbeRequest& request);
    void run(ThreadSlice& slice) noexcept override;
    [[nodiscard]] std::size_t iterations() const noexcept override { return walk_.iterations(); }

    // The window: between these all generators ran.
    [[nodiscard]] const Sight& begin() const noexcept { return begin_; }
    [[nodiscard]] const Sight& end() const noexcept { return end_; }
    [[nodiscard]] const RingWalk& walk() const noexcept { return walk_; }

private:
    void wait_for_traffic() const noexcept;
    void look(Sight& sight) const noexcept;

    RingWalk walk_;
    const Generators& generators_;
    StopFlag& stop_;
    std::vector<std::uint64_t> issued_before_;
    Sight begin_;
    Sight end_;
};

}  // namespace memgauge::load
