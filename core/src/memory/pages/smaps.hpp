#pragma once
// What backs an address range, from /proc/self/smaps (proc_pid_smaps(5)).

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>

namespace memgauge::memory {

struct RangePages {
    std::size_t resident_bytes = 0;
    // PMD-mapped transparent huge pages: AnonHugePages, ShmemPmdMapped and FilePmdMapped.
    std::size_t transparent_bytes = 0;
    std::size_t explicit_bytes = 0;       // hugetlb pages
    std::size_t explicit_page_bytes = 0;  // their size, 0 when there are none
};

// Sums the areas that overlap [begin, end). An area only partly inside counts with no more than
// the overlap. Empty when no area overlaps.
std::optional<RangePages> parse_smaps(std::istream& text, std::uintptr_t begin, std::uintptr_t end);

// Empty where the kernel does not report it.
std::optional<RangePages> read_smaps(const std::byte* begin, std::size_t bytes);

}  // namespace memgauge::memory
