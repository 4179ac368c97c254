// Ranges of a device DAX: byte-addressable memory behind a character device, which the kernel maps
// in pages of the device's alignment only (Documentation/driver-api/dax; drivers/dax/device.c).

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <string>

#include "descriptor.hpp"
#include "memgauge/areas.hpp"
#include "memgauge/error.hpp"
#include "memory/areas/ranges.hpp"
#include "memory/areas/shared_mapping.hpp"
#include "memory/pages/huge_pages.hpp"
#include "round_up.hpp"

namespace memgauge {

namespace {

using memory::size_text;

class DevdaxArea final : public MemoryArea, public std::enable_shared_from_this<DevdaxArea> {
public:
    explicit DevdaxArea(const DevdaxAreaRequest& request)
        : path_(request.path),
          page_bytes_(std::max(request.page_bytes, base_page_bytes())),
          node_(request.node),
          device_(fcntl(request.descriptor, F_DUPFD_CLOEXEC, 0)),
          ranges_(round_up(request.reserved_bytes, page_bytes_),
                  request.bytes / page_bytes_ * page_bytes_, page_bytes_) {
        if (!device_) throw SystemError("cannot use " + path_, errno);
        const std::size_t probed = ranges_.largest_free() == 0 ? 0 : page_bytes_;
        grants_sync_ = probed != 0 && memory::grants_sync(device_.get(), 0, probed);
    }

    std::unique_ptr<AreaLease> take(std::size_t bytes, std::size_t alignment,
                                    PagePolicy pages) override;
    [[nodiscard]] AreaFacts facts() const override {
        return {"devdax", path_, "", true, grants_sync_, node_, page_bytes_};
    }

private:
    std::size_t take_range(const std::string& what, std::size_t bytes);
    void give_back(std::size_t offset) noexcept {
        const std::scoped_lock lock(mutex_);
        ranges_.give_back(offset);
    }

    const std::string path_;
    const std::size_t page_bytes_;
    const std::optional<int> node_;
    const Descriptor device_;
    bool grants_sync_ = false;
    std::mutex mutex_;  // guards ranges_
    memory::AreaRanges ranges_;
};

std::size_t DevdaxArea::take_range(const std::string& what, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    if (const auto offset = ranges_.take(bytes)) return *offset;
    throw RequestError(what + ": it has " + size_text(ranges_.largest_free()) +
                       " left in one piece, in pages of " + size_text(page_bytes_) +
                       "; ask for smaller buffers or fewer threads");
}

std::unique_ptr<AreaLease> DevdaxArea::take(std::size_t bytes, std::size_t alignment,
                                            PagePolicy pages) {
    const std::string what = "cannot take " + size_text(bytes) + " of " + path_;
    memory::require_fixed_pages(what, pages, page_bytes_);
    const std::size_t offset = take_range(what, bytes);
    const auto self = shared_from_this();
    try {
        MappedPages range(ranges_.rounded(bytes), std::max(page_bytes_, alignment));
        const auto sync = grants_sync_ ? memory::Sync::yes : memory::Sync::no;
        if (const int error = map_shared(range, device_.get(), offset, sync); error != 0) {
            throw RequestError(what + ": " + SystemError("mmap", error).what() +
                               "; the device may have been reconfigured: see daxctl list");
        }
        return std::make_unique<memory::MappedLease>(std::move(range),
                                                     [self, offset] { self->give_back(offset); });
    } catch (...) {
        give_back(offset);
        throw;
    }
}

}  // namespace

std::shared_ptr<MemoryArea> open_devdax_area(const DevdaxAreaRequest& request) {
    return std::make_shared<DevdaxArea>(request);
}

}  // namespace memgauge
