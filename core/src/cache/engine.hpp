#pragma once
// One part of the sets of a machine at work: what a thread of a CacheModel does by itself.

#include <memory>

#include "memgauge/cache_model.hpp"
#include "memgauge/kernels.hpp"

namespace memgauge::cache {

struct Part {
    unsigned index = 0;
    unsigned count = 1;

    bool operator==(const Part&) const = default;
};

// An outer loop around an inner one; see CacheModel::walk.
struct Nest {
    std::span<const StridedAccess> references;
    std::span<const std::int64_t> outer_strides;
    std::uint64_t outer = 1;
    std::uint64_t count = 0;
    std::span<const StridedAccess> after;
};

class Moves;

class Engine {
public:
    virtual ~Engine() = default;
    virtual void access(unsigned core, std::span<const CacheAccess> accesses) = 0;
    virtual void walk(unsigned core, const Nest& nest) = 0;
    // See CacheModel::mark. Whether what is held is what was held then, moved so, and may be moved
    // so many times more; and as if what was done since were done so many times more.
    virtual bool mark() = 0;
    [[nodiscard]] virtual bool can_repeat(const Moves& moves, std::uint64_t times) const = 0;
    virtual void repeat(const Moves& moves, std::uint64_t times) = 0;
    virtual void write_back_all() = 0;
    // Adds what this part counted.
    virtual void add_to(CacheCounts& counts) = 0;
    virtual void reset_counts() = 0;
    virtual void clear() = 0;
    // Steps of loops that were counted, in whole periods or as repeats, and not simulated one by
    // one.
    [[nodiscard]] virtual std::uint64_t skipped() const = 0;
};

std::unique_ptr<Engine> make_engine(const CacheMachine& machine,
                                    const std::vector<CacheLevel>& levels, Part part);
// The one for machines whose sets pack, by the instructions of that set.
std::unique_ptr<Engine> make_packed_engine(const CacheMachine& machine,
                                           const std::vector<CacheLevel>& levels, Part part,
                                           Isa isa);

}  // namespace memgauge::cache
