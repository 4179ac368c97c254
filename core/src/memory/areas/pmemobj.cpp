// An area of objects in a pool.

#include "memgauge/pmemobj.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "memgauge/areas.hpp"
#include "memgauge/buffer.hpp"
#include "memgauge/error.hpp"
#include "memory/areas/file_system.hpp"
#include "memory/areas/pmemobj_library.hpp"
#include "memory/areas/shared_mapping.hpp"
#include "memory/pages/huge_pages.hpp"
#include "round_up.hpp"

namespace memgauge {

namespace {

using memory::size_text;
using pmemobj::Calls;

constexpr std::size_t mib = std::size_t{1} << 20U;

// The heap keeps objects up to 384 KiB in runs of their size class, each of up to 16 chunks of
// 256 KiB, so that one small buffer may cost 4 MiB. A larger object takes just the chunks it needs.
constexpr std::size_t least_object_bytes = mib / 2;

// Of all objects that are buffers.
constexpr std::uint64_t buffer_type = 0x6d656d6761756765;  // "memgauge"

// The open file by a name: it may have none in a directory.
std::string opened_name(int descriptor) {
    return "/proc/self/fd/" + std::to_string(descriptor);
}

// The library's words in one line, with the name that the user gave.
std::string reported(const Calls& calls, const PoolRequest& request) {
    const char* const text = calls.error_text();
    std::string words = text != nullptr ? text : "it does not say why";
    const std::string name = opened_name(request.descriptor);
    for (auto at = words.find(name); at != std::string::npos; at = words.find(name)) {
        words.replace(at, name.size(), "it");
    }
    std::ranges::replace(words, '\n', ' ');
    return words;
}

[[noreturn]] void refuse(const Calls& calls, const PoolRequest& request, int error) {
    const std::string what = std::string("cannot ") + (request.create ? "make" : "open") +
                             " the pool " + request.path + ": ";
    if (error == EWOULDBLOCK) {
        throw RequestError(what + "another process has it open; wait for its end, or name another");
    }
    throw RequestError(what + reported(calls, request) +
                       "; it was left as it is: name another path, or remove it if it is not "
                       "needed");
}

// Opening a pool writes to it: to one of ours only.
void require_ours(const PoolRequest& request) {
    const auto layout = layout_of_pool(request.descriptor);
    if (layout == pool_layout && !request.create) return;
    if (!layout && request.create) return;  // the library looks whether it is empty
    throw RequestError("cannot use " + request.path + " as a pool: it " +
                       (layout ? "is a pool of the layout '" + *layout + "'"
                               : std::string("holds something else")) +
                       ", which memgauge did not make; it was left as it is: name another path");
}

pmemobj::Pool* open_pool(const Calls& calls, const PoolRequest& request) {
    require_ours(request);
    errno = 0;
    const std::string name = opened_name(request.descriptor);
    // Size 0: that of the file.
    pmemobj::Pool* const pool = request.create ? calls.create(name.c_str(), pool_layout, 0, 0)
                                               : calls.open(name.c_str(), pool_layout);
    if (pool == nullptr) refuse(calls, request, errno);
    return pool;
}

void free_leftovers(const Calls& calls, pmemobj::Pool* pool) {
    for (ObjectId object = calls.first(pool); object.offset != 0;) {
        const ObjectId next = calls.next(object);
        if (calls.type_of(object) == buffer_type) calls.free(&object);
        object = next;
    }
}

AreaFacts look_at(const PoolRequest& request) {
    AreaFacts facts;
    facts.kind = "pmemobj";
    facts.path = request.path;
    facts.file_system = file_system_of(request.descriptor);
    facts.dax = memory::dax_of(request.descriptor);
    // The library asks for it too, and goes on without.
    facts.map_sync = facts.dax != false &&
                     memory::grants_sync(request.descriptor, 0, memory::area_granule_bytes());
    if (facts.map_sync == true && !facts.dax) facts.dax = true;
    const auto mount = memory::mount_of(request.descriptor);
    if (mount && facts.dax == true) facts.node = memory::medium_node(*mount);
    return facts;
}

std::size_t size_of(int descriptor) {
    struct stat facts{};
    return fstat(descriptor, &facts) == 0 ? static_cast<std::size_t>(facts.st_size) : 0;
}

class PoolArea final : public MemoryArea, public std::enable_shared_from_this<PoolArea> {
public:
    explicit PoolArea(const PoolRequest& request)
        : facts_(look_at(request)),
          bytes_(size_of(request.descriptor)),
          calls_(pmemobj::library()),
          pool_(open_pool(calls_, request)) {
        free_leftovers(calls_, pool_);
    }
    ~PoolArea() override { calls_.close(pool_); }
    PoolArea(const PoolArea&) = delete;
    PoolArea& operator=(const PoolArea&) = delete;

    std::unique_ptr<AreaLease> take(std::size_t bytes, std::size_t alignment,
                                    PagePolicy pages) override;
    [[nodiscard]] AreaFacts facts() const override { return facts_; }

