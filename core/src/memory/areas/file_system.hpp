#pragma once
// What an open file is in, and what that gives it.

#include <cstddef>
#include <istream>
#include <optional>
#include <string>

namespace memgauge::memory {

// Of a line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
struct Mount {
    std::string type;     // "ext4"
    std::string options;  // of the file system: "rw,size=65536k,huge=always"
    int major = 0;        // of the device
    int minor = 0;
};

std::optional<Mount> parse_mountinfo(std::istream& text, int mount_id);
// Empty where the kernel does not report it: a file without a mount, or no procfs.
std::optional<Mount> mount_of(int descriptor);

// The value of an option such as huge=always; empty: it is not set.
std::string mount_option(const Mount& mount, const std::string& name);

// Of the file system: what one may still take, and nothing where it has no limit.
std::optional<std::size_t> free_bytes(int descriptor);

// The size of its pages, where it is hugetlbfs; else 0.
std::size_t hugetlb_page_bytes(int descriptor);
// tmpfs, and what the kernel calls shmem: its pages are memory.
bool is_shmem(int descriptor);

// Whether the file is used without the page cache (STATX_ATTR_DAX); empty before Linux 5.8.
std::optional<bool> dax_of(int descriptor);

// Of the medium below a file, where the block device knows it.
std::optional<int> medium_node(const Mount& mount);

}  // namespace memgauge::memory
