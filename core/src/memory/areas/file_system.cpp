#include "memory/areas/file_system.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "memgauge/areas.hpp"
#include "sysfs.hpp"

#ifndef STATX_ATTR_DAX
#define STATX_ATTR_DAX 0x00200000  // Linux 5.8
#endif

namespace memgauge::memory {

namespace {

// Of mount(8)'s names, for kernels without procfs; the first of each magic number.
struct Known {
    long magic;
    const char* name;
};
constexpr std::array known{
    Known{EXT4_SUPER_MAGIC, "ext2/3/4"},
    Known{0x58465342, "xfs"},
    Known{TMPFS_MAGIC, "tmpfs"},
    Known{HUGETLBFS_MAGIC, "hugetlbfs"},
    Known{BTRFS_SUPER_MAGIC, "btrfs"},
    Known{NFS_SUPER_MAGIC, "nfs"},
    Known{OVERLAYFS_SUPER_MAGIC, "overlay"},
    Known{V9FS_MAGIC, "9p"},
};

// The kernel lists mounts in pieces: where one ends between two of them, another may be left out.
constexpr int mountinfo_reads = 5;

std::optional<struct statfs> facts_of(int descriptor) {
    struct statfs facts{};
    return fstatfs(descriptor, &facts) == 0 ? std::optional(facts) : std::nullopt;
}

long magic_of(int descriptor) {
    const auto facts = facts_of(descriptor);
    return facts ? static_cast<long>(facts->f_type) : 0;
}

std::optional<int> mount_id(int descriptor) {
    std::ifstream file("/proc/self/fdinfo/" + std::to_string(descriptor));
    for (std::string name; file >> name;) {
        int id = 0;
        if (name == "mnt_id:" && file >> id) return id;
    }
    return std::nullopt;
}

std::optional<int> node_in(const std::string& path) {
    const auto line = sysfs::first_line(path);
    int node = -1;
    if (line) std::from_chars(line->data(), line->data() + line->size(), node);
    return node >= 0 ? std::optional(node) : std::nullopt;
}

}  // namespace

// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue"
std::optional<Mount> parse_mountinfo(std::istream& text, int mount_id) {
    for (std::string line; std::getline(text, line);) {
        int id = -1;
        int parent = 0;
        Mount mount;
        if (std::sscanf(line.c_str(), "%d %d %d:%d", &id, &parent, &mount.major, &mount.minor) !=
                4 ||
            id != mount_id) {
            continue;
        }
        const auto dash = line.find(" - ");
        if (dash == std::string::npos) return std::nullopt;
        std::istringstream rest(line.substr(dash + 3));
        std::string source;
        rest >> mount.type >> source >> mount.options;
        return mount;
    }
    return std::nullopt;
}

std::optional<Mount> mount_of(int descriptor) {
    const auto id = mount_id(descriptor);
    if (!id) return std::nullopt;
    for (int read = 0; read < mountinfo_reads; ++read) {
        std::ifstream file("/proc/self/mountinfo");
        if (auto found = parse_mountinfo(file, *id)) return found;
    }
    return std::nullopt;
}

std::string mount_option(const Mount& mount, const std::string& name) {
    std::istringstream options(mount.options);
    for (std::string option; std::getline(options, option, ',');) {
        if (option.starts_with(name + "=")) return option.substr(name.size() + 1);
    }
    return "";
}

std::optional<std::size_t> free_bytes(int descriptor) {
    const auto facts = facts_of(descriptor);
    if (!facts || facts->f_blocks == 0) return std::nullopt;
    return static_cast<std::size_t>(facts->f_bavail) * static_cast<std::size_t>(facts->f_bsize);
}

std::size_t hugetlb_page_bytes(int descriptor) {
    const auto facts = facts_of(descriptor);
    const bool is_it = facts && magic_of(descriptor) == static_cast<long>(HUGETLBFS_MAGIC);
    return is_it ? static_cast<std::size_t>(facts->f_bsize) : 0;
}

bool is_shmem(int descriptor) {
    return magic_of(descriptor) == TMPFS_MAGIC;
}

std::optional<bool> dax_of(int descriptor) {
    struct statx facts{};
    if (syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_TYPE, &facts) != 0 ||
        (facts.stx_attributes_mask & STATX_ATTR_DAX) == 0) {
        return std::nullopt;
    }
    return (facts.stx_attributes & STATX_ATTR_DAX) != 0;
}

std::optional<int> medium_node(const Mount& mount) {
    const std::string device = "/sys/dev/block/" + std::to_string(mount.major) + ":" +
                               std::to_string(mount.minor) + "/device/";
    // A namespace of an NVDIMM: its region knows the node it would be as memory of its own.
    if (const auto node = node_in(device + "../target_node")) return node;
    return node_in(device + "numa_node");
}

}  // namespace memgauge::memory

namespace memgauge {

std::string file_system_of(int descriptor) {
    if (const auto mount = memory::mount_of(descriptor)) return mount->type;
    const long magic = memory::magic_of(descriptor);
    for (const auto& [number, name] : memory::known) {
        if (number == magic) return name;
    }
    return "";
}

}  // namespace memgauge