    [[nodiscard]] std::byte* at(const ObjectId& object) const noexcept {
        return reinterpret_cast<std::byte*>(pool_) + object.offset;
    }
    void give_back(ObjectId object) noexcept {
        const std::scoped_lock lock(mutex_);
        calls_.free(&object);
    }

private:
    [[nodiscard]] ObjectId allocate(const std::string& what, std::size_t bytes);

    AreaFacts facts_;
    std::size_t bytes_;
    const Calls& calls_;
    pmemobj::Pool* pool_;
    std::mutex mutex_;
};

class ObjectLease final : public AreaLease {
public:
    ObjectLease(std::shared_ptr<PoolArea> area, ObjectId object, std::size_t skipped,
                std::size_t bytes)
        : area_(std::move(area)), object_(object), skipped_(skipped), bytes_(bytes) {}
    ~ObjectLease() override { area_->give_back(object_); }
    ObjectLease(const ObjectLease&) = delete;
    ObjectLease& operator=(const ObjectLease&) = delete;

    [[nodiscard]] std::byte* begin() const noexcept override {
        return area_->at(object_) + skipped_;
    }
    [[nodiscard]] std::size_t size() const noexcept override { return bytes_; }
    [[nodiscard]] std::optional<ObjectId> object() const noexcept override {
        return ObjectId{object_.pool, object_.offset + skipped_};
    }

private:
    std::shared_ptr<PoolArea> area_;
    ObjectId object_;
    std::size_t skipped_;  // bytes before an aligned address
    std::size_t bytes_;
};

void require_pages(const std::string& what, PagePolicy pages) {
    if (pages == PagePolicy::automatic || pages == PagePolicy::k4) return;
    throw RequestError(what + " in pages '" + std::string(to_string(pages)) +
                       "': the file system of a pool decides its pages; use --pages auto, and see "
                       "the report for what they are, or --memory file:PATH");
}

ObjectId PoolArea::allocate(const std::string& what, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    ObjectId object;
    const std::size_t taken = std::max(bytes, least_object_bytes);
    if (calls_.alloc(pool_, &object, taken, buffer_type, nullptr, nullptr) != 0) {
        throw RequestError(what + ": " + reported(calls_, {}) + "; the pool has " +
                           size_text(bytes_) +
                           " in all, so remove it for one of the size needed, or ask for less");
    }
    return object;
}

std::unique_ptr<AreaLease> PoolArea::take(std::size_t bytes, std::size_t alignment,
                                          PagePolicy pages) {
    const std::string what = "cannot take " + size_text(bytes) + " of the pool " + facts_.path;
    require_pages(what, pages);
    if (bytes > SIZE_MAX / 2) throw RequestError(what + ": larger than any pool; ask for less");
    const ObjectId object = allocate(what, bytes + alignment);
    const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(at(object)) % alignment;
    const std::size_t skipped = past == 0 ? 0 : alignment - past;
    auto lease = std::make_unique<ObjectLease>(shared_from_this(), object, skipped, bytes);
    if (pages == PagePolicy::k4) {
        const std::size_t page = base_page_bytes();
        const auto first = reinterpret_cast<std::uintptr_t>(lease->begin()) / page * page;
        const auto end = reinterpret_cast<std::uintptr_t>(lease->begin()) + bytes;
        // A kernel without transparent pages refuses; then there is nothing to switch off.
        (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_NOHUGEPAGE);
    }
    return lease;
}

}  // namespace

// The first page is the header of all of PMDK's pools, which begins with a signature; after it
// libpmemobj keeps the layout, up to 1023 characters and a zero (PMEMOBJ_MAX_LAYOUT).
std::optional<std::string> layout_of_pool(int descriptor) {
    constexpr std::string_view signature("PMEMOBJ\0", 8);
    constexpr std::size_t header_bytes = 4096;
    std::array<char, header_bytes + 1024> head{};
    if (pread(descriptor, head.data(), head.size(), 0) != static_cast<ssize_t>(head.size()) ||
        std::string_view(head.data(), signature.size()) != signature) {
        return std::nullopt;
    }
    head.back() = '\0';
    return std::string(head.data() + header_bytes);
}

std::shared_ptr<MemoryArea> open_pool_area(const PoolRequest& request) {
    return std::make_shared<PoolArea>(request);
}

// The library's own data (lanes, 3 MiB; half a MiB for each zone of 16 GiB) and what buffers lose
// to their alignment, to chunks that are taken whole, and to the size of the least object: at most
// three quarters of a MiB for each of a hundred buffers, more than the finest sweep has.
std::size_t pool_bytes(std::size_t bytes) noexcept {
    constexpr std::size_t own_bytes = 80 * mib;
    constexpr std::size_t step = 2 * mib;
    return round_up(bytes + bytes / 16 + own_bytes, step);
}

}  // namespace memgauge
