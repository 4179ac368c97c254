#pragma once
// A shared mapping of a part of a file or device, and the pages it may be given.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "memgauge/buffer.hpp"
#include "memgauge/memory_source.hpp"

namespace memgauge::memory {

// MAP_SYNC (mmap(2)): what was written is persistent once its cache lines are written back, with no
// msync. The kernel grants it on DAX only.
enum class Sync : bool { no, yes };

// 0, or the errno of mmap(2).
int map_shared(const MappedPages& range, int descriptor, std::size_t offset, Sync sync) noexcept;

// Whether the kernel grants MAP_SYNC: tried on one page or granule of the file, which has it.
bool grants_sync(int descriptor, std::size_t offset, std::size_t bytes);

// The size of a transparent huge page, or 2 MiB where that is very large or there is none.
std::size_t area_granule_bytes();

// The size in bytes of explicit pages; 0: the policy names none.
std::size_t explicit_bytes(PagePolicy policy) noexcept;

// Refuses what a medium with pages of one size cannot give. `what` begins the message.
void require_fixed_pages(const std::string& what, PagePolicy policy, std::size_t page_bytes);

// Why shmem of a mount with this huge= option, or without a mount (empty), gives no huge pages.
std::optional<std::string> shmem_obstacle(const std::optional<std::string>& huge_option);

// Asks for the pages of the policy; whether the kernel follows is seen in smaps only.
void advise_shared(const MappedPages& range, PagePolicy policy) noexcept;

// How much of memory a mapping for so many bytes covers: whole pages of the policy.
std::size_t mapped_for(std::size_t bytes, PagePolicy policy, std::size_t fixed_page_bytes);

// A mapped range; `at_end` is called when it is no longer mapped, and must not throw.
class MappedLease final : public AreaLease {
public:
    MappedLease(MappedPages pages, std::function<void()> at_end)
        : pages_(std::move(pages)), at_end_(std::move(at_end)) {}
    ~MappedLease() override {
        pages_ = MappedPages();
        at_end_();
    }
    MappedLease(const MappedLease&) = delete;
    MappedLease& operator=(const MappedLease&) = delete;

    [[nodiscard]] std::byte* begin() const noexcept override { return pages_.begin(); }
    [[nodiscard]] std::size_t size() const noexcept override { return pages_.size(); }

private:
    MappedPages pages_;
    std::function<void()> at_end_;
};

}  // namespace memgauge::memory
