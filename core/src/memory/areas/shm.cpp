// Shared memory without a name: each buffer is a memfd of its own, since its kind of pages is said
// when it is made.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <string>

#include "descriptor.hpp"
#include "memgauge/areas.hpp"
#include "memgauge/error.hpp"
#include "memory/areas/shared_mapping.hpp"
#include "memory/pages/huge_pages.hpp"
#include "memory/pages/numa.hpp"

namespace memgauge {

namespace {

using memory::size_text;

class ShmArea final : public MemoryArea {
public:
    std::unique_ptr<AreaLease> take(std::size_t bytes, std::size_t alignment,
                                    PagePolicy pages) override;
    [[nodiscard]] AreaFacts facts() const override {
        AreaFacts facts;
        facts.kind = "shm";
        facts.dax = false;
        facts.map_sync = false;
        return facts;
    }
};

Descriptor make(const std::string& what, std::size_t bytes, std::size_t page) {
    unsigned flags = MFD_CLOEXEC;
    if (page != 0) {
        flags |= MFD_HUGETLB | (static_cast<unsigned>(std::countr_zero(page)) << MAP_HUGE_SHIFT);
    }
    Descriptor file(memfd_create("memgauge", flags));
    if (!file || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
        throw RequestError(what + ": " + SystemError("memfd_create", errno).what() +
                           "; ask for less, or use --memory dram");
    }
    return file;
}

void require_pages(const std::string& what, std::size_t bytes, PagePolicy pages) {
    if (const std::size_t page = memory::explicit_bytes(pages); page != 0) {
        memory::require_explicit_pages(page, bytes, std::nullopt);
    } else if (pages == PagePolicy::thp) {
        if (const auto obstacle = memory::shmem_obstacle(std::nullopt)) {
            throw RequestError(what + " in transparent huge pages: " + *obstacle);
        }
    }
}

std::unique_ptr<AreaLease> ShmArea::take(std::size_t bytes, std::size_t alignment,
                                         PagePolicy pages) {
    const std::string what = "cannot take " + size_text(bytes) + " of shared memory";
    const std::size_t page = memory::explicit_bytes(pages);
    const std::size_t mapped = memory::mapped_for(bytes, pages, 0);
    if (mapped < bytes) throw RequestError(what + ": more than there are addresses; ask for less");
    // The kernel would promise more, and kill when it is touched.
    const std::size_t largest = memory::physical_bytes();
    if (largest != 0 && mapped > largest) {
        throw DoesNotFit(what + ": this machine has " + size_text(largest) +
                         " of memory; ask for less");
    }
    require_pages(what, mapped, pages);
    const Descriptor file = make(what, mapped, page);
    MappedPages range(mapped, std::max({page, memory::area_granule_bytes(), alignment}));
    if (const int error = map_shared(range, file.get(), 0, memory::Sync::no); error != 0) {
        throw DoesNotFit(what + ": " + SystemError("mmap", error).what() + "; ask for less");
    }
    memory::advise_shared(range, pages);
    return std::make_unique<memory::MappedLease>(std::move(range), [] {});
}

}  // namespace

std::shared_ptr<MemoryArea> open_shm_area() {
    return std::make_shared<ShmArea>();
}

}  // namespace memgauge
