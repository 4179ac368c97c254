#pragma once
// Random machines and what is done to them, from a seed.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cache/cache_reference.hpp"
#include "memgauge/cache_model.hpp"
#include "slow.hpp"

namespace memgauge::test {

// One call of the model.
struct Deed {
    enum class What { access, walk, periods, write_back_all, reset_counts };
    What what = What::access;
    unsigned core = 0;
    std::vector<CacheAccess> accesses;
    std::vector<StridedAccess> references;
    std::vector<std::int64_t> outer_strides;
    std::vector<StridedAccess> after;
    std::uint64_t outer = 1;
    std::uint64_t count = 1;
    // Of a walk that is made so often, the references and then those of `after` moved by so much
    // each time.
    std::uint64_t periods = 1;
    std::vector<std::int64_t> shifts;
};

struct Trace {
    std::uint64_t seed = 0;
    CacheMachine machine;
    unsigned threads = 1;
    std::vector<Deed> deeds;
};

// Gives a number below the one it is given.
using Draw = std::function<std::uint64_t(std::uint64_t below)>;

Trace random_trace(std::uint64_t seed);
// The same of numbers from anywhere, such as a fuzzer's.
Trace drawn_trace(const Draw& draw);

// Memories that move by themselves, by multiples of so many bytes; at most so many periods.
Deed random_periods(const Draw& draw, std::uint64_t around, std::uint64_t most_periods);
// What is done in one of them.
Deed walk_of(const Deed& deed, std::uint64_t period);
// All of them, of which those are skipped that are known to repeat what came before; how many.
std::uint64_t carry_out_periods(CacheModel& model, const Deed& deed);

// The machine and the deeds, as a person reads them.
std::string text_of(const Trace& trace);
// All that was counted.
std::string text_of(const CacheCounts& counts);

void carry_out(CacheModel& model, const Deed& deed);
void carry_out(PlainCaches& plain, const Deed& deed);

// What model and reference say where they part; empty where they do not. Looked at after each deed.
std::string difference(const Trace& trace);

}  // namespace memgauge::test
