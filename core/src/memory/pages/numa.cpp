#include "memory/pages/numa.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "memgauge/buffer.hpp"
#include "memgauge/error.hpp"
#include "scramble.hpp"
#include "sysfs.hpp"

namespace memgauge::memory {

namespace {

constexpr std::size_t sampled_pages = 4096;  // shares to within one per cent

std::string list_text(const std::vector<int>& ids) {
    std::string text;
    for (const int id : ids) {
        text += (text.empty() ? "" : ",") + std::to_string(id);
    }
    return text;
}

using PagesOnNode = std::map<int, std::uint64_t>;

std::optional<Placement> majority(const PagesOnNode& pages) {
    std::uint64_t total = 0;
    auto most = pages.end();
    for (auto entry = pages.begin(); entry != pages.end(); ++entry) {
        total += entry->second;
        most = most == pages.end() || entry->second > most->second ? entry : most;
    }
    if (total == 0) {
        return std::nullopt;
    }
    Placement found{most->first, 0.0, {}};
    for (const auto& [node, count] : pages) {
        found.nodes.emplace_back(node, static_cast<double>(count) / static_cast<double>(total));
        if (node == found.node) found.share = found.nodes.back().second;
    }
    return found;
}

std::vector<void*> sample(const std::byte* begin, std::size_t bytes) {
    const std::size_t page = base_page_bytes();
    const auto first = reinterpret_cast<std::uintptr_t>(begin) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(begin) + bytes;
    const std::size_t pages = (end - first + page - 1) / page;
    const std::size_t count = std::min(pages, sampled_pages);
    std::vector<void*> samples(count);
    // One from each of `count` equal stretches, at a scrambled place in it: evenly spaced ones
    // would all be of one node where pages are dealt out to nodes in turn.
    std::uint64_t state = 0;
    for (std::size_t index = 0; index < count; ++index) {
        const std::size_t from = pages * index / count;
        const std::size_t room = pages * (index + 1) / count - from;
        const auto place = static_cast<std::size_t>(
            scrambled_next(state, ~std::uint64_t{0}, scramble_shift(64)) % room);
        samples[index] = reinterpret_cast<void*>(first + (from + place) * page);
    }
    return samples;
}

}  // namespace

std::vector<int> memory_nodes() {
    const std::string root = "/sys/devices/system/node/";
    auto nodes = sysfs::id_list(root + "has_memory");
    const auto online = sysfs::id_list(root + "online");
    if (!nodes || nodes->empty()) {
        nodes = online;
    } else if (online) {
        std::erase_if(*nodes, [&](int node) { return std::ranges::count(*online, node) == 0; });
    }
    return nodes && !nodes->empty() ? *nodes : std::vector<int>{0};
}

std::size_t physical_bytes() noexcept {
    const long pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? static_cast<std::size_t>(pages) * base_page_bytes() : 0;
}

void require_node(int node) {
    const auto nodes = memory_nodes();
    if (std::ranges::count(nodes, node) == 0) {
        throw RequestError("no memory on node " + std::to_string(node) +
                           ": it is not an online node with memory; choose among " +
                           list_text(nodes));
    }
}

std::string bind_refusal(int node, int error_number) {
    const std::string what = "cannot bind memory to node " + std::to_string(node) + ": ";
    if (error_number == EPERM || error_number == ENOSYS) {
        return what +
               "memory policies are not permitted here; in a container, allow them "
               "(--cap-add SYS_NICE) or leave the node out";
    }
    if (error_number == EINVAL) {
        return what +
               "it is outside the nodes this process may use (Mems_allowed_list in "
               "/proc/self/status); choose another or widen the cpuset";
    }
    return what + SystemError("mbind", error_number).what();
}

std::vector<unsigned long> node_mask(const std::vector<int>& nodes) {
    constexpr std::size_t word_bits = sizeof(unsigned long) * 8;
    std::vector<unsigned long> mask;
    for (const int node : nodes) {
        const auto bit = static_cast<std::size_t>(node);
        mask.resize(std::max(mask.size(), bit / word_bits + 1));
        mask[bit / word_bits] |= 1UL << (bit % word_bits);
    }
    return mask;
}

std::size_t mask_bits(const std::vector<unsigned long>& mask) {
    // The kernel reads one bit less than it is given.
    return mask.size() * sizeof(unsigned long) * 8 + 1;
}

void bind_to_node(std::byte* begin, std::size_t bytes, int node) {
    const std::vector<unsigned long> mask = node_mask({node});
    if (syscall(SYS_mbind, begin, bytes, mpol_bind, mask.data(), mask_bits(mask), 0U) == 0) {
        return;
    }
    const int error = errno;
    const bool refused = error == EPERM || error == ENOSYS;
    if (refused && memory_nodes().size() == 1) {
        return;  // all memory lies on the only node there is
    }
    throw RequestError(bind_refusal(node, error));
}

std::optional<Placement> parse_numa_maps(std::istream& text, std::uintptr_t begin) {
    std::string line;
    while (std::getline(text, line)) {
        std::istringstream words(line);
        std::uintptr_t start = 0;
        if (!(words >> std::hex >> start) || start != begin) {
            continue;
        }
        PagesOnNode pages;
        for (std::string word; words >> word;) {
            int node = 0;
            std::uint64_t count = 0;
            if (std::sscanf(word.c_str(), "N%d=%" SCNu64, &node, &count) == 2) {
                pages[node] += count;
            }
        }
        return majority(pages);
    }
    return std::nullopt;
}

std::optional<Placement> placement(const std::byte* begin, std::size_t bytes) {
    std::vector<void*> pages = sample(begin, bytes);
    std::vector<int> where(pages.size(), -1);
    // Without a list of targets move_pages moves nothing and reports where each page is.
    if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, where.data(), 0) != 0) {
        std::ifstream file("/proc/self/numa_maps");
        return parse_numa_maps(file, reinterpret_cast<std::uintptr_t>(begin));
    }
    PagesOnNode counts;
    for (const int node : where) {
        if (node >= 0) {
            ++counts[node];
        }
    }
    return majority(counts);
}

}  // namespace memgauge::memory
