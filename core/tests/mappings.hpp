#pragma once
// Counts what this process has mapped, to see that nothing is left behind.

#include <cstddef>
#include <fstream>
#include <string>

namespace memgauge::test {

// Sanitizers map memory of their own for every allocation they watch.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool counts_are_exact = false;
#else
inline constexpr bool counts_are_exact = true;
#endif

inline std::size_t mappings() {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    std::size_t count = 0;
    while (std::getline(maps, line)) {
        ++count;
    }
    return count;
}

// More than zero: something stayed mapped.
inline std::size_t mappings_since(std::size_t before) {
    const std::size_t now = mappings();
    return counts_are_exact && now > before ? now - before : 0;
}

}  // namespace memgauge::test
