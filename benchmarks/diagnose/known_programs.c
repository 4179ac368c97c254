/* Programs whose need of memory is known: what a diagnosis of them must find.
 *
 *     known_programs NAME WORK [BYTES [SHARE]]
 *
 * WORK scales the time, of products it is the rows computed; BYTES is the memory used, SHARE the
 * part of the steps that chase pointers in a mixture. Set-up is not in the time printed, which is
 * of the work alone, nor in the region "work" that is marked for a diagnosis. Memory is advised to
 * be on huge pages; NAME-4k advises against them, and NAME-plain not at all. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "memgauge/region.h"

enum { LINE_BYTES = 64, PAGE_BYTES = 4096, HUGE_PAGE_BYTES = 2 << 20 };

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double begun_s(void) {
    memgauge_region_begin("work");
    return now_s();
}

/* At the begin of a huge page, and to the end of one: less than that would be on base pages, whose
 * lines may fall into few sets of a cache. */
static void* memory(size_t bytes, int advice) {
    bytes = (bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    char* found = mmap(NULL, bytes + HUGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    found += HUGE_PAGE_BYTES - (uintptr_t)found % HUGE_PAGE_BYTES;
    madvise(found, bytes, advice);
    return found;
}

/* One ring through all lines, in an order that no prefetcher guesses. The steps are those of a
 * linear congruential generator of full period (Hull and Dobell 1962), whose low bits repeat early;
 * so each is folded with its high half, which is its own inverse. Thus line after line is written,
 * and set-up, which each run of a diagnosis repeats, takes little. BYTES is rounded down to a power
 * of two. */
static size_t folded(size_t line, unsigned bits) {
    return line ^ (line >> ((bits + 1) / 2));
}

static void** ring(size_t bytes, int advice) {
    unsigned bits = 0;
    while (((size_t)LINE_BYTES << (bits + 1)) <= bytes) ++bits;
    const size_t lines = (size_t)1 << bits;
    char* base = memory(lines * LINE_BYTES, advice);
    for (size_t line = 0; line < lines; ++line) {
        const size_t step = folded(line, bits) * 6364136223846793005u + 1442695040888963407u;
        *(void**)(base + line * LINE_BYTES) = base + folded(step & (lines - 1), bits) * LINE_BYTES;
    }
    return (void**)base;
}

/* One ring through a line of each page, in random order: on base pages each hop misses a TLB that
 * reaches less, while the lines lie in the caches. */
static void** page_ring(size_t bytes, int advice) {
    const size_t pages = bytes / PAGE_BYTES;
    char* base = memory(bytes, advice);
    void** first = NULL;
    void** last = NULL;
    uint32_t* order = malloc(pages * sizeof *order);
    for (size_t i = 0; i < pages; ++i) order[i] = (uint32_t)i;
    for (size_t i = pages - 1; i > 0; --i) {
        const size_t other = random_next() % (i + 1);
        const uint32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (size_t i = 0; i < pages; ++i) {
        const size_t line = random_next() % (PAGE_BYTES / LINE_BYTES);
        void** at = (void**)(base + (size_t)order[i] * PAGE_BYTES + line * LINE_BYTES);
        if (last == NULL)
            first = at;
        else
            *last = at;
        last = at;
    }
    *last = first;
    free(order);
    return first;
}

/* NAME, or with the pages that its end asks for: NAME-4k, NAME-plain without advice. */
static int is_called(const char* words, const char* name) {
    const size_t length = strlen(name);
    if (strncmp(words, name, length)) return 0;
    const char* end = words + length;
    return !*end || !strcmp(end, "-4k") || !strcmp(end, "-plain");
}

static int advice_of(const char* words) {
    const char* end = strrchr(words, '-');
    if (end && !strcmp(end, "-4k")) return MADV_NOHUGEPAGE;
    if (end && !strcmp(end, "-plain")) return MADV_NORMAL;
    return MADV_HUGEPAGE;
}

static void** chase(void** at, size_t hops) {
    for (size_t i = 0; i < hops; ++i) at = *at;
    return at;
}

/* Dependent multiplications: nothing but time. */
static uint64_t multiply(uint64_t value, size_t times) {
    for (size_t i = 0; i < times; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
    return value;
}

static double triad(double* a, const double* b, const double* c, size_t elements, size_t passes) {
    for (size_t pass = 0; pass < passes; ++pass) {
        for (size_t i = 0; i < elements; ++i) a[i] = b[i] + 3.0 * c[i];
        __asm__ volatile("" ::: "memory");
    }
    return a[elements / 2];
}

/* The first rows of the product of two square matrices. */
static void product_plain(double* c, const double* a, const double* b, size_t n, size_t rows) {
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < n; ++j) {
            double sum = 0;
            for (size_t k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

static void product_blocked(double* c, const double* a, const double* b, size_t n, size_t rows) {
    enum { BLOCK = 64 };
    memset(c, 0, rows * n * sizeof *c);
    for (size_t kk = 0; kk < n; kk += BLOCK)
        for (size_t jj = 0; jj < n; jj += BLOCK)
            for (size_t i = 0; i < rows; ++i)
                for (size_t k = kk; k < kk + BLOCK && k < n; ++k) {
                    const double factor = a[i * n + k];
                    for (size_t j = jj; j < jj + BLOCK && j < n; ++j)
                        c[i * n + j] += factor * b[k * n + j];
                }
}

int main(int count, char** words) {
    if (count < 3) {
        fprintf(stderr, "known_programs NAME WORK [BYTES [SHARE]]\n");
        return 2;
    }
    const char* name = words[1];
    const size_t work = strtoull(words[2], NULL, 10);
    const size_t bytes = count > 3 ? strtoull(words[3], NULL, 10) : (size_t)256 << 20;
    const double share = count > 4 ? strtod(words[4], NULL) : 1.0;
    double begin;
    uint64_t result = 0;
    if (!strcmp(name, "arithmetic")) {
        begin = begun_s();
        result = multiply(1, work);
    } else if (is_called(name, "translate")) {
        void** at = page_ring(bytes, advice_of(name));
        at = chase(at, bytes / PAGE_BYTES);
        begin = begun_s();
        result = (uint64_t)(chase(at, work) != NULL);
    } else if (is_called(name, "chase")) {
        void** at = ring(bytes, advice_of(name));
        at = chase(at, bytes / LINE_BYTES / 32);
        begin = begun_s();
        result = (uint64_t)(chase(at, work) != NULL);
    } else if (!strcmp(name, "mixture")) {
        /* SHARE of the work's time waits for memory: WORK units of about 100 ns each, of which the
         * rest is multiplications; how long each part took is printed. */
        void** at = ring(bytes, MADV_HUGEPAGE);
        at = chase(at, bytes / LINE_BYTES / 32);
        const size_t times = share < 1 ? (size_t)(100 * (1 - share) / share) : 0;
        double waited_s = 0;
        begin = begun_s();
        for (size_t done = 0; done < work; done += 1000) {
            const double before_s = now_s();
            at = chase(at, 1000);
            waited_s += now_s() - before_s;
            result ^= multiply(done, times * 1000);
        }
        printf("share %.4f\n", waited_s / (now_s() - begin));
        result ^= (uint64_t)(at != NULL);
    } else if (is_called(name, "triad")) {
        const size_t elements = bytes / 3 / sizeof(double);
        double* arrays = memory(bytes, advice_of(name));
        for (size_t i = 0; i < 3 * elements; ++i) arrays[i] = 1.0;
        begin = begun_s();
        result = (uint64_t)triad(arrays, arrays + elements, arrays + 2 * elements, elements, work);
    } else if (is_called(name, "gather")) {
        const uint64_t words64 = bytes / sizeof(uint64_t);
        uint64_t* data = memory(bytes, advice_of(name));
        for (uint64_t i = 0; i < words64; ++i) data[i] = i;
        begin = begun_s();
        for (size_t i = 0; i < work; ++i) result += data[random_next() % words64];
    } else if (!strcmp(name, "product") || !strcmp(name, "product-blocked")) {
        size_t n = 1;
        while (3 * (n + 1) * (n + 1) * sizeof(double) <= bytes) ++n;
        double* arrays = memory(3 * n * n * sizeof(double), MADV_HUGEPAGE);
        for (size_t i = 0; i < 3 * n * n; ++i) arrays[i] = 1.0;
        begin = begun_s();
        for (size_t left = work; left > 0;) {
            const size_t rows = left < n ? left : n;
            (strcmp(name, "product") ? product_blocked : product_plain)(
                arrays, arrays + n * n, arrays + 2 * n * n, n, rows);
            left -= rows;
        }
        result = (uint64_t)arrays[n];
    } else if (!strcmp(name, "phases")) {
        void** at = ring(bytes, MADV_HUGEPAGE);
        const size_t elements = bytes / 3 / sizeof(double);
        double* arrays = memory(bytes, MADV_HUGEPAGE);
        for (size_t i = 0; i < 3 * elements; ++i) arrays[i] = 1.0;
        begin = begun_s();
        result = (uint64_t)(chase(at, work * 1000000) != NULL);
        result +=
            (uint64_t)triad(arrays, arrays + elements, arrays + 2 * elements, elements, work * 4);
        result ^= multiply(1, work * 100000000);
    } else {
        fprintf(stderr, "no such program: %s\n", name);
        return 2;
    }
    const double took_s = now_s() - begin;
    memgauge_region_end("work");
    printf("time %.6f s, result %llu\n", took_s, (unsigned long long)result);
    return 0;
}
