#pragma once
// Sums over a tree of processes that never lose what an ended process did.

#include <cstdint>
#include <span>

#include "counters/processes/table.hpp"
#include "counters/processes/text.hpp"

namespace memgauge {

// What processes used. Children that were waited for are in their parent's.
struct TreeUse {
    ProcessUse use;
    StorageUse storage;
    bool storage_known = true;
    std::uint64_t cpu_ns = 0;

    void add(const KnownProcess& process, std::uint64_t ns_per_tick) noexcept;
};

// Adds to `departed` what those gone had used, as last read, but for those whose parent, or its
// parent, has taken it over by waiting for them: the kernel does not say who did. A gone process
// counts as waited for when what an ancestor got from waiting since the last reading is
// enough for it; the largest first. So nothing is counted twice. Lost is an unwaited-for process
// only where, at the same time, an ancestor got as much from children never seen.
//
// To be called when all that are not gone were read after the last of the others had gone.
void settle(ProcessTable& table, TreeUse& departed, std::uint64_t ns_per_tick) noexcept;

}  // namespace memgauge
