// Ranges of a file, each mapped on its own.

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <string>

#include "descriptor.hpp"
#include "memgauge/areas.hpp"
#include "memgauge/error.hpp"
#include "memory/areas/file_space.hpp"
#include "memory/areas/file_system.hpp"
#include "memory/areas/ranges.hpp"
#include "memory/areas/shared_mapping.hpp"
#include "memory/pages/huge_pages.hpp"
#include "memory/pages/numa.hpp"
#include "round_up.hpp"

namespace memgauge {

namespace {

using memory::size_text;

// Of what the pages of a file are made decides how its space is taken.
enum class Medium : std::uint8_t { disk, shmem, hugetlb };

Medium medium_of(int descriptor) {
    if (memory::hugetlb_page_bytes(descriptor) != 0) return Medium::hugetlb;
    return memory::is_shmem(descriptor) ? Medium::shmem : Medium::disk;
}

// Offsets in a file are signed.
constexpr std::size_t largest_file = std::size_t{1} << 62U;

class FileArea final : public MemoryArea, public std::enable_shared_from_this<FileArea> {
public:
    explicit FileArea(const FileAreaRequest& request);

    std::unique_ptr<AreaLease> take(std::size_t bytes, std::size_t alignment,
                                    PagePolicy pages) override;
    [[nodiscard]] AreaFacts facts() const override { return facts_; }

private:
    void require_pages(const std::string& what, PagePolicy pages) const;
    // The offset of a range that the file has space for.
    std::size_t take_range(const std::string& what, std::size_t bytes);
    void grow(const std::string& what, std::size_t end);
    MappedPages map(const std::string& what, std::size_t offset, std::size_t bytes,
                    std::size_t alignment) const;
    void take_memory(const std::string& what, const MappedPages& range) const;
    void drop(std::size_t offset, std::size_t bytes) const noexcept;
    void give_back(std::size_t offset, std::size_t bytes) noexcept;
    [[nodiscard]] std::size_t granule() const { return ranges_.granule(); }

