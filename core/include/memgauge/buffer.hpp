#pragma once
// Memory to measure in: asked-for size, alignment, page policy and source, and what was got.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "memgauge/error.hpp"
#include "memgauge/memory_source.hpp"

namespace memgauge {

std::string_view to_string(PagePolicy policy) noexcept;     // "auto", "4k", "thp", "2m", "1g"
PagePolicy page_policy_from_string(std::string_view name);  // throws RequestError

struct BufferRequest {
    std::size_t bytes = 0;
    std::size_t alignment = 4096;  // power of two; data() is aligned to it before offset_bytes
    std::size_t offset_bytes = 0;  // added to the aligned address, to stagger arrays
    PagePolicy pages = PagePolicy::automatic;
    MemorySource memory;
};

std::size_t base_page_bytes() noexcept;

// What the kernel says backs the mapping now (from smaps; valid after the range was touched). The
// mapping is the asked-for range and its offset, rounded up to whole pages of the policy.
struct Backing {
    std::size_t mapped_bytes = 0;
    bool pages_told = false;         // false: smaps could not be read; the next two are unknown
    std::size_t resident_bytes = 0;  // less than the bytes touched: pages were taken away
    std::size_t huge_bytes = 0;      // of the resident bytes, in pages larger than the base page
    std::size_t base_page_bytes = 0;
    std::size_t huge_page_bytes = 0;  // size of those larger pages, 0 when there are none
    // Node that holds most of the resident pages, by a sample; none where the kernel does not
    // report it.
    std::optional<int> node;
    double share_on_node = 0.0;
    // All nodes that hold some of the sampled pages, ascending, and their shares.
    std::vector<std::pair<int, double>> nodes;
};

// Owns the address range of one mapping between two inaccessible guard pages, which keep it from
// being merged with its neighbours, so that the kernel accounts for it alone.
class MappedPages {
public:
    MappedPages() noexcept = default;
    // Reserves addresses only; begin() is a multiple of `granule_bytes`.
    MappedPages(std::size_t bytes, std::size_t granule_bytes);
    ~MappedPages();
    MappedPages(MappedPages&& other) noexcept;
    MappedPages& operator=(MappedPages&& other) noexcept;
    MappedPages(const MappedPages&) = delete;
    MappedPages& operator=(const MappedPages&) = delete;

    [[nodiscard]] std::byte* begin() const noexcept { return begin_; }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

private:
    void release() noexcept;

    std::byte* begin_ = nullptr;
    std::size_t bytes_ = 0;
};

// Owns one anonymous mapping, or a part of an area. Nothing is left mapped when the constructor
// throws. Nothing is touched: who touches first places the pages, unless nodes were asked for.
// Explicit huge pages are reserved here, so that touching them cannot fail; bound to a node they
// are also faulted in here, because the kernel reserves for the machine as a whole only; so are
// pages interleaved by weight, meanwhile `stop` is asked. A buffer moved from may only be assigned
// to or destroyed.
//
// RequestError: zero or absurd size (more than the machine's memory), unknown node, no free huge
// pages, transparent ones switched off (names the remedy). Interrupted: `stop` said so.
class Buffer {
public:
    explicit Buffer(const BufferRequest& request, const StopCheck& stop = {});

    [[nodiscard]] std::byte* data() const noexcept { return begin() + request_.offset_bytes; }
    [[nodiscard]] std::size_t size() const noexcept { return request_.bytes; }
    [[nodiscard]] const BufferRequest& request() const noexcept { return request_; }
    [[nodiscard]] Backing backing() const;
    // The object of a pool that holds data(), where the source is one.
    [[nodiscard]] std::optional<ObjectId> object() const noexcept;

private:
    [[nodiscard]] std::byte* begin() const noexcept {
        return lease_ ? lease_->begin() : mapping_.begin();
    }
    [[nodiscard]] std::size_t mapped_bytes() const noexcept {
        return lease_ ? lease_->size() : mapping_.size();
    }

    BufferRequest request_{};
    MappedPages mapping_;               // anonymous,
    std::unique_ptr<AreaLease> lease_;  // or of an area
};

}  // namespace memgauge
