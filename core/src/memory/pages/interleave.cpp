#include "memory/pages/interleave.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <mutex>
#include <numeric>
#include <string>
#include <system_error>
#include <thread>

#include "memory/pages/huge_pages.hpp"
#include "memory/pages/numa.hpp"
#include "threads/signals_blocked.hpp"
#include "threads/thread_refusal.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

namespace memgauge::memory {

namespace {

constexpr int mpol_interleave = 3;  // MPOL_INTERLEAVE of linux/mempolicy.h

// A few milliseconds of zeroing: how soon a stop is heeded, and what a thread is worth starting
// for.
constexpr std::size_t chunk_bytes = std::size_t{16} << 20U;
constexpr std::size_t most_threads = 8;
constexpr std::chrono::milliseconds stop_interval{20};

void bind_this_thread(int node) {
    const std::vector<unsigned long> mask = node_mask({node});
    if (syscall(SYS_set_mempolicy, mpol_bind, mask.data(), mask_bits(mask)) != 0) {
        throw RequestError(bind_refusal(node, errno));
    }
}

[[noreturn]] void refuse(std::size_t bytes, int node, const std::string& why) {
    throw DoesNotFit("cannot place " + size_text(bytes) + " on node " + std::to_string(node) +
                     ": " + why + "; ask for less or give it a smaller weight");
}

// A write fault that reports a full node, where the kernel can; else the touch itself.
void populate(std::byte* begin, std::size_t bytes, std::size_t page_bytes, int node) {
    if (madvise(begin, bytes, MADV_POPULATE_WRITE) == 0) return;
    if (errno != EINVAL) {
        refuse(bytes, node, SystemError("the node is full", errno).what());
    }
    for (std::size_t at = 0; at < bytes; at += page_bytes) {
        *static_cast<volatile std::byte*>(begin + at) = std::byte{0};
    }
}

// A range whose pages are dealt out in periods of one turn of every node.
class Dealing {
public:
    Dealing(std::byte* begin, std::size_t bytes, std::size_t page_bytes,
            const std::vector<int>& nodes, const std::vector<unsigned>& weights)
        : begin_(begin),
          bytes_(bytes),
          page_bytes_(page_bytes),
          nodes_(nodes),
          weights_(weights),
          period_bytes_(std::accumulate(weights.begin(), weights.end(), std::size_t{0}) *
                        page_bytes),
          step_bytes_(std::max<std::size_t>(1, chunk_bytes / period_bytes_) * period_bytes_) {}

    [[nodiscard]] std::size_t chunks() const { return (bytes_ + step_bytes_ - 1) / step_bytes_; }

    // Whole periods, all pages of one node after those of another: a policy is set once for each.
    void place(std::size_t chunk) const {
        const std::size_t from = chunk * step_bytes_;
        const std::size_t to = std::min(bytes_, from + step_bytes_);
        std::size_t offset = 0;
        for (std::size_t turn = 0; turn < nodes_.size(); ++turn) {
            const std::size_t share = weights_[turn] * page_bytes_;
            bind_this_thread(nodes_[turn]);
            for (std::size_t at = from + offset; at < to; at += period_bytes_) {
                populate(begin_ + at, std::min(share, to - at), page_bytes_, nodes_[turn]);
            }
            offset += share;
        }
    }

private:
    std::byte* begin_;
    std::size_t bytes_;
    std::size_t page_bytes_;
    const std::vector<int>& nodes_;
    const std::vector<unsigned>& weights_;
    std::size_t period_bytes_;
    std::size_t step_bytes_;
};

// Threads that take chunk after chunk, until all are placed, one fails, or the caller says stop.
class Dealers {
public:
    Dealers(const Dealing& dealing, std::size_t threads) : dealing_(dealing), working_(threads) {
        const SignalsBlocked blocked;
        threads_.reserve(threads);
        try {
            while (threads_.size() < threads) threads_.emplace_back([this] { work(); });
        } catch (const std::system_error& refusal) {
            end();
            refuse_thread("cannot start a thread to place pages with", refusal.code().value());
        }
    }
    ~Dealers() { end(); }
    Dealers(const Dealers&) = delete;
    Dealers& operator=(const Dealers&) = delete;

