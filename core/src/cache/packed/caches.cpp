#include "cache/packed/caches.hpp"

#include <algorithm>
#include <bit>

#include "kernels/processor.hpp"

namespace memgauge::cache {
namespace {

const PackedCalls* calls_for(Isa isa, PackedShape shape) {
    switch (isa) {
        case Isa::avx512:
            return avx512_packed_calls(shape);
        case Isa::avx2:
            return avx2_packed_calls(shape);
        default:
            return portable_packed_calls(shape);
    }
}

// Fewer, and the areas of a program's memory could not all be numbered.
constexpr std::uint64_t least_areas = 64;

bool lines_fit_words(const CacheMachine& machine) {
    const std::size_t sectors = machine.line_bytes / machine.sector_bytes;
    const std::uint64_t lines = 1ull << (32 - mark_bits(static_cast<unsigned>(sectors)));
    return sectors <= 2 && lines * machine.line_bytes >= least_areas << LineNumbers::area_bits;
}

}  // namespace

bool packs(const CacheMachine& machine, const std::vector<CacheLevel>& levels) {
    return is_one_core_lru(machine, levels) && lines_fit_words(machine) &&
           SetIndex(sets_of(levels.front(), machine), machine).is_masked() &&
           std::ranges::all_of(levels, [&](const CacheLevel& level) {
               return ways_of(level, machine) <= most_packed_ways;
           });
}

std::vector<Isa> packed_isas() {
    std::vector<Isa> isas;
    for (const Isa isa : {Isa::avx512, Isa::avx2}) {
        if (calls_for(isa, {}) != nullptr && kernels::processor_has(isa)) {
            isas.push_back(isa);
        }
    }
    isas.push_back(Isa::generic);
    return isas;
}

PackedCaches::PackedCaches(const CacheMachine& machine, const std::vector<CacheLevel>& levels,
                           Part part, Isa isa)
    : state_(machine, levels, part), calls_(calls_for(isa, state_.shape)) {}

}  // namespace memgauge::cache
