#pragma once
// What a machine's description comes to: its levels with the borrowed ones among them, checked.

#include <vector>

#include "memgauge/cache_model.hpp"

namespace memgauge::cache {

inline constexpr std::size_t most_levels = 8;
inline constexpr unsigned most_cores = 1024;
inline constexpr unsigned address_bits = 48;
inline constexpr unsigned page_bits = 12;

// RequestError for machines that make no sense.
std::vector<CacheLevel> simulated_levels(const CacheMachine& machine);
// RequestError where `threads` cannot part the sets.
void check_parts(const CacheMachine& machine, const std::vector<CacheLevel>& levels,
                 unsigned threads);

std::size_t ways_of(const CacheLevel& level, const CacheMachine& machine);
std::size_t sets_of(const CacheLevel& level, const CacheMachine& machine);
std::size_t instances_of(const CacheLevel& level, const CacheMachine& machine);

// One core, least recently used lines at all levels, and no prefetchers.
bool is_one_core_lru(const CacheMachine& machine, const std::vector<CacheLevel>& levels);

}  // namespace memgauge::cache
