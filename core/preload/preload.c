/* The library that `memgauge diagnose` preloads into the program: it advises huge pages for large
 * anonymous maps and large blocks of malloc (madvise(2)), or gives them a memory policy (mbind(2)):
 * one for the whole block, or one for each of its stretches, which are placed by weights of nodes.
 *
 * Calls of mmap within the C library do not pass by here, so malloc's family is interposed too.
 * What malloc takes from the heap in small blocks is not reached (glibc's own tunable does that),
 * nor are programs that are linked statically or make system calls themselves.
 *
 * Plain C11 and POSIX: it becomes part of other people's programs, so it takes no lock, allocates
 * nothing, prints nothing and leaves errno alone. What the kernel refuses stays as it was. */
#define _GNU_SOURCE /* RTLD_NEXT, secure_getenv, MADV_HUGEPAGE, mmap64, mremap */

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4 /* Linux 5.7; glibc 2.32 has the name. */
#endif

#define PUBLIC __attribute__((visibility("default")))

enum { most_nodes = 1024, word_bits = 8 * sizeof(unsigned long), preferred = 1 };

enum {
    most_weight = 255,
    most_stretches = 1024 /* of one block; each is a map, of which a process has 65530 by default */
};

static const unsigned long most_unit_bytes = 1ul << 40;

/* Of the stretches of a block. */
struct share {
    unsigned node;
    unsigned weight;
};

static struct {
    size_t page_bytes;
    bool huge;
    int policy; /* MPOL_... of linux/mempolicy.h; 0: none */
    unsigned long nodes[most_nodes / word_bits];
    struct share shares[most_nodes];
    size_t share_count; /* 0: one policy for the whole block */
    size_t turn_units;  /* All weights together. */
    size_t unit_bytes;  /* Of a stretch, for each unit of its node's weight. */
} asked;

/* Of a block or map that counts as large. No block is, until the constructor has read the rest. */
static _Atomic size_t least_bytes = SIZE_MAX;

static struct {
    void* (*malloc)(size_t);
    void* (*calloc)(size_t, size_t);
    void* (*realloc)(void*, size_t);
    void* (*memalign)(size_t, size_t);
    void* (*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void**, size_t, size_t);
    void* (*valloc)(size_t);
    void* (*pvalloc)(size_t);
    void* (*mmap)(void*, size_t, int, int, int, off_t);
    void* (*mmap64)(void*, size_t, int, int, int, off64_t);
    void* (*mremap)(void*, size_t, size_t, int, ...);
} next;

static atomic_bool is_resolved;

/* Before glibc 2.34 dlsym(3) may allocate: it does without where that fails. */
static _Thread_local bool is_resolving __attribute__((tls_model("initial-exec")));

