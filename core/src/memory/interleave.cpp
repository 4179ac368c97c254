#include "memory/interleave.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "memgauge/error.hpp"
#include "memory/numa.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

namespace memgauge::memory {

namespace {

// Of linux/mempolicy.h.
constexpr int mpol_bind = 2;
constexpr int mpol_interleave = 3;
// MAX_NUMNODES is at most 1024; get_mempolicy wants room for as many as the kernel has.
constexpr std::size_t most_nodes = 1024;

// The memory policy of the calling thread, put back on leaving.
class ThreadPolicy {
public:
    ThreadPolicy() : mask_(most_nodes / (sizeof(unsigned long) * 8)) {
        known_ = syscall(SYS_get_mempolicy, &mode_, mask_.data(), most_nodes, nullptr, 0) == 0;
    }
    ~ThreadPolicy() {
        if (known_) syscall(SYS_set_mempolicy, mode_, mask_.data(), most_nodes);
    }
    ThreadPolicy(const ThreadPolicy&) = delete;
    ThreadPolicy& operator=(const ThreadPolicy&) = delete;

    void bind(int node) const {
        const std::vector<unsigned long> mask = node_mask({node});
        if (syscall(SYS_set_mempolicy, mpol_bind, mask.data(), mask_bits(mask)) != 0) {
            throw bind_failure(node, errno);
        }
    }

private:
    int mode_ = 0;
    std::vector<unsigned long> mask_;
    bool known_;
};

// A write fault that reports a full node, where the kernel can; else the touch itself.
void populate(std::byte* begin, std::size_t bytes, std::size_t page_bytes, int node) {
    if (madvise(begin, bytes, MADV_POPULATE_WRITE) == 0) return;
    if (errno != EINVAL) {
        throw RequestError("cannot place " + std::to_string(bytes) + " bytes on node " +
                           std::to_string(node) + ": " +
                           SystemError("the node is full", errno).what() +
                           "; ask for less or give it a smaller weight");
    }
    for (std::size_t at = 0; at < bytes; at += page_bytes) {
        *static_cast<volatile std::byte*>(begin + at) = std::byte{0};
    }
}

}  // namespace

void interleave(std::byte* begin, std::size_t bytes, const std::vector<int>& nodes) {
    const std::vector<unsigned long> mask = node_mask(nodes);
    if (syscall(SYS_mbind, begin, bytes, mpol_interleave, mask.data(), mask_bits(mask), 0U) != 0) {
        throw bind_failure(nodes.front(), errno);
    }
}

void interleave_weighted(std::byte* begin, std::size_t bytes, std::size_t page_bytes,
                         const std::vector<int>& nodes, const std::vector<unsigned>& weights) {
    const ThreadPolicy policy;
    for (std::size_t at = 0, turn = 0; at < bytes; turn = (turn + 1) % nodes.size()) {
        const std::size_t share = std::min(bytes - at, weights[turn] * page_bytes);
        policy.bind(nodes[turn]);
        populate(begin + at, share, page_bytes, nodes[turn]);
        at += share;
    }
}

}  // namespace memgauge::memory