    AreaFacts facts_;
    Descriptor file_;
    Medium medium_;
    std::mutex mutex_;  // guards what follows
    memory::AreaRanges ranges_;
    std::size_t size_ = 0;  // of the file, as far as space was taken
};

std::size_t granule_of(std::size_t fixed_page_bytes) {
    return fixed_page_bytes != 0 ? fixed_page_bytes : memory::area_granule_bytes();
}

AreaFacts look_at(const std::string& path, int descriptor) {
    AreaFacts facts;
    facts.kind = "file";
    facts.path = path;
    facts.file_system = file_system_of(descriptor);
    facts.dax = memory::dax_of(descriptor);
    facts.page_bytes = memory::hugetlb_page_bytes(descriptor);
    const auto mount = memory::mount_of(descriptor);
    if (mount && facts.dax == true) facts.node = memory::medium_node(*mount);
    return facts;
}

FileArea::FileArea(const FileAreaRequest& request)
    : facts_(look_at(request.path, request.descriptor)),
      file_(fcntl(request.descriptor, F_DUPFD_CLOEXEC, 0)),
      medium_(medium_of(request.descriptor)),
      ranges_(round_up(request.reserved_bytes, granule_of(facts_.page_bytes)), largest_file,
              granule_of(facts_.page_bytes)) {
    if (!file_) throw SystemError("cannot use " + request.path, errno);
    const std::string what =
        "cannot make room for " + size_text(request.bytes) + " in " + request.path;
    if (request.bytes > largest_file / 2) {
        throw RequestError(what + ": larger than any file; ask for less");
    }
    const std::size_t head = round_up(request.reserved_bytes, granule());
    drop(head, ranges_.rounded(request.bytes));  // what a killed run left
    if (medium_ == Medium::shmem) memory::require_free(what, file_.get(), request.bytes);
    if (medium_ == Medium::hugetlb) {
        memory::require_explicit_pages(facts_.page_bytes, request.bytes, std::nullopt);
    }
    grow(what, head + std::max(ranges_.rounded(request.bytes), granule()));
    // Emulators of processors grant what they do not know.
    facts_.map_sync = medium_ == Medium::disk && facts_.dax != false &&
                      memory::grants_sync(file_.get(), head, granule());
    if (facts_.map_sync == true && !facts_.dax) facts_.dax = true;  // granted there only
}

// Takes space up to `end`, where the file system keeps some for a file that is not written yet.
void FileArea::grow(const std::string& what, std::size_t end) {
    if (end <= size_) return;
    if (medium_ == Medium::disk) {
        memory::take_space(what, file_.get(), size_, end);
    } else {
        memory::lengthen(what, file_.get(), end);
    }
    size_ = end;
}

void FileArea::require_pages(const std::string& what, PagePolicy pages) const {
    if (facts_.page_bytes != 0) {
        memory::require_fixed_pages(what, pages, facts_.page_bytes);
        return;
    }
    if (memory::explicit_bytes(pages) != 0) {
        throw RequestError(what + " in pages '" + std::string(to_string(pages)) +
                           "': only a file "
                           "in hugetlbfs has such pages (mount -t hugetlbfs -o pagesize=" +
                           (pages == PagePolicy::huge2m ? "2M" : "1G") +
                           " none DIR); use --pages auto or thp");
    }
    if (pages != PagePolicy::thp || medium_ != Medium::shmem) return;
    const auto mount = memory::mount_of(file_.get());
    const auto obstacle =
        memory::shmem_obstacle(mount ? memory::mount_option(*mount, "huge") : std::string());
    if (obstacle) throw RequestError(what + " in transparent huge pages: " + *obstacle);
}

std::size_t FileArea::take_range(const std::string& what, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    const auto offset = ranges_.take(bytes);
    if (!offset) throw RequestError(what + ": larger than any file; ask for less");
    try {
        grow(what, *offset + ranges_.rounded(bytes));
    } catch (...) {
        ranges_.give_back(*offset);
        throw;
    }
    return *offset;
}

MappedPages FileArea::map(const std::string& what, std::size_t offset, std::size_t bytes,
                          std::size_t alignment) const {
    MappedPages range(bytes, std::max(granule(), alignment));
    const auto sync = facts_.map_sync == true ? memory::Sync::yes : memory::Sync::no;
    const int error = map_shared(range, file_.get(), offset, sync);
    if (error == ENOMEM && medium_ == Medium::hugetlb) {
        throw RequestError(what +
                           ": the mount or the machine has no such pages left for it; raise "
                           "the size= option of the mount, or free some");
    }
    if (error == ENOMEM) {
        throw DoesNotFit(what + ": " + SystemError("mmap", error).what() +
                         "; ask for less, or raise ulimit -v");
    }
    if (error != 0) {
        throw RequestError(what + ": " + SystemError("mmap", error).what() +
                           "; its file system may not map files, so name another");
    }
    return range;
}

// Of a file system in memory, whose full size shows when a page is touched only: by a signal then,
// by an error here. A page lies where it is touched first, so on several nodes that is left to the
// threads that use it.
void FileArea::take_memory(const std::string& what, const MappedPages& range) const {
    if (medium_ != Medium::shmem) return;
    if (memory::memory_nodes().size() == 1) memory::populate(what, file_.get(), range);
}

std::unique_ptr<AreaLease> FileArea::take(std::size_t bytes, std::size_t alignment,
                                          PagePolicy pages) {
    const std::string what = "cannot take " + size_text(bytes) + " of " + facts_.path;
    require_pages(what, pages);
    if (medium_ == Medium::hugetlb) {
        memory::require_explicit_pages(facts_.page_bytes, bytes, std::nullopt);
    }
    const std::size_t mapped = memory::mapped_for(bytes, pages, facts_.page_bytes);
    if (medium_ == Medium::shmem) memory::require_free(what, file_.get(), mapped);
    const std::size_t offset = take_range(what, bytes);
    const auto self = shared_from_this();
    try {
        MappedPages range = map(what, offset, mapped, alignment);
        memory::advise_shared(range, pages);
        take_memory(what, range);
        return std::make_unique<memory::MappedLease>(
            std::move(range), [self, offset, mapped] { self->give_back(offset, mapped); });
    } catch (...) {
        give_back(offset, mapped);
        throw;
    }
}

// Memory goes back to the machine, and the next buffer is asked again where its pages are to be.
void FileArea::drop(std::size_t offset, std::size_t bytes) const noexcept {
    if (medium_ == Medium::disk) return;
    (void)fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(offset), static_cast<off_t>(bytes));
}

void FileArea::give_back(std::size_t offset, std::size_t bytes) noexcept {
    drop(offset, bytes);
    const std::scoped_lock lock(mutex_);
    ranges_.give_back(offset);
}

}  // namespace

std::shared_ptr<MemoryArea> open_file_area(const FileAreaRequest& request) {
    return std::make_shared<FileArea>(request);
}

}  // namespace memgauge
