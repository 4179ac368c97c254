#pragma once
// Where the pages of a buffer come from: this machine's own memory, by NUMA policy, or an area that
// was opened before: a file, a device, a pool.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace memgauge {

// k4: base pages, transparent huge pages switched off for the range. thp: transparent huge pages
// asked for with madvise. huge2m, huge1g: explicit hugetlb pages, an error when there are none
// free. automatic: thp where the kernel allows it, else base pages.
enum class PagePolicy : std::uint8_t { automatic, k4, thp, huge2m, huge1g };

// An object of a persistent pool: what libpmemobj's PMEMoid holds.
struct ObjectId {
    std::uint64_t pool = 0;
    std::uint64_t offset = 0;
};

// A mapped part of an area, for as long as this lives; freed for others after.
class AreaLease {
public:
    AreaLease() = default;
    AreaLease(const AreaLease&) = delete;
    AreaLease& operator=(const AreaLease&) = delete;
    virtual ~AreaLease() = default;

    // Aligned as asked; readable and writable over size() bytes.
    [[nodiscard]] virtual std::byte* begin() const noexcept = 0;
    [[nodiscard]] virtual std::size_t size() const noexcept = 0;  // at least what was asked for
    // The object that begins at begin(), where the area is a pool.
    [[nodiscard]] virtual std::optional<ObjectId> object() const noexcept { return std::nullopt; }
};

// What an area is, as the kernel reports it; what it does not report is none.
struct AreaFacts {
    std::string kind;         // "file", "devdax", "pmemobj", "shm"
    std::string path;         // empty: it has none
    std::string file_system;  // "ext4", "xfs", "tmpfs", "hugetlbfs"; empty: not in one
    // Whether loads and stores reach the medium itself, without the page cache.
    std::optional<bool> dax;
    std::optional<bool> map_sync;  // whether the kernel granted MAP_SYNC
    std::optional<int> node;       // of the medium, where the kernel knows it
    std::size_t page_bytes = 0;    // of a medium with pages of one size; 0: the policy decides
};

// Memory with a place of its own, opened for a run. What was made for it is removed with it, unless
// it was to be kept; what was there before is never overwritten.
class MemoryArea {
public:
    MemoryArea() = default;
    MemoryArea(const MemoryArea&) = delete;
    MemoryArea& operator=(const MemoryArea&) = delete;
    virtual ~MemoryArea() = default;

    // RequestError: it is full (says how much is left, of what), or it cannot give such pages.
    virtual std::unique_ptr<AreaLease> take(std::size_t bytes, std::size_t alignment,
                                            PagePolicy pages) = 0;
    [[nodiscard]] virtual AreaFacts facts() const = 0;
};

struct MemorySource {
    // None: the thread that touches a page first places it. One: bound strictly to that node.
    // Several: pages in turn.
    std::vector<int> nodes;
    // Of several nodes, how many pages each gets before the next has its turn, 1 to 255, as Linux's
    // weighted interleave counts; empty: one each.
    std::vector<unsigned> weights;
    // Pages of this instead; then there are no nodes.
    std::shared_ptr<MemoryArea> area;

    [[nodiscard]] static MemorySource on(int node) { return {{node}, {}, nullptr}; }
    // The node all pages are bound to, if there is one.
    [[nodiscard]] std::optional<int> node() const {
        return nodes.size() == 1 ? std::optional<int>(nodes.front()) : std::nullopt;
    }
};

}  // namespace memgauge
