#include "threads/thread_refusal.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstddef>

#include "memgauge/error.hpp"

namespace memgauge {
namespace {

std::size_t stack_bytes() noexcept {
    pthread_attr_t attributes;
    std::size_t bytes = std::size_t{8} << 20U;
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &bytes);
        pthread_attr_destroy(&attributes);
    }
    return bytes;
}

// Whether what pthread_create() maps first can be mapped.
bool stack_fits() noexcept {
    const std::size_t bytes = stack_bytes();
    void* const trial = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (trial == MAP_FAILED) return false;
    munmap(trial, bytes);
    return true;
}

std::string process_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
    return ", now " + std::to_string(limit.rlim_cur);
}

}  // namespace

void refuse_thread(const std::string& what, int error) {
    if (!stack_fits()) {
        throw DoesNotFit(what +
                         ": no address space is left for its stack; raise ulimit -v, or use "
                         "fewer threads");
    }
    throw SystemError(what + " (use fewer threads, or raise the limit on processes, ulimit -u" +
                          process_limit() + ", or the cgroup's pids.max)",
                      error);
}

}  // namespace memgauge