static void find(const char* name, void* function) {
    void* found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

/* Whether the functions behind these are known. Threads may find them at once, and all alike. */
static bool resolved(void) {
    if (atomic_load_explicit(&is_resolved, memory_order_acquire)) return true;
    if (is_resolving) return false;
    int saved = errno;
    is_resolving = true;
    find("malloc", &next.malloc);
    find("calloc", &next.calloc);
    find("realloc", &next.realloc);
    find("memalign", &next.memalign);
    find("aligned_alloc", &next.aligned_alloc);
    find("posix_memalign", &next.posix_memalign);
    find("valloc", &next.valloc);
    find("pvalloc", &next.pvalloc);
    find("mmap", &next.mmap);
    find("mmap64", &next.mmap64);
    find("mremap", &next.mremap);
    is_resolving = false;
    atomic_store_explicit(&is_resolved, true, memory_order_release);
    errno = saved;
    return true;
}

static void* no_memory(void) {
    errno = ENOMEM;
    return NULL;
}

/* A whole number that a text begins with, which then begins behind it; false: none, or a larger. */
static bool read_number(const char** text, unsigned long most, unsigned long* number) {
    char* end;
    if (**text < '0' || **text > '9') return false;
    *number = strtoul(*text, &end, 10);
    *text = end;
    return *number <= most;
}

/* The nodes of a list such as `0,2`; false: it is none. */
static bool read_nodes(const char* text) {
    unsigned long node;
    while (read_number(&text, most_nodes - 1, &node)) {
        asked.nodes[node / word_bits] |= 1ul << node % word_bits;
        if (*text == '\0') return true;
        if (*text++ != ',') return false;
    }
    return false;
}

/* Bytes of a unit, and weights of nodes, such as `2097152:0=3,2=1`; false: they are none. */
static bool read_shares(const char* text) {
    unsigned long unit_bytes;
    unsigned long node;
    unsigned long weight;
    if (!read_number(&text, most_unit_bytes, &unit_bytes) || *text++ != ':') return false;
    if (unit_bytes == 0 || unit_bytes % asked.page_bytes != 0) return false;
    asked.unit_bytes = unit_bytes;
    while (asked.share_count < most_nodes && read_number(&text, most_nodes - 1, &node)) {
        if (*text++ != '=') return false;
        if (!read_number(&text, most_weight, &weight) || weight == 0) return false;
        asked.shares[asked.share_count++] = (struct share){(unsigned)node, (unsigned)weight};
        asked.turn_units += weight;
        if (*text == '\0') return true;
        if (*text++ != ',') return false;
    }
    return false;
}

static int read_policy(const char* text) {
    static const struct {
        const char* name;
        int mode;
        bool (*read)(const char*);
    } modes[] = {
        {"preferred:", preferred, read_nodes},  {"bind:", 2, read_nodes},
        {"interleave:", 3, read_nodes},         {"weighted interleave:", 6, read_nodes},
        {"stretches:", preferred, read_shares},
    };
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i) {
        size_t length = strlen(modes[i].name);
        if (strncmp(text, modes[i].name, length) == 0)
            return modes[i].read(text + length) ? modes[i].mode : 0;
    }
    return 0;
}

__attribute__((constructor)) static void read_requests(void) {
    int saved = errno;
    const char* large = secure_getenv("MEMGAUGE_LARGE_BYTES");
    const char* pages = secure_getenv("MEMGAUGE_LARGE_PAGES");
    const char* policy = secure_getenv("MEMGAUGE_LARGE_POLICY");
    long page_bytes = sysconf(_SC_PAGESIZE);
    char* end = NULL;
    unsigned long long bytes = large != NULL ? strtoull(large, &end, 10) : 0;
    if (large != NULL && *large >= '1' && *large <= '9' && *end == '\0' && bytes <= SIZE_MAX &&
        page_bytes > 0) {
        asked.page_bytes = (size_t)page_bytes;
        asked.huge = pages != NULL && strcmp(pages, "huge") == 0;
        asked.policy = policy != NULL ? read_policy(policy) : 0;
        if (asked.huge || asked.policy != 0)
            atomic_store_explicit(&least_bytes, (size_t)bytes, memory_order_release);
    }
    resolved();
    errno = saved;
}

static bool set_policy(uintptr_t begin, uintptr_t end, const unsigned long* nodes) {
    /* The kernel reads one bit less than it is given. */
    return syscall(SYS_mbind, begin, end - begin, asked.policy, nodes,
                   (unsigned long)most_nodes + 1, 0u) == 0;
}

/* Nodes take turns along the addresses, each for as many units as it has weight. Which one it is
 * follows from the address alone, as in the kernel's own interleave, so that blocks below a turn
 * have their shares together, and an address that is used again has the same maps again. */
