#pragma once
// The processes and threads of a tree that are known, parents before their children, with their
// files kept open. A kept-open file of procfs stays that of its process: when that has ended
// reading it fails, even where another process has its number by then.

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "counters/processes/text.hpp"
#include "descriptor.hpp"
#include "memgauge/counters/process_tree.hpp"

namespace memgauge {

struct KnownProcess {
    int pid = 0;
    Descriptor stat_file;
    Descriptor statm_file;
    Descriptor io_file;
    Descriptor tasks;  // directory
    // As last read.
    ProcessStat stat;
    std::uint64_t resident_pages = 0;
    std::optional<StorageUse> io;  // nothing: may not be read
    std::uint64_t cpu_ns = 0;
    ProcessUse waited_before;  // stat.waited at the last reading that was accounted for
    bool gone = false;         // reading it failed: has ended and was waited for, or vanished
    bool settled = false;      // of one gone: what it used is accounted for
    bool skipped = false;      // had nothing new at the last reading
};

struct KnownThread {
    int tid = 0;
    int pid = 0;
    Descriptor status_file;
    Descriptor schedstat_file;
    Switches switches;
    SchedTimes times;
    std::array<char, 64> name{};
    enum class Entry : std::uint8_t { none, made, refused } entry = Entry::none;
    std::size_t place = 0;  // of its entry in the ledger
    // Of the ledger's events; null: that one could not be opened. Empty: none was tried.
    std::vector<std::unique_ptr<CounterSource>> counters;
};

// Takes what its status says.
void take_status(KnownThread& thread, const Switches& switches, std::string_view text) noexcept;

// What a small file of procfs says now; empty where it can no longer be read.
std::string_view read_text(const Descriptor& file, std::span<char> into) noexcept;

class ProcessTable {
public:
    // Takes all memory that will be needed. CounterRefused: the process is not there.
    explicit ProcessTable(const ProcessTreeRequest& request);

    // Looks for new descendants of all known processes, and for their new threads.
    void discover() noexcept;

    [[nodiscard]] std::span<KnownProcess> processes() noexcept { return processes_; }
    [[nodiscard]] std::span<KnownThread> threads() noexcept { return threads_; }
    // Null: not known.
    [[nodiscard]] KnownProcess* find(int pid) noexcept;
    void forget_gone() noexcept;
    // Those whose file is closed.
    void forget_ended_threads() noexcept;

    // Whether all processes (threads) that the last discovery saw are known: else there was no
    // room, or no descriptor, for one.
    [[nodiscard]] bool all_processes() const noexcept { return all_processes_; }
    [[nodiscard]] bool all_threads() const noexcept { return all_threads_; }

private:
    struct Place {
        int pid;
        std::size_t index;  // in processes_
    };

    void look_into(std::size_t index) noexcept;
    void look_at_task(std::size_t index, int tid) noexcept;
    void add_by_scan() noexcept;
    void add_children(std::size_t index, int tid) noexcept;
    void add_thread(std::size_t index, int tid) noexcept;
    void add_child(int pid, int parent) noexcept;
    // 0, or the errno. `parent` 0: any.
    int add_process(int pid, int parent) noexcept;
    // What is over is no failure; for anything else `all` is not all.
    static void note_failure(int error_number, bool& all) noexcept;
    [[nodiscard]] std::size_t place_of(int pid) const noexcept;

    Descriptor procfs_;
    bool has_children_files_ = false;
    bool wants_threads_;
    bool all_processes_ = true;
    bool all_threads_ = true;
    // Never longer than their capacity is at first.
    std::vector<KnownProcess> processes_;
    std::vector<KnownThread> threads_;  // sorted by tid when discovery ends
    std::size_t sorted_threads_ = 0;
    std::vector<Place> places_;  // sorted by pid
    struct Scanned {
        int pid;
        int parent;
    };
    std::vector<Scanned> scanned_;
    std::vector<char> text_;
    std::vector<char> names_;
};

}  // namespace memgauge
