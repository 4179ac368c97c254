/* The library behind memgauge/region.h. Plain C11 and POSIX: it becomes part of other people's
 * programs, so it takes no lock, allocates nothing, starts nothing and leaves errno alone. */
#define _GNU_SOURCE /* secure_getenv, gettid's number, F_DUPFD_CLOEXEC */

#include "memgauge/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { name_bytes = 200, line_bytes = 2 + 4 * 21 + name_bytes + 1 };

/* Never looked, nothing to mark for, or a descriptor. */
enum { unknown = -2, off = -1 };

static _Atomic int descriptor = unknown;
static _Atomic uint64_t file_device;
static _Atomic uint64_t file_number;
static _Atomic uint64_t largest_bytes; /* SIGXFSZ would end the program beyond */

/* Still the file of marks, and not removed, as it is when profiling ends. */
static int is_ours(const struct stat* status) {
    return status->st_nlink > 0 &&
           (uint64_t)status->st_dev == atomic_load_explicit(&file_device, memory_order_relaxed) &&
           (uint64_t)status->st_ino == atomic_load_explicit(&file_number, memory_order_relaxed);
}

static void remember(const struct stat* status) {
    struct rlimit limit;
    uint64_t bytes = getrlimit(RLIMIT_FSIZE, &limit) == 0 ? (uint64_t)limit.rlim_cur : 0;
    atomic_store_explicit(&largest_bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&file_device, (uint64_t)status->st_dev, memory_order_relaxed);
    atomic_store_explicit(&file_number, (uint64_t)status->st_ino, memory_order_relaxed);
}

/* A descriptor of the file of marks, away from 0 to 2, which programs close and open again. */
static int open_marks(void) {
    const char* path = secure_getenv("MEMGAUGE_MARKS");
    struct stat status;
    int low;
    int fd;
    if (path == NULL || path[0] == '\0') return off;
    low = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (low < 0) return off;
    fd = fcntl(low, F_DUPFD_CLOEXEC, 10);
    close(low);
    if (fd < 0) return off;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        return off;
    }
    remember(&status);
    return fd;
}

/* Opens the marks in place of `seen`, unless another thread did meanwhile. */
static int settle(int seen) {
    int saved = errno;
    int fd = open_marks();
    if (!atomic_compare_exchange_strong(&descriptor, &seen, fd)) {
        if (fd >= 0) close(fd);
        fd = seen;
    }
    errno = saved;
    return fd;
}

static int marks(void) {
    int fd = atomic_load_explicit(&descriptor, memory_order_acquire);
    return fd == unknown ? settle(unknown) : fd;
}

static char* put_number(char* at, uint64_t number) {
    char digits[20];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (count > 0) *at++ = digits[--count];
    *at++ = ' ';
    return at;
}

/* No control characters; never half of a UTF-8 character at the end. */
static char* put_name(char* at, const char* name, size_t length) {
    size_t kept = length < name_bytes ? length : name_bytes;
    while (kept < length && kept > 0 && ((unsigned char)name[kept] & 0xC0) == 0x80) --kept;
    for (size_t i = 0; i < kept; ++i) {
        unsigned char byte = (unsigned char)name[i];
        *at++ = (char)(byte < 0x20 || byte == 0x7F ? '_' : byte);
    }
    if (kept == 0) *at++ = '?';
    *at++ = '\n';
    return at;
}

static uint64_t now_ns(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A program may have closed the descriptor and opened a file of its own under its number. */
static int check(int fd, struct stat* status) {
    if (fstat(fd, status) == 0 && is_ours(status)) return fd;
    fd = settle(fd);
    return fd >= 0 && fstat(fd, status) == 0 && is_ours(status) ? fd : off;
}

static void mark(char kind, const char* name, size_t length) {
    int saved = errno;
    uint64_t cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t stamp_ns = now_ns(CLOCK_MONOTONIC_RAW);
    struct stat status;
    int fd = check(marks(), &status);
    if (fd >= 0) {
        char line[line_bytes];
        char* end = line;
        *end++ = kind;
        *end++ = ' ';
        if (kind == 'b') {
            stamp_ns = now_ns(CLOCK_MONOTONIC_RAW);
            cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
        }
        end = put_number(end, stamp_ns);
        end = put_number(end, (uint64_t)getpid());
        end = put_number(end, (uint64_t)syscall(SYS_gettid));
        end = put_number(end, cpu_ns);
        end = put_name(end, name, length);
        size_t bytes = (size_t)(end - line);
        if ((uint64_t)status.st_size + bytes <= largest_bytes && write(fd, line, bytes) < 0) {
            /* The disk is full: the program goes on without this mark. */
        }
    }
    errno = saved;
}

void memgauge_region_begin(const char* name) {
    if (marks() >= 0 && name != NULL) mark('b', name, strlen(name));
}

void memgauge_region_end(const char* name) {
    if (marks() >= 0 && name != NULL) mark('e', name, strlen(name));
}

int memgauge_region_enabled(void) {
    return marks() >= 0;
}

/* As Fortran compilers call procedures: a trailing underscore, and the length after all arguments.
 * Names there are padded with blanks. */
MEMGAUGE_REGION_PUBLIC void memgauge_region_begin_(const char* name, size_t length);
MEMGAUGE_REGION_PUBLIC void memgauge_region_end_(const char* name, size_t length);

static size_t without_padding(const char* name, size_t length) {
    while (length > 0 && name[length - 1] == ' ') --length;
    return length;
}

void memgauge_region_begin_(const char* name, size_t length) {
    if (marks() >= 0) mark('b', name, without_padding(name, length));
}

void memgauge_region_end_(const char* name, size_t length) {
    if (marks() >= 0) mark('e', name, without_padding(name, length));
}
