#include "memory/pages/hugetlb_limit.hpp"

#include <string_view>

#include "sysfs.hpp"

namespace memgauge::memory {

namespace {

// "/a/b" as root/a/b, root/a, root.
void add_upwards(std::vector<std::string>& directories, const std::string& root, std::string path) {
    if (path.find("..") != std::string::npos) {
        path.clear();  // outside this mount: only the mount's own root can be read
    }
    while (!path.empty() && path != "/") {
        directories.push_back(root + path);
        path.erase(path.rfind('/'));
    }
    directories.push_back(root);
}

// As the files are named: hugetlb.64KB, hugetlb.2MB, hugetlb.1GB.
std::string file_prefix(std::size_t page_bytes) {
    constexpr std::size_t kib_per_gib = std::size_t{1} << 20U;
    const std::size_t kib = page_bytes / 1024;
    if (kib % kib_per_gib == 0) {
        return "/hugetlb." + std::to_string(kib / kib_per_gib) + "GB.";
    }
    return "/hugetlb." +
           (kib % 1024 == 0 ? std::to_string(kib / 1024) + "MB." : std::to_string(kib) + "KB.");
}

struct Names {
    const char* limit;
    const char* used;
};

constexpr Names version_2{"max", "current"};
constexpr Names version_1{"limit_in_bytes", "usage_in_bytes"};

}  // namespace

std::vector<std::string> hugetlb_cgroups(std::istream& text, const std::string& root) {
    std::vector<std::string> directories;
    std::string line;
    while (std::getline(text, line)) {
        const auto first = line.find(':');
        const auto second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        std::string controllers(",");
        controllers.append(line, first + 1, second - first - 1).push_back(',');
        const std::string path = line.substr(second + 1);
        if (controllers == ",,") {
            add_upwards(directories, root, path);
        } else if (controllers.find(",hugetlb,") != std::string::npos) {
            add_upwards(directories, root + "/hugetlb", path);
        }
    }
    return directories;
}

std::optional<HugetlbRoom> hugetlb_room(const std::vector<std::string>& cgroups,
                                        std::size_t page_bytes) {
    std::optional<HugetlbRoom> least;
    for (const std::string& cgroup : cgroups) {
        for (const Names names : {version_2, version_1}) {
            const std::string prefix = cgroup + file_prefix(page_bytes);
            const auto limit = sysfs::number(prefix + names.limit);  // "max" is no number: no limit
            if (!limit) {
                continue;
            }
            const auto used = sysfs::number(prefix + names.used).value_or(0);
            const std::uint64_t room = *limit > used ? *limit - used : 0;
            if (!least || room < least->bytes) {
                least = HugetlbRoom{room, prefix + names.limit};
            }
        }
    }
    return least;
}

}  // namespace memgauge::memory
