#pragma once
// What a core's accesses look like from outside: store streams, steps and strided streams. All of
// it follows from the accesses alone, never from what the caches hold.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "memgauge/cache_model.hpp"

namespace memgauge::cache {

struct StoreStream {
    std::uint64_t began = 0;
    std::uint64_t end = ~0ull;
    std::uint64_t continued_at = 0;         // clock of the core
    std::uint64_t bypassed_sector = ~0ull;  // the last
};

struct Steps {
    std::uint64_t last_address = 0;
    std::int64_t step = 0;
    std::uint64_t run = 0;  // steps of that length up to now
    bool begun = false;
};

class Moves;
class Steadiness;

class Detectors {
public:
    Detectors() = default;
    explicit Detectors(const CacheMachine& machine)
        : rules_(machine.store_streams), line_bytes_(machine.line_bytes) {}

    void load(const CacheAccess& access) {
        ++clock_;
        step(access);
    }

    // The store stream that it is part of.
    StoreStream& store(const CacheAccess& access) {
        ++clock_;
        step(access);
        StoreStream& stream = continued(access.address);
        stream.end = access.address + access.bytes;
        stream.continued_at = clock_;
        return stream;
    }

    void store_prefetch() { ++clock_; }

    // So many steps of a loop were made that is steady; the references are where they come to.
    void skip(std::span<const StridedAccess> references, std::uint64_t count,
              const Steadiness& steadiness);

    // Whether they find of accesses to come what those found then, of accesses that lay where the
    // moves come from. And as if those were made so many times.
    [[nodiscard]] bool have_moved(const Detectors& before, const Moves& moves) const;
    void move(const Moves& moves, std::uint64_t times);

    [[nodiscard]] const Steps& steps(unsigned stream) const { return steps_[stream]; }

    [[nodiscard]] bool strided_under_way() const {
        return rules_.strided != 0 && clock_ - strided_at_ <= rules_.window;
    }

    [[nodiscard]] std::uint64_t bypass_begin(const StoreStream& stream) const {
        const std::uint64_t border = (stream.began + line_bytes_ - 1) / line_bytes_ * line_bytes_;
        return border + std::uint64_t{rules_.lines} * line_bytes_;
    }

    // Whether a piece of a store of that stream, just made, is to bypass.
    [[nodiscard]] bool bypasses(const StoreStream& stream, std::uint64_t address) const {
        return rules_.lines != 0 && address / line_bytes_ * line_bytes_ >= bypass_begin(stream) &&
               !strided_under_way();
    }

private:
    [[nodiscard]] std::vector<StoreStream> live_streams() const;
    [[nodiscard]] std::uint64_t since_strided() const;
    void step(const CacheAccess& access);
    StoreStream& continued(std::uint64_t address);

    // Later than any window or gap after nothing.
    static constexpr std::uint64_t first_clock = 1ull << 33;

    StoreStreams rules_;
    std::uint64_t line_bytes_ = 0;
    std::uint64_t clock_ = first_clock;
    std::uint64_t strided_at_ = 0;
    std::array<Steps, most_streams> steps_{};
    std::array<StoreStream, 16> streams_{};
};

}  // namespace memgauge::cache
