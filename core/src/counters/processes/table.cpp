#include "counters/processes/table.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>
#include <utility>

#include "memgauge/error.hpp"

namespace memgauge {
namespace {

constexpr std::size_t scanned_at_most = std::size_t{64} * 1024;

using Path = std::array<char, 64>;

template <class... Numbers>
Path path(const char* format, Numbers... numbers) noexcept {
    Path made{};
    std::snprintf(made.data(), made.size(), format, numbers...);
    return made;
}

Descriptor open_at(const Descriptor& directory, const Path& name, int flags) noexcept {
    return Descriptor(openat(directory.get(), name.data(), flags | O_RDONLY | O_CLOEXEC));
}

// Calls `use(id)` for each entry that is a number; whether the directory could be read.
template <class Use>
bool for_each_id(const Descriptor& directory, std::span<char> names, Use use) noexcept {
    if (lseek(directory.get(), 0, SEEK_SET) != 0) return false;
    for (;;) {
        const ssize_t got = getdents64(directory.get(), names.data(), names.size());
        if (got <= 0) return got == 0;
        const auto end = static_cast<std::size_t>(got);
        for (std::size_t at = 0; at < end;) {
            const auto* entry = reinterpret_cast<const dirent64*>(names.data() + at);
            const std::string_view name(entry->d_name);
            int id = 0;
            const auto parsed = std::from_chars(name.data(), name.data() + name.size(), id);
            if (parsed.ec == std::errc{} && parsed.ptr == name.data() + name.size()) use(id);
            at += entry->d_reclen;
        }
    }
}

bool is_over(int error_number) noexcept {
    return error_number == ENOENT || error_number == ESRCH;
}

}  // namespace

std::string_view read_text(const Descriptor& file, std::span<char> into) noexcept {
    std::size_t filled = 0;
    while (filled < into.size()) {
        const ssize_t got = pread(file.get(), into.data() + filled, into.size() - filled,
                                  static_cast<off_t>(filled));
        if (got <= 0) break;
        filled += static_cast<std::size_t>(got);
        if (into[filled - 1] == '\n') break;
    }
    return {into.data(), filled};
}

void take_status(KnownThread& thread, const Switches& switches, std::string_view text) noexcept {
    thread.switches = switches;
    const std::string_view name = parse_name(text).substr(0, thread.name.size() - 1);
    thread.name.fill(0);
    std::ranges::copy(name, thread.name.begin());
}

ProcessTable::ProcessTable(const ProcessTreeRequest& request)
    : procfs_(open(request.procfs.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      wants_threads_(request.switches),
      text_(proc_text_bytes),
      names_(proc_text_bytes) {
    const std::string name = request.procfs + "/" + std::to_string(request.pid);
    if (!procfs_) throw CounterRefused(request.procfs + " cannot be opened", errno, 0);
    processes_.reserve(request.max_processes);
    places_.reserve(request.max_processes);
    if (wants_threads_) threads_.reserve(request.max_threads);
    const int refusal = add_process(request.pid, 0);
    if (refusal != 0) throw CounterRefused(name + " cannot be read", refusal, 0);
    has_children_files_ = static_cast<bool>(
        open_at(procfs_, path("%d/task/%d/children", request.pid, request.pid), 0));
    if (!has_children_files_) scanned_.reserve(scanned_at_most);
    discover();
}

KnownProcess* ProcessTable::find(int pid) noexcept {
    const std::size_t place = place_of(pid);
    if (place == places_.size() || places_[place].pid != pid) return nullptr;
    return &processes_[places_[place].index];
}

std::size_t ProcessTable::place_of(int pid) const noexcept {
    const auto place = std::ranges::lower_bound(places_, pid, {}, &Place::pid);
    return static_cast<std::size_t>(place - places_.begin());
}

void ProcessTable::forget_gone() noexcept {
    std::erase_if(processes_, [](const KnownProcess& process) { return process.gone; });
    places_.clear();
    for (std::size_t index = 0; index < processes_.size(); ++index) {
        places_.push_back({.pid = processes_[index].pid, .index = index});
    }
    std::ranges::sort(places_, {}, &Place::pid);
}

void ProcessTable::forget_ended_threads() noexcept {
    std::erase_if(threads_, [](const KnownThread& thread) { return !thread.status_file; });
    sorted_threads_ = threads_.size();
}

void ProcessTable::discover() noexcept {
    all_processes_ = true;
    all_threads_ = true;
    if (!has_children_files_) add_by_scan();
    // Grows while we go: the children of those just found are found in the same look.
    for (std::size_t index = 0; index < processes_.size(); ++index) look_into(index);
    std::ranges::sort(threads_, {}, &KnownThread::tid);
    sorted_threads_ = threads_.size();
}

// Without CONFIG_PROC_CHILDREN: who names a known process as parent, again and again.
void ProcessTable::add_by_scan() noexcept {
    scanned_.clear();
    for_each_id(procfs_, names_, [this](int pid) {
        if (find(pid) != nullptr) return;
        const auto stat = parse_stat(read_text(open_at(procfs_, path("%d/stat", pid), 0), text_));
        if (!stat) return;
        if (scanned_.size() == scanned_.capacity()) {
            all_processes_ = false;
        } else {
            scanned_.push_back({.pid = pid, .parent = stat->parent});
        }
    });
    for (std::size_t before = 0; before != processes_.size();) {
        before = processes_.size();
        for (const Scanned& other : scanned_) {
            if (find(other.parent) != nullptr) add_child(other.pid, other.parent);
        }
    }
}

void ProcessTable::look_into(std::size_t index) noexcept {
    const KnownProcess& process = processes_[index];
    if (process.gone) return;
    for_each_id(process.tasks, names_, [this, index](int tid) { look_at_task(index, tid); });
}

void ProcessTable::look_at_task(std::size_t index, int tid) noexcept {
    if (wants_threads_) add_thread(index, tid);
    if (has_children_files_) add_children(index, tid);
}

void ProcessTable::add_children(std::size_t index, int tid) noexcept {
    const Descriptor file = open_at(processes_[index].tasks, path("%d/children", tid), 0);
    if (!file) return note_failure(errno, all_processes_);
    std::size_t filled = 0;
    ssize_t got = 0;
    while (filled < text_.size() &&
           (got = pread(file.get(), text_.data() + filled, text_.size() - filled,
                        static_cast<off_t>(filled))) > 0) {
        filled += static_cast<std::size_t>(got);
    }
    if (filled == text_.size()) all_processes_ = false;
    // Children are added through a buffer of their own: opening one does not touch this text.
    std::string_view text(text_.data(), filled);
    while (const auto pid = take_id(text)) add_child(*pid, processes_[index].pid);
}

void ProcessTable::add_thread(std::size_t index, int tid) noexcept {
    const std::span known = std::span(threads_).first(sorted_threads_);
    const auto place = std::ranges::lower_bound(known, tid, {}, &KnownThread::tid);
    if (place != known.end() && place->tid == tid) return;
    if (threads_.size() == threads_.capacity()) {
        all_threads_ = false;
        return;
    }
    Descriptor file = open_at(processes_[index].tasks, path("%d/status", tid), 0);
    if (!file) return note_failure(errno, all_threads_);
    const std::string_view status = read_text(file, text_);
    const auto switches = parse_switches(status);
    if (!switches) return;  // ended meanwhile
    KnownThread thread;
    thread.tid = tid;
    thread.pid = processes_[index].pid;
    thread.status_file = std::move(file);
    take_status(thread, *switches, status);
    thread.schedstat_file = open_at(processes_[index].tasks, path("%d/schedstat", tid), 0);
    if (thread.schedstat_file) {
        thread.times =
            parse_schedstat(read_text(thread.schedstat_file, text_)).value_or(SchedTimes{});
    } else {
        note_failure(errno == ENOENT ? 0 : errno, all_threads_);
    }
    threads_.push_back(std::move(thread));
}

void ProcessTable::add_child(int pid, int parent) noexcept {
    if (find(pid) == nullptr) note_failure(add_process(pid, parent), all_processes_);
}

void ProcessTable::note_failure(int error_number, bool& all) noexcept {
    if (error_number != 0 && !is_over(error_number)) all = false;
}

int ProcessTable::add_process(int pid, int parent) noexcept {
    if (processes_.size() == processes_.capacity()) return ENOSPC;
    KnownProcess process;
    process.pid = pid;
    process.stat_file = open_at(procfs_, path("%d/stat", pid), 0);
    if (!process.stat_file) return errno;
    std::array<char, 4096> text{};
    const auto stat = parse_stat(read_text(process.stat_file, text));
    // Another parent: an orphan by now, or another process under the same number. X: being waited
    // for, so that it may be among what was read of its parent already.
    const bool other = parent != 0 && stat && stat->parent != parent;
    if (!stat || other || stat->state == 'X') return ESRCH;
    process.stat = *stat;
    process.waited_before = stat->waited;
    process.statm_file = open_at(procfs_, path("%d/statm", pid), 0);
    if (!process.statm_file) return errno;
    process.io_file = open_at(procfs_, path("%d/io", pid), 0);
    if (!process.io_file && errno == EMFILE) return EMFILE;
    process.tasks = open_at(procfs_, path("%d/task", pid), O_DIRECTORY);
    if (!process.tasks) return errno;
    const Place place{.pid = pid, .index = processes_.size()};
    places_.insert(places_.begin() + static_cast<std::ptrdiff_t>(place_of(pid)), place);
    processes_.push_back(std::move(process));
    return 0;
}

}  // namespace memgauge
