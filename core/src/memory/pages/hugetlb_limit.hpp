#pragma once
// How many bytes of explicit huge pages this process's cgroup lets it touch. The kernel promises
// pages at mmap without looking there, and kills the process with SIGBUS at the touch that passes
// the limit (Documentation/admin-guide/cgroup-v2.rst, HugeTLB).

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace memgauge::memory {

// Directories that hold the limits, from the process's own cgroup up to the root, out of the text
// of /proc/self/cgroup. `root` is where cgroups are mounted.
std::vector<std::string> hugetlb_cgroups(std::istream& text, const std::string& root);

struct HugetlbRoom {
    std::uint64_t bytes;
    std::string limit_file;
};

// The least room of any of the directories; empty when none limits pages of this size.
std::optional<HugetlbRoom> hugetlb_room(const std::vector<std::string>& cgroups,
                                        std::size_t page_bytes);

}  // namespace memgauge::memory
