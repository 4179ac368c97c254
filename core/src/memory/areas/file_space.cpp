#include "memory/areas/file_space.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "memgauge/areas.hpp"
#include "memory/areas/file_system.hpp"
#include "memory/pages/huge_pages.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

namespace memgauge::memory {

namespace {

std::string free_text(int descriptor) {
    const std::string name = file_system_of(descriptor);
    const auto left = free_bytes(descriptor);
    return "its file system" + (name.empty() ? "" : " (" + name + ")") + " has " +
           (left ? size_text(*left) : std::string("too little")) + " free";
}

std::string no_space(const std::string& what, int descriptor, int error) {
    switch (error) {
        case ENOSPC:
            return what + ": " + free_text(descriptor) +
                   "; ask for less, free space there, or name another";
        case EDQUOT:
            return what +
                   ": the disk quota there is used up; ask for less, or name another file "
                   "system";
        case EFBIG:
            return what +
                   ": files may not be that large here (ulimit -f, or its file system); "
                   "ask for less or raise the limit";
        default:
            return what + ": " + SystemError("fallocate", error).what() +
                   "; name another file system";
    }
}

std::size_t length_of(int descriptor) {
    struct stat facts{};
    return fstat(descriptor, &facts) == 0 ? static_cast<std::size_t>(facts.st_size) : 0;
}

// For file systems that take no space ahead: zeros take it, beyond what the file has already.
int write_zeros(int descriptor, std::size_t begin, std::size_t end) {
    const std::vector<char> zeros(std::size_t{1} << 20U);
    for (std::size_t at = std::max(begin, length_of(descriptor)); at < end;) {
        const auto written = pwrite(descriptor, zeros.data(), std::min(zeros.size(), end - at),
                                    static_cast<off_t>(at));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return written == 0 ? ENOSPC : errno;
        at += static_cast<std::size_t>(written);
    }
    return 0;
}

int allocate(int descriptor, std::size_t begin, std::size_t end) {
    for (;;) {
        if (fallocate(descriptor, 0, static_cast<off_t>(begin), static_cast<off_t>(end - begin)) ==
            0) {
            return 0;
        }
        if (errno == EINTR) continue;
        const bool unknown = errno == EOPNOTSUPP || errno == ENOSYS;
        return unknown ? write_zeros(descriptor, begin, end) : errno;
    }
}

}  // namespace

void take_space(const std::string& what, int descriptor, std::size_t begin, std::size_t end) {
    const std::size_t before = length_of(descriptor);
    // Else the kernel fills the file system to the last byte before it refuses.
    require_free(what, descriptor, end - std::min(end, std::max(begin, before)));
    const int error = allocate(descriptor, begin, end);
    if (error == 0) return;
    const RequestError refusal(no_space(what, descriptor, error));
    (void)ftruncate(descriptor, static_cast<off_t>(before));
    throw refusal;
}

void lengthen(const std::string& what, int descriptor, std::size_t end) {
    if (length_of(descriptor) >= end) return;
    if (ftruncate(descriptor, static_cast<off_t>(end)) != 0) {
        throw RequestError(no_space(what, descriptor, errno));
    }
}

void require_free(const std::string& what, int descriptor, std::size_t bytes) {
    const auto left = free_bytes(descriptor);
    if (left && *left < bytes) throw RequestError(no_space(what, descriptor, ENOSPC));
}

void populate(const std::string& what, int descriptor, const MappedPages& range) {
    while (madvise(range.begin(), range.size(), MADV_POPULATE_WRITE) != 0) {
        if (errno == EINTR || errno == EAGAIN) continue;
        if (errno == EINVAL) return;  // an older kernel: what was free is all that is known
        throw RequestError(no_space(what, descriptor, errno == EFAULT ? ENOSPC : errno));
    }
}

}  // namespace memgauge::memory
