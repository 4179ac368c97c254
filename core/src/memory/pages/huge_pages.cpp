#include "memory/pages/huge_pages.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "memgauge/error.hpp"
#include "memory/pages/hugetlb_limit.hpp"
#include "sysfs.hpp"

namespace memgauge::memory {

namespace {

constexpr std::string_view transparent_root = "/sys/kernel/mm/transparent_hugepage/";
constexpr std::string_view explicit_root = "/sys/kernel/mm/hugepages/";

std::string transparent(std::string_view name) {
    return std::string(transparent_root).append(name);
}

std::string pool_name(std::size_t page_bytes) {
    return "hugepages-" + std::to_string(page_bytes / 1024) + "kB";
}

std::string transparent_mode() {
    // Since Linux 6.8 each size has a switch of its own, which may defer to the common one.
    const auto common = sysfs::chosen_word(transparent("enabled"));
    const auto own =
        sysfs::chosen_word(transparent(pool_name(transparent_page_bytes()) + "/enabled"));
    return own && *own != "inherit" ? *own : common.value_or("");
}

struct Pool {
    std::uint64_t total = 0;      // may grow to this and `overcommit` more
    std::uint64_t available = 0;  // not in use, not promised to other mappings
};

std::optional<Pool> pool(std::size_t page_bytes, std::optional<int> node) {
    if (node) {
        // Promises are kept for the whole machine only, so a node reports just what is free.
        const std::string path = "/sys/devices/system/node/node" + std::to_string(*node) +
                                 "/hugepages/" + pool_name(page_bytes) + "/";
        const auto free = sysfs::number(path + "free_hugepages");
        return free ? std::optional(Pool{sysfs::number(path + "nr_hugepages").value_or(0), *free})
                    : std::nullopt;
    }
    const std::string path = std::string(explicit_root) + pool_name(page_bytes) + "/";
    const auto free = sysfs::number(path + "free_hugepages");
    if (!free) {
        return std::nullopt;
    }
    const auto of = [&path](const char* name) { return sysfs::number(path + name).value_or(0); };
    const std::uint64_t promised = std::min(*free, of("resv_hugepages"));
    const std::uint64_t overcommit = of("nr_overcommit_hugepages");
    const std::uint64_t surplus = std::min(overcommit, of("surplus_hugepages"));
    return Pool{of("nr_hugepages"), *free - promised + overcommit - surplus};
}

std::string existing_pools() {
    std::string names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(explicit_root, ignored)) {
        names += (names.empty() ? "" : ", ") + entry.path().filename().string();
    }
    return names.empty() ? "none" : names;
}

std::string remedy(std::size_t page_bytes, std::uint64_t wanted_total, std::optional<int> node) {
    const std::string directory =
        node ? "/sys/devices/system/node/node" + std::to_string(*node) + "/hugepages/"
             : std::string(explicit_root);
    std::string text = "as root: echo " + std::to_string(wanted_total) + " > " + directory +
                       pool_name(page_bytes) + "/nr_hugepages";
    if (page_bytes >= std::size_t{1} << 30U) {
        text += ", or boot with hugepagesz=1G hugepages=" + std::to_string(wanted_total);
    }
    return text;
}

void require_cgroup_room(const std::string& what, std::size_t page_bytes, std::uint64_t bytes) {
    std::ifstream membership("/proc/self/cgroup");
    const auto room = hugetlb_room(hugetlb_cgroups(membership, "/sys/fs/cgroup"), page_bytes);
    if (room && room->bytes < bytes) {
        throw RequestError(what + ": the cgroup allows " + size_text(room->bytes) +
                           " more of them; raise " + room->limit_file +
                           " (in Kubernetes the pod's hugepages limit) or use --pages thp");
    }
}

}  // namespace

std::size_t transparent_page_bytes() {
    return sysfs::number(transparent("hpage_pmd_size")).value_or(0);
}

std::optional<std::string> transparent_pages_obstacle() {
    const std::string mode = transparent_mode();
    if (mode.empty()) {
        return "this kernel has no transparent huge pages; use --pages 4k";
    }
    if (mode == "never") {
        return "they are switched off (" + transparent("enabled") +
               " is never); as root: echo madvise > " + transparent("enabled");
    }
    if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1) {
        return "they are switched off for this process (prctl PR_SET_THP_DISABLE by its parent); "
               "start it from another parent or use --pages 4k";
    }
    return std::nullopt;
}

void require_explicit_pages(std::size_t page_bytes, std::size_t bytes, std::optional<int> node) {
    const std::uint64_t needed = (bytes + page_bytes - 1) / page_bytes;
    const std::string what = "cannot map " + size_text(bytes) + " in explicit pages of " +
                             size_text(page_bytes) +
                             (node ? " on node " + std::to_string(*node) : "");
    const auto found = pool(page_bytes, node);
    if (!found) {
        throw RequestError(what + ": this machine has no such pool (it has: " + existing_pools() +
                           "); use --pages thp or 4k");
    }
    require_cgroup_room(what, page_bytes, needed * page_bytes);
    if (found->available < needed) {
        const std::uint64_t wanted_total = found->total + needed - found->available;
        throw RequestError(what + ": pages needed: " + std::to_string(needed) +
                           ", free: " + std::to_string(found->available) + "; " +
                           remedy(page_bytes, wanted_total, node));
    }
}

std::string size_text(std::size_t bytes) {
    constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    std::size_t unit = 0;
    while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < units.size()) {
        bytes /= 1024;
        ++unit;
    }
    return std::to_string(bytes) + " " + units[unit];
}

}  // namespace memgauge::memory