static void place_stretches(uintptr_t begin, uintptr_t end) {
    const size_t most_units = most_stretches / asked.share_count * asked.turn_units;
    size_t unit_bytes = asked.unit_bytes;
    while ((end - begin) / unit_bytes > most_units) unit_bytes *= 2;
    while (begin < end) {
        unsigned long nodes[most_nodes / word_bits] = {0};
        const struct share* share = asked.shares;
        size_t unit = begin / unit_bytes;
        size_t within = unit % asked.turn_units;
        uintptr_t stop;
        while (within >= share->weight) within -= share++->weight;
        stop = (unit - within + share->weight) * unit_bytes;
        if (stop > end) stop = end;
        nodes[share->node / word_bits] = 1ul << share->node % word_bits;
        if (!set_policy(begin, stop, nodes)) return;
        begin = stop;
    }
}

/* Of a block, its whole pages and the one that it begins in: with the block's header in front that
 * page is part of the block's own map. */
__attribute__((noinline)) static void advise_large(void* block, size_t bytes) {
    uintptr_t begin;
    uintptr_t end;
    int saved;
    if (block == NULL || block == MAP_FAILED) return;
    begin = (uintptr_t)block & ~(uintptr_t)(asked.page_bytes - 1);
    end = ((uintptr_t)block + bytes) & ~(uintptr_t)(asked.page_bytes - 1);
    if (end <= begin) return;
    saved = errno;
    if (asked.huge) syscall(SYS_madvise, begin, end - begin, MADV_HUGEPAGE);
    if (asked.policy != 0) {
        if (asked.share_count != 0)
            place_stretches(begin, end);
        else
            set_policy(begin, end, asked.nodes);
    }
    errno = saved;
}

static inline void advise(void* block, size_t bytes) {
    if (bytes >= atomic_load_explicit(&least_bytes, memory_order_acquire))
        advise_large(block, bytes);
}

static bool has_stretches(size_t bytes) {
    return bytes >= atomic_load_explicit(&least_bytes, memory_order_acquire) && asked.policy != 0 &&
           asked.share_count != 0;
}

/* Not before the constructor, when no block is large. */
static size_t whole_pages(size_t bytes) {
    return (bytes + asked.page_bytes - 1) & ~(asked.page_bytes - 1);
}

/* The last page of a map is its own even where the program asked for less than all of it. */
static void advise_map(void* map, size_t bytes, int flags) {
    bool is_anonymous = (flags & MAP_ANONYMOUS) != 0 && (flags & MAP_PRIVATE) != 0 &&
                        (flags & (MAP_HUGETLB | MAP_STACK | MAP_GROWSDOWN)) == 0;
    if (is_anonymous && bytes >= atomic_load_explicit(&least_bytes, memory_order_acquire))
        advise_large(map, whole_pages(bytes));
}

PUBLIC void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
    void* map;
    if (resolved() && next.mmap != NULL)
        map = next.mmap(address, bytes, protection, flags, file, offset);
    else
        map = (void*)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
    advise_map(map, bytes, flags);
    return map;
}

PUBLIC void* mmap64(void* address, size_t bytes, int protection, int flags, int file,
                    off64_t offset) {
    void* map;
    if (resolved() && next.mmap64 != NULL)
        map = next.mmap64(address, bytes, protection, flags, file, offset);
    else
        map = (void*)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
    advise_map(map, bytes, flags);
    return map;
}

static bool moved(char* from, size_t bytes, int flags, char* to) {
    flags |= MREMAP_MAYMOVE | MREMAP_FIXED;
    return (void*)syscall(SYS_mremap, from, bytes, bytes, flags, to) != MAP_FAILED;
}

/* Where a map is cut that has stretches: they end at multiples of a unit, or of more of them. */
static size_t piece_of(const char* begin, size_t left) {
    size_t piece = asked.unit_bytes - (uintptr_t)begin % asked.unit_bytes;
    return piece < left ? piece : left;
}

/* The kernel does not move and extend several maps at once, which the stretches of one have become.
 * Each leaves its old place mapped (MREMAP_DONTUNMAP), so that all can go back there if one cannot
 * be moved, or the last one not be extended. */
