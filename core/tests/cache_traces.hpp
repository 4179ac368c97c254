#pragma once
// Random machines and what is done to them, from a seed.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "memgauge/cache_model.hpp"

namespace memgauge::test {

// One call of the model.
struct Deed {
    enum class What { access, walk, write_back_all, reset_counts };
    What what = What::access;
    unsigned core = 0;
    std::vector<CacheAccess> accesses;
    std::vector<StridedAccess> references;
    std::vector<std::int64_t> outer_strides;
    std::vector<StridedAccess> after;
    std::uint64_t outer = 1;
    std::uint64_t count = 1;
};

struct Trace {
    std::uint64_t seed = 0;
    CacheMachine machine;
    unsigned threads = 1;
    std::vector<Deed> deeds;
};

Trace random_trace(std::uint64_t seed);

// The machine and the deeds, as a person reads them.
std::string told(const Trace& trace);

}  // namespace memgauge::test
