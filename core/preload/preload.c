/* The library that `memgauge diagnose` preloads into the program: it advises huge pages for large
 * anonymous maps and large blocks of malloc (madvise(2)), or gives them a memory policy (mbind(2)).
 *
 * Calls of mmap within the C library do not pass by here, so malloc's family is interposed too.
 * What malloc takes from the heap in small blocks is not reached (glibc's own tunable does that),
 * nor are programs that are linked statically or make system calls themselves.
 *
 * Plain C11 and POSIX: it becomes part of other people's programs, so it takes no lock, allocates
 * nothing, prints nothing and leaves errno alone. What the kernel refuses stays as it was. */
#define _GNU_SOURCE /* RTLD_NEXT, secure_getenv, MADV_HUGEPAGE, mmap64 */

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

enum { most_nodes = 1024, word_bits = 8 * sizeof(unsigned long) };

static struct {
    size_t page_bytes;
    bool huge;
    int policy; /* MPOL_... of linux/mempolicy.h; 0: none */
    unsigned long nodes[most_nodes / word_bits];
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
    is_resolving = false;
    atomic_store_explicit(&is_resolved, true, memory_order_release);
    errno = saved;
    return true;
}

static void* no_memory(void) {
    errno = ENOMEM;
    return NULL;
}

/* The nodes of a list such as `0,2`; false: it is none. */
static bool read_nodes(const char* text) {
    if (*text == '\0') return false;
    for (;;) {
        char* end;
        unsigned long node;
        if (*text < '0' || *text > '9') return false;
        node = strtoul(text, &end, 10);
        if (node >= most_nodes) return false;
        asked.nodes[node / word_bits] |= 1ul << node % word_bits;
        if (*end == '\0') return true;
        if (*end != ',') return false;
        text = end + 1;
    }
}

static int read_policy(const char* text) {
    static const struct {
        const char* name;
        int mode;
    } modes[] = {{"preferred:", 1}, {"bind:", 2}, {"interleave:", 3}, {"weighted interleave:", 6}};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i) {
        size_t length = strlen(modes[i].name);
        if (strncmp(text, modes[i].name, length) == 0)
            return read_nodes(text + length) ? modes[i].mode : 0;
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
    if (asked.policy != 0) /* The kernel reads one bit less than it is given. */
        syscall(SYS_mbind, begin, end - begin, asked.policy, asked.nodes,
                (unsigned long)most_nodes + 1, 0u);
    errno = saved;
}

static inline void advise(void* block, size_t bytes) {
    if (bytes >= atomic_load_explicit(&least_bytes, memory_order_acquire))
        advise_large(block, bytes);
}

static bool is_anonymous(int flags) {
    return (flags & MAP_ANONYMOUS) != 0 && (flags & MAP_PRIVATE) != 0 &&
           (flags & (MAP_HUGETLB | MAP_STACK | MAP_GROWSDOWN)) == 0;
}

PUBLIC void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
    void* map;
    if (resolved() && next.mmap != NULL)
        map = next.mmap(address, bytes, protection, flags, file, offset);
    else
        map = (void*)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
    if (is_anonymous(flags)) advise(map, bytes);
    return map;
}

PUBLIC void* mmap64(void* address, size_t bytes, int protection, int flags, int file,
                    off64_t offset) {
    void* map;
    if (resolved() && next.mmap64 != NULL)
        map = next.mmap64(address, bytes, protection, flags, file, offset);
    else
        map = (void*)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
    if (is_anonymous(flags)) advise(map, bytes);
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