__attribute__((noinline)) static void* move_stretches(char* old, size_t bytes, size_t new_bytes) {
    char* fresh = (void*)syscall(SYS_mmap, NULL, new_bytes, PROT_NONE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, (off_t)0);
    size_t reserved = new_bytes;
    size_t done = 0;
    size_t piece = 0;
    if (fresh == MAP_FAILED) return MAP_FAILED;
    while (done < bytes) {
        piece = piece_of(old + done, bytes - done);
        if (!moved(old + done, piece, MREMAP_DONTUNMAP, fresh + done)) break;
        done += piece;
    }
    if (done == bytes) {
        reserved = bytes;
        syscall(SYS_munmap, fresh + bytes, new_bytes - bytes);
        if ((void*)syscall(SYS_mremap, fresh + bytes - piece, piece, piece + new_bytes - bytes,
                           0) != MAP_FAILED) {
            syscall(SYS_munmap, old, bytes);
            return fresh;
        }
    }
    for (size_t back = 0; back < done; back += piece) {
        piece = piece_of(old + back, done - back);
        moved(fresh + back, piece, 0, old + back);
    }
    syscall(SYS_munmap, fresh, reserved);
    return MAP_FAILED;
}

PUBLIC void* mremap(void* old, size_t bytes, size_t new_bytes, int flags, ...) {
    void* address = NULL;
    void* map;
    int saved = errno;
    if ((flags & ~MREMAP_MAYMOVE) != 0) {
        va_list more;
        va_start(more, flags);
        address = va_arg(more, void*);
        va_end(more);
    }
    if (resolved() && next.mremap != NULL)
        map = next.mremap(old, bytes, new_bytes, flags, address);
    else
        map = (void*)syscall(SYS_mremap, old, bytes, new_bytes, flags, address);
    if (map != MAP_FAILED || errno != EFAULT || flags != MREMAP_MAYMOVE || !has_stretches(bytes))
        return map;
    bytes = whole_pages(bytes);
    new_bytes = whole_pages(new_bytes);
    if (new_bytes > bytes) map = move_stretches(old, bytes, new_bytes);
    if (map != MAP_FAILED)
        errno = saved;
    else if (errno != ENOMEM)
        errno = EFAULT;
    return map;
}

PUBLIC void* malloc(size_t bytes) {
    if (!resolved() || next.malloc == NULL) return no_memory();
    void* block = next.malloc(bytes);
    advise(block, bytes);
    return block;
}

PUBLIC void* calloc(size_t count, size_t each) {
    if (!resolved() || next.calloc == NULL) return no_memory();
    void* block = next.calloc(count, each);
    if (block != NULL) advise(block, count * each); /* which did not overflow */
    return block;
}

PUBLIC void* realloc(void* old, size_t bytes) {
    if (!resolved() || next.realloc == NULL) return no_memory();
    void* block = next.realloc(old, bytes);
    advise(block, bytes);
    return block;
}

PUBLIC void* memalign(size_t alignment, size_t bytes) {
    if (!resolved() || next.memalign == NULL) return no_memory();
    void* block = next.memalign(alignment, bytes);
    advise(block, bytes);
    return block;
}

PUBLIC void* aligned_alloc(size_t alignment, size_t bytes) {
    if (!resolved() || next.aligned_alloc == NULL) return no_memory();
    void* block = next.aligned_alloc(alignment, bytes);
    advise(block, bytes);
    return block;
}

PUBLIC int posix_memalign(void** block, size_t alignment, size_t bytes) {
    if (!resolved() || next.posix_memalign == NULL) return ENOMEM;
    int error = next.posix_memalign(block, alignment, bytes);
    if (error == 0) advise(*block, bytes);
    return error;
}

PUBLIC void* valloc(size_t bytes) {
    if (!resolved() || next.valloc == NULL) return no_memory();
    void* block = next.valloc(bytes);
    advise(block, bytes);
    return block;
}

PUBLIC void* pvalloc(size_t bytes) {
    if (!resolved() || next.pvalloc == NULL) return no_memory();
    void* block = next.pvalloc(bytes);
    advise(block, bytes);
    return block;
}
