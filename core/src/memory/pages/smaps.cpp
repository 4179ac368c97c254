#include "memory/pages/smaps.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

namespace memgauge::memory {

namespace {

// One area as smaps prints it, sizes in bytes.
struct Area {
    std::size_t overlap = 0;
    std::size_t resident = 0;
    std::size_t transparent_huge = 0;
    std::size_t hugetlb = 0;
    std::size_t page = 0;
};

struct Bounds {
    std::uintptr_t begin;
    std::uintptr_t end;
};

// "7f00-7f10 rw-p ..." heads an area; every other line is "Name:   value kB".
std::optional<Bounds> parse_head(const std::string& line) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char space = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 "%c", &begin, &end, &space) != 3 ||
        space != ' ') {
        return std::nullopt;
    }
    return Bounds{begin, end};
}

void take_field(Area& area, const std::string& line) {
    char name[32] = {};
    std::uint64_t kilobytes = 0;
    if (std::sscanf(line.c_str(), "%31[A-Za-z_]: %" SCNu64, name, &kilobytes) != 2) {
        return;
    }
    const std::string_view field = name;
    const std::size_t bytes = kilobytes * 1024;
    if (field == "Rss") {
        area.resident = bytes;
    } else if (field == "AnonHugePages" || field == "ShmemPmdMapped" || field == "FilePmdMapped") {
        area.transparent_huge += bytes;
    } else if (field == "KernelPageSize") {
        area.page = bytes;
    } else if (field == "Private_Hugetlb" || field == "Shared_Hugetlb") {
        area.hugetlb += bytes;
    }
}

// hugetlb pages are not part of Rss.
void add(RangePages& sum, const Area& area) {
    sum.resident_bytes += std::min(area.resident + area.hugetlb, area.overlap);
    sum.transparent_bytes += std::min(area.transparent_huge, area.overlap);
    sum.explicit_bytes += std::min(area.hugetlb, area.overlap);
    if (area.hugetlb != 0) {
        sum.explicit_page_bytes = area.page;
    }
}

}  // namespace

std::optional<RangePages> parse_smaps(std::istream& text, std::uintptr_t begin,
                                      std::uintptr_t end) {
    RangePages sum;
    Area area;
    bool found = false;
    std::string line;
    while (std::getline(text, line)) {
        if (const auto head = parse_head(line)) {
            add(sum, area);
            area = {};
            if (head->begin >= end) {
                break;  // areas are in ascending order
            }
            const auto from = std::max(head->begin, begin);
            const auto to = std::min(head->end, end);
            area.overlap = to > from ? to - from : 0;
            found = found || area.overlap != 0;
        } else if (area.overlap != 0) {
            take_field(area, line);
        }
    }
    add(sum, area);
    return found ? std::optional(sum) : std::nullopt;
}

std::optional<RangePages> read_smaps(const std::byte* begin, std::size_t bytes) {
    std::ifstream file("/proc/self/smaps");
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    return parse_smaps(file, first, first + bytes);
}

}  // namespace memgauge::memory