    // Throws what a thread threw, or Interrupted.
    void wait(const StopCheck& stop) {
        std::unique_lock lock(guard_);
        while (!ended_.wait_for(lock, stop_interval, [this] { return working_ == 0; })) {
            lock.unlock();
            if (stop && stop()) throw Interrupted();
            lock.lock();
        }
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    void end() {
        stopped_ = true;
        for (std::thread& thread : threads_) thread.join();
    }

    void work() noexcept {
        std::exception_ptr failure;
        try {
            while (!stopped_) {
                const std::size_t chunk = next_.fetch_add(1);
                if (chunk >= dealing_.chunks()) break;
                dealing_.place(chunk);
            }
        } catch (...) {
            failure = std::current_exception();
            stopped_ = true;
        }
        const std::scoped_lock lock(guard_);
        if (failure && !failure_) failure_ = failure;
        if (--working_ == 0) ended_.notify_one();
    }

    const Dealing& dealing_;
    std::atomic<std::size_t> next_ = 0;
    std::atomic<bool> stopped_ = false;
    std::mutex guard_;
    std::condition_variable ended_;
    std::size_t working_;         // guarded, as is
    std::exception_ptr failure_;  // the first
    std::vector<std::thread> threads_;
};

// Of the CPUs that the caller may use: a pinned caller gets one.
std::size_t thread_count(std::size_t chunks) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    const int allowed_count =
        sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    return std::clamp<std::size_t>(static_cast<std::size_t>(allowed_count), 1,
                                   std::clamp<std::size_t>(chunks, 1, most_threads));
}

}  // namespace

void interleave(std::byte* begin, std::size_t bytes, const std::vector<int>& nodes) {
    const std::vector<unsigned long> mask = node_mask(nodes);
    if (syscall(SYS_mbind, begin, bytes, mpol_interleave, mask.data(), mask_bits(mask), 0U) != 0) {
        throw RequestError(bind_refusal(nodes.front(), errno));
    }
}

void interleave_weighted(std::byte* begin, std::size_t bytes, std::size_t page_bytes,
                         const std::vector<int>& nodes, const std::vector<unsigned>& weights,
                         const StopCheck& stop) {
    const Dealing dealing(begin, bytes, page_bytes, nodes, weights);
    Dealers(dealing, thread_count(dealing.chunks())).wait(stop);
    interleave(begin, bytes, nodes);
}

void require_room(std::size_t bytes, std::size_t page_bytes, const std::vector<int>& nodes,
                  const std::vector<unsigned>& weights) {
    const auto pages = dealt_pages((bytes + page_bytes - 1) / page_bytes, weights);
    for (std::size_t turn = 0; turn < nodes.size(); ++turn) {
        std::ifstream meminfo("/sys/devices/system/node/node" + std::to_string(nodes[turn]) +
                              "/meminfo");
        const std::size_t needed = pages[turn] * page_bytes;
        const auto room = parse_node_room(meminfo);
        if (room && needed > *room) {
            refuse(needed, nodes[turn], "it has " + size_text(*room) + " left");
        }
    }
}

std::vector<std::size_t> dealt_pages(std::size_t pages, const std::vector<unsigned>& weights) {
    const std::size_t period = std::accumulate(weights.begin(), weights.end(), std::size_t{0});
    std::size_t left = pages % period;
    std::vector<std::size_t> dealt;
    for (const unsigned weight : weights) {
        const std::size_t extra = std::min<std::size_t>(weight, left);
        dealt.push_back(pages / period * weight + extra);
        left -= extra;
    }
    return dealt;
}

std::optional<std::uint64_t> parse_node_room(std::istream& meminfo) {
    std::optional<std::uint64_t> free_kib;
    std::uint64_t files_kib = 0;
    // "Node 0 MemFree:  1234 kB"
    std::string word;
    std::string node;
    std::string name;
    std::uint64_t kib = 0;
    while (meminfo >> word >> node >> name >> kib) {
        if (name == "MemFree:") free_kib = kib;
        if (name == "Inactive(file):") files_kib = kib;
        std::getline(meminfo, word);
    }
    return free_kib ? std::optional((*free_kib + files_kib) * 1024) : std::nullopt;
}

}  // namespace memgauge::memory
