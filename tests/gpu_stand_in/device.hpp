#pragma once
// The devices of the stand-in: their facts, memory, contexts and totals.

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "abi.h"
#include "counts.h"
#include "kernel_state.hpp"

struct CUctx_st {
    int device = 0;
    std::atomic<int> retained{0};
    std::atomic<int> sticky{0};  // a kernel's illegal access: every later call says so
};

namespace stand_in {

struct Device {
    int ordinal = 0;
    std::string name;
    std::uint64_t memory_bytes = 0;
    CUctx_st primary;
    std::mutex turn;  // guards all below
    std::uint64_t begin = 0;
    std::map<std::uint64_t, std::uint64_t> allocations;  // begin, end
    std::vector<bool> peers_enabled;
    gpu_stand_in_totals totals{};
    std::uint64_t synchronised_ns = 0;    // scripted time: nothing queued now begins earlier
    std::uint64_t done_ns = 0;            // the end of its latest work
    std::atomic<std::uint64_t> waits{0};  // times that the host asked for the end of its work

    [[nodiscard]] std::uint64_t used() const;
};

// Null: no such device.
Device* device_at(int ordinal);
int device_count();
// The device whose memory this is in, all of it allocated; null: none.
Device* device_of(std::uint64_t address, std::uint64_t bytes);
std::uint64_t arena_begin();
std::uint64_t arena_end();
std::vector<Allocation> all_allocations();

// 0, or the code that the entry point must fail with: scripted, not started, or a broken context.
int entered(const char* entry_point);
void start();
bool& any_device_usable();

// The context current to this thread; null: none.
CUctx_st*& current();
Device* current_device();

std::uint64_t monotonic_ns();

}  // namespace stand_in
