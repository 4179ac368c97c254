#include "memory/areas/shared_mapping.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "memory/pages/huge_pages.hpp"
#include "round_up.hpp"
#include "sysfs.hpp"

#ifndef MAP_SHARED_VALIDATE
#define MAP_SHARED_VALIDATE 0x03  // Linux 4.15
#endif
#ifndef MAP_SYNC
#define MAP_SYNC 0x80000
#endif

namespace memgauge::memory {

namespace {

constexpr std::size_t page_2m = std::size_t{2} << 20U;
constexpr std::size_t page_1g = std::size_t{1} << 30U;
constexpr const char* shmem_switch = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

// Since Linux 6.10 each size has a switch of its own for files without a mount; "inherit" is what
// the common one says, which also switches all of them off.
std::string unmounted_mode(const std::string& common) {
    const std::string own = "/sys/kernel/mm/transparent_hugepage/hugepages-" +
                            std::to_string(transparent_page_bytes() / 1024) + "kB/shmem_enabled";
    const auto of_size = sysfs::chosen_word(own);
    return of_size && *of_size != "inherit" && common != "force" ? *of_size : common;
}

}  // namespace

int map_shared(const MappedPages& range, int descriptor, std::size_t offset, Sync sync) noexcept {
    const int kind = sync == Sync::yes ? MAP_SHARED_VALIDATE | MAP_SYNC : MAP_SHARED;
    void* const at = mmap(range.begin(), range.size(), PROT_READ | PROT_WRITE, kind | MAP_FIXED,
                          descriptor, static_cast<off_t>(offset));
    return at == MAP_FAILED ? errno : 0;
}

bool grants_sync(int descriptor, std::size_t offset, std::size_t bytes) {
    const MappedPages probe(bytes, bytes);
    return map_shared(probe, descriptor, offset, Sync::yes) == 0;
}

std::size_t area_granule_bytes() {
    const std::size_t huge = transparent_page_bytes();
    return huge == 0 || huge > 16 * page_2m ? page_2m : huge;
}

std::size_t explicit_bytes(PagePolicy policy) noexcept {
    if (policy == PagePolicy::huge2m) return page_2m;
    return policy == PagePolicy::huge1g ? page_1g : 0;
}

void require_fixed_pages(const std::string& what, PagePolicy policy, std::size_t page_bytes) {
    if (policy == PagePolicy::automatic || explicit_bytes(policy) == page_bytes) return;
    if (policy == PagePolicy::k4 && page_bytes == base_page_bytes()) return;
    throw RequestError(what + " in pages '" + std::string(to_string(policy)) +
                       "': all its pages are of " + size_text(page_bytes) +
                       "; use --pages auto, or name other memory");
}

std::optional<std::string> shmem_obstacle(const std::optional<std::string>& huge_option) {
    const std::string mode = sysfs::chosen_word(shmem_switch).value_or("");
    if (mode.empty()) return "this kernel has none for shared memory; use --pages 4k";
    const std::string file = shmem_switch;
    if (mode == "deny") {
        return "they are switched off (" + file + " is deny); as root: echo advise > " + file;
    }
    if (huge_option) {
        if (mode == "force" || (!huge_option->empty() && *huge_option != "never")) return {};
        return "this tmpfs is mounted without them; as root: mount -o remount,huge=advise on it";
    }
    if (unmounted_mode(mode) != "never") return std::nullopt;
    return "they are switched off for shared memory (" + file +
           " is never); as root: echo advise > " + file + ", or use --pages 4k";
}

void advise_shared(const MappedPages& range, PagePolicy policy) noexcept {
    if (policy == PagePolicy::huge2m || policy == PagePolicy::huge1g) return;
    const int advice = policy == PagePolicy::k4 ? MADV_NOHUGEPAGE : MADV_HUGEPAGE;
    madvise(range.begin(), range.size(), advice);
}

std::size_t mapped_for(std::size_t bytes, PagePolicy policy, std::size_t fixed_page_bytes) {
    if (fixed_page_bytes != 0) return round_up(bytes, fixed_page_bytes);
    const std::size_t page = explicit_bytes(policy);
    if (page != 0) return round_up(bytes, page);
    return round_up(bytes, policy == PagePolicy::k4 ? base_page_bytes() : area_granule_bytes());
}

}  // namespace memgauge::memory
