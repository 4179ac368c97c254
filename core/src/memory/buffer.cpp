#include "memgauge/buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <limits>
#include <string>
#include <utility>

#include "memgauge/names.hpp"
#include "memory/pages/huge_pages.hpp"
#include "memory/pages/interleave.hpp"
#include "memory/pages/numa.hpp"
#include "memory/pages/smaps.hpp"
#include "round_up.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

namespace memgauge {

namespace {

using memory::size_text;

constexpr std::size_t page_2m = std::size_t{2} << 20U;
constexpr std::size_t page_1g = std::size_t{1} << 30U;

std::size_t explicit_page_bytes(PagePolicy policy) {
    switch (policy) {
        case PagePolicy::huge2m:
            return page_2m;
        case PagePolicy::huge1g:
            return page_1g;
        default:
            return 0;
    }
}

bool wants_transparent(PagePolicy policy) {
    return policy == PagePolicy::thp ||
           (policy == PagePolicy::automatic && !memory::transparent_pages_obstacle());
}

// The mapping starts and ends at multiples of this, so that the first and the last byte can lie in
// a page of the asked kind. Where transparent pages are very large (512 MiB with 64 KiB base
// pages) a buffer smaller than one of them is not blown up to it.
std::size_t granule_bytes(const BufferRequest& request) {
    const std::size_t base = base_page_bytes();
    if (const std::size_t page = explicit_page_bytes(request.pages); page != 0) {
        return page;
    }
    const std::size_t huge =
        wants_transparent(request.pages) ? memory::transparent_page_bytes() : 0;
    return huge <= 16 * page_2m || huge <= request.bytes ? std::max(base, huge) : base;
}

void check_sizes(const BufferRequest& request) {
    const std::string what = "cannot map a buffer of " + size_text(request.bytes);
    if (request.bytes == 0) {
        throw RequestError(what + ": its size is zero; ask for at least one byte");
    }
    // An area knows its own size.
    const std::size_t largest = request.memory.area ? 0 : memory::physical_bytes();
    if (largest != 0 && request.bytes > largest) {
        throw DoesNotFit(what + ": this machine has " + size_text(largest) +
                         " of memory; ask for less");
    }
    if (!std::has_single_bit(request.alignment) || request.alignment > page_1g) {
        throw RequestError(what + " aligned to " + std::to_string(request.alignment) +
                           " bytes: not a power of two up to 1 GiB; choose for example 4096");
    }
    const std::size_t together = largest != 0 ? largest : std::numeric_limits<std::size_t>::max();
    if (request.offset_bytes > together - request.bytes) {
        throw RequestError(what + " at offset " + size_text(request.offset_bytes) +
                           ": together more than this machine's memory; ask for less");
    }
}

void check_pages(const BufferRequest& request, std::size_t mapped_bytes) {
    for (const int node : request.memory.nodes) {
        memory::require_node(node);
    }
    if (const std::size_t page = explicit_page_bytes(request.pages); page != 0) {
        memory::require_explicit_pages(page, mapped_bytes, request.memory.node());
    }
    if (request.pages == PagePolicy::thp) {
        if (const auto obstacle = memory::transparent_pages_obstacle()) {
            throw RequestError("cannot use transparent huge pages: " + *obstacle);
        }
    }
}

// Puts memory of the asked kind over reserved addresses.
void map_over(const MappedPages& range, const BufferRequest& request) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (const std::size_t page = explicit_page_bytes(request.pages); page != 0) {
        flags |= MAP_HUGETLB | (std::countr_zero(page) << MAP_HUGE_SHIFT);
    }
    if (mmap(range.begin(), range.size(), PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED) {
        const SystemError refusal("mmap", errno);
        throw DoesNotFit(
            "cannot map " + size_text(range.size()) + " with pages '" +
            std::string(to_string(request.pages)) + "' (" + refusal.what() +
            "); ask for less, or raise the limit on address space or committed memory");
    }
}

void advise(const MappedPages& range, const BufferRequest& request) {
    const bool transparent = wants_transparent(request.pages);
    if (!transparent && request.pages != PagePolicy::k4) {
        return;
    }
    const int advice = transparent ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
    // A kernel without transparent pages knows neither; then there is nothing to switch off.
    if (madvise(range.begin(), range.size(), advice) != 0 && request.pages == PagePolicy::thp) {
        throw RequestError(std::string("cannot use transparent huge pages: ") +
                           SystemError("madvise", errno).what() + "; use --pages 4k");
    }
}

void check_weights(const MemorySource& memory) {
    const bool fits = memory.weights.empty() || memory.weights.size() == memory.nodes.size();
    if (!fits || std::ranges::any_of(memory.weights, [](unsigned w) { return w < 1 || w > 255; })) {
        throw RequestError(
            "weights of interleaved memory are one for each node, from 1 to 255; give as many as "
            "nodes, or none");
    }
}

// Explicit pages are also touched here: where a node's pool is empty that fails, a later touch
// kills.
void place_in_turn(const MappedPages& range, const BufferRequest& request, const StopCheck& stop) {
    const MemorySource& memory = request.memory;
    check_weights(memory);
    const bool from_pool = explicit_page_bytes(request.pages) != 0;
    if (memory.weights.empty() && !from_pool) {
        memory::interleave(range.begin(), range.size(), memory.nodes);
        return;
    }
    const std::vector<unsigned> once(memory.nodes.size(), 1);
    const std::vector<unsigned>& weights = memory.weights.empty() ? once : memory.weights;
    const std::size_t page = granule_bytes(request);
    if (!from_pool) memory::require_room(range.size(), page, memory.nodes, weights);
    memory::interleave_weighted(range.begin(), range.size(), page, memory.nodes, weights, stop);
}

void place(const MappedPages& range, const BufferRequest& request, const StopCheck& stop) {
    const MemorySource& memory = request.memory;
    if (memory.nodes.empty()) {
        return;
    }
    if (memory.nodes.size() > 1) {
        place_in_turn(range, request, stop);
        return;
    }
    const int node = memory.nodes.front();
    memory::bind_to_node(range.begin(), range.size(), node);
    if (explicit_page_bytes(request.pages) == 0) {
        return;
    }
    // A node that runs out of explicit pages would kill the process at first touch; this fails.
    if (madvise(range.begin(), range.size(), MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
        throw DoesNotFit("cannot fill " + size_text(range.size()) + " of explicit pages on node " +
                         std::to_string(node) +
                         ": the node ran out of them; free some there or use --pages thp");
    }
}

void record(Backing& backing, const memory::RangePages& pages) {
    backing.pages_told = true;
    backing.resident_bytes = pages.resident_bytes;
    backing.huge_bytes = pages.transparent_bytes + pages.explicit_bytes;
    if (backing.huge_bytes != 0) {
        backing.huge_page_bytes = pages.explicit_bytes != 0 ? pages.explicit_page_bytes
                                                            : memory::transparent_page_bytes();
    }
}

// Where nothing lies between the processor and the medium, kernels before 6.15 account no resident
// pages and report no node of them. Then what is known of the medium as a whole holds, and the
// pages of a file system, which are chosen range by range, are unknown.
void tell_of_medium(Backing& backing, const AreaFacts& facts) {
    if (facts.dax != true) return;
    if (backing.resident_bytes == 0) {
        backing.pages_told = facts.page_bytes != 0;
        backing.resident_bytes = backing.pages_told ? backing.mapped_bytes : 0;
        const bool huge = facts.page_bytes > backing.base_page_bytes;
        backing.huge_bytes = huge ? backing.resident_bytes : 0;
        backing.huge_page_bytes = huge ? facts.page_bytes : 0;
    }
    if (!backing.node && facts.node) {
        backing.node = facts.node;
        backing.share_on_node = 1.0;
        backing.nodes = {{*facts.node, 1.0}};
    }
}

constexpr Names<5> page_policy_names{"auto", "4k", "thp", "2m", "1g"};

}  // namespace

std::string_view to_string(PagePolicy policy) noexcept {
    return name_of(page_policy_names, policy);
}

PagePolicy page_policy_from_string(std::string_view name) {
    return value_of<PagePolicy>(page_policy_names, "page policy", name);
}

std::size_t base_page_bytes() noexcept {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

MappedPages::MappedPages(std::size_t bytes, std::size_t granule_bytes) {
    const std::size_t guard = base_page_bytes();
    const std::size_t reserved = bytes + granule_bytes + 2 * guard;
    void* const start =
        mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
        throw DoesNotFit("cannot reserve " + size_text(reserved) + " of address space (" +
                         SystemError("mmap", errno).what() + "); ask for less or raise ulimit -v");
    }
    auto* const low = static_cast<std::byte*>(start);
    const std::size_t misfit = reinterpret_cast<std::uintptr_t>(low + guard) % granule_bytes;
    begin_ = low + guard + (misfit == 0 ? 0 : granule_bytes - misfit);
    bytes_ = bytes;
    // Give back what alignment did not need, but for one guard page on each side.
    const auto lead = static_cast<std::size_t>(begin_ - guard - low);
    const auto tail = reserved - lead - bytes - 2 * guard;
    if (lead != 0) {
        munmap(low, lead);
    }
    if (tail != 0) {
        munmap(begin_ + bytes + guard, tail);
    }
}

MappedPages::~MappedPages() {
    release();
}

MappedPages::MappedPages(MappedPages&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

MappedPages& MappedPages::operator=(MappedPages&& other) noexcept {
    if (this != &other) {
        release();
        begin_ = std::exchange(other.begin_, nullptr);
        bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
}

void MappedPages::release() noexcept {
    if (begin_ != nullptr) {
        const std::size_t guard = base_page_bytes();
        munmap(begin_ - guard, bytes_ + 2 * guard);
    }
}

Buffer::Buffer(const BufferRequest& request, const StopCheck& stop) : request_(request) {
    check_sizes(request);
    if (request.memory.area) {
        lease_ = request.memory.area->take(request.offset_bytes + request.bytes, request.alignment,
                                           request.pages);
        return;
    }
    const std::size_t granule = granule_bytes(request);
    const std::size_t bytes = round_up(request.offset_bytes + request.bytes, granule);
    check_pages(request, bytes);
    mapping_ = MappedPages(bytes, std::max(granule, request.alignment));
    map_over(mapping_, request);
    advise(mapping_, request);
    place(mapping_, request, stop);
}

Backing Buffer::backing() const {
    Backing backing;
    backing.mapped_bytes = mapped_bytes();
    backing.base_page_bytes = memgauge::base_page_bytes();
    if (const auto pages = memory::read_smaps(begin(), mapped_bytes())) {
        record(backing, *pages);
    }
    if (const auto where = memory::placement(begin(), mapped_bytes())) {
        backing.node = where->node;
        backing.share_on_node = where->share;
        backing.nodes = where->nodes;
    }
    if (lease_) tell_of_medium(backing, request_.memory.area->facts());
    return backing;
}

std::optional<ObjectId> Buffer::object() const noexcept {
    const auto whole = lease_ ? lease_->object() : std::nullopt;
    return whole ? std::optional<ObjectId>({whole->pool, whole->offset + request_.offset_bytes})
                 : std::nullopt;
}

}  // namespace memgauge
