#pragma once
// What /proc/PID/stat, statm, io and /proc/PID/task/TID/status and schedstat say, parsed without
// allocating. proc_pid_stat(5), proc_pid_io(5), proc_pid_status(5).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace memgauge {

// Longer than any of these files but maps.
inline constexpr std::size_t proc_text_bytes = std::size_t{64} * 1024;

// Used by a process, or by the children it has waited for. Times in ticks of USER_HZ.
struct ProcessUse {
    std::uint64_t minor_faults = 0;
    std::uint64_t major_faults = 0;
    std::uint64_t user_ticks = 0;
    std::uint64_t system_ticks = 0;
};

struct ProcessStat {
    char state = '?';
    int parent = 0;
    ProcessUse own;
    ProcessUse waited;  // of children waited for, with what those had waited for
    std::uint64_t threads = 0;
    std::uint64_t start_ticks = 0;
};

// Nothing where the text is cut, or no such line at all.
std::optional<ProcessStat> parse_stat(std::string_view text) noexcept;

// Resident pages as /proc/PID/statm has them: newer kernels add them up exactly for it, and not for
// stat, whose figure may lag by dozens of pages for each CPU.
std::optional<std::uint64_t> parse_resident(std::string_view text) noexcept;

// Bytes to and from storage, those of children waited for included.
struct StorageUse {
    std::uint64_t read_bytes = 0;
    std::uint64_t write_bytes = 0;
};
std::optional<StorageUse> parse_io(std::string_view text) noexcept;

struct Switches {
    std::uint64_t voluntary = 0;
    std::uint64_t involuntary = 0;
};
std::optional<Switches> parse_switches(std::string_view text) noexcept;

// Time that a thread ran, and that it could have run but waited for a processor
// (Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat).
struct SchedTimes {
    std::uint64_t cpu_ns = 0;
    std::uint64_t run_delay_ns = 0;
};
std::optional<SchedTimes> parse_schedstat(std::string_view text) noexcept;

// Of status: largest resident size so far (VmHWM), which kernel threads and zombies lack.
std::optional<std::uint64_t> parse_peak_bytes(std::string_view text) noexcept;

// Of status: the thread's name, in the kernel's escapes.
std::string_view parse_name(std::string_view text) noexcept;

// Takes the next decimal number of a list off the text; nothing at its end.
std::optional<int> take_id(std::string_view& text) noexcept;

}  // namespace memgauge
