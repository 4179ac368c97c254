#include "counters/processes/account.hpp"

#include <algorithm>

namespace memgauge {
namespace {

// Own and waited-for times are each rounded down to a tick where the kernel shows them.
constexpr std::uint64_t rounding_ticks = 2;

ProcessUse operator+(const ProcessUse& a, const ProcessUse& b) noexcept {
    return {.minor_faults = a.minor_faults + b.minor_faults,
            .major_faults = a.major_faults + b.major_faults,
            .user_ticks = a.user_ticks + b.user_ticks,
            .system_ticks = a.system_ticks + b.system_ticks};
}

std::uint64_t without(std::uint64_t from, std::uint64_t taken) noexcept {
    return from > taken ? from - taken : 0;
}

ProcessUse all_of(const KnownProcess& process) noexcept {
    return process.stat.own + process.stat.waited;
}

// What the process got from waiting and nobody has claimed yet.
ProcessUse unclaimed(const KnownProcess& process) noexcept {
    const ProcessUse& now = process.stat.waited;
    const ProcessUse& claimed = process.waited_before;
    return {.minor_faults = without(now.minor_faults, claimed.minor_faults),
            .major_faults = without(now.major_faults, claimed.major_faults),
            .user_ticks = without(now.user_ticks, claimed.user_ticks),
            .system_ticks = without(now.system_ticks, claimed.system_ticks)};
}

bool covers(const ProcessUse& got, const ProcessUse& used) noexcept {
    return got.minor_faults >= used.minor_faults && got.major_faults >= used.major_faults &&
           got.user_ticks + rounding_ticks >= used.user_ticks &&
           got.system_ticks + rounding_ticks >= used.system_ticks;
}

// Whether one of its ancestors has it among what it got from waiting; claims it there. All are
// asked: an orphan passes to an ancestor further up that is a subreaper (prctl(2)). One that is
// gone too is asked as well: it may have been read after it waited, and then has the child in its
// sums.
bool claim(ProcessTable& table, const KnownProcess& process) noexcept {
    const ProcessUse used = all_of(process);
    for (KnownProcess* ancestor = table.find(process.stat.parent); ancestor != nullptr;
         ancestor = table.find(ancestor->stat.parent)) {
        if (!covers(unclaimed(*ancestor), used)) continue;
        ancestor->waited_before = ancestor->waited_before + used;
        return true;
    }
    return false;
}

// The largest of those gone that are not settled yet; null: none.
KnownProcess* largest_gone(ProcessTable& table) noexcept {
    KnownProcess* largest = nullptr;
    for (KnownProcess& process : table.processes()) {
        if (!process.gone || process.settled) continue;
        if (largest == nullptr || all_of(process).minor_faults > all_of(*largest).minor_faults) {
            largest = &process;
        }
    }
    return largest;
}

}  // namespace

void TreeUse::add(const KnownProcess& process, std::uint64_t ns_per_tick) noexcept {
    use = use + all_of(process);
    storage_known = storage_known && process.io.has_value();
    if (process.io) {
        storage.read_bytes += process.io->read_bytes;
        storage.write_bytes += process.io->write_bytes;
    }
    const ProcessUse& waited = process.stat.waited;
    cpu_ns += process.cpu_ns + (waited.user_ticks + waited.system_ticks) * ns_per_tick;
}

void settle(ProcessTable& table, TreeUse& departed, std::uint64_t ns_per_tick) noexcept {
    bool any = false;
    while (KnownProcess* process = largest_gone(table)) {
        any = true;
        process->settled = true;
        if (!claim(table, *process)) departed.add(*process, ns_per_tick);
    }
    for (KnownProcess& process : table.processes()) process.waited_before = process.stat.waited;
    if (any) table.forget_gone();
}

}  // namespace memgauge
