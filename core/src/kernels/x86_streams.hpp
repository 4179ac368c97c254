#pragma once
// What all x86-64 instruction sets share: streaming stores and prefetch hints.
//
// A streaming store (MOVNT*) goes to a write-combining buffer of one line; when the line is full it
// is sent to memory without being read first. Buffers drain in any order, so SFENCE closes a
// kernel's call: the time stamp after it then covers the stores.

#include <immintrin.h>

#include <cstddef>

namespace memgauge::kernels {

namespace {

struct X86Streams {
    static constexpr std::size_t line_bytes = 64;
    static consteval bool can_stream(unsigned) { return true; }
    static void open_line(void*) {}
    static void close_streams() { _mm_sfence(); }
    // NTA fills the first level and keeps the line out of the second or marks it first to go. In
    // assembly, because gcc takes a function that only prefetches for one without effect, and drops
    // calls of it.
    static void prefetch_near(const void* at) {
        asm volatile("prefetchnta %0" ::"m"(*static_cast<const char*>(at)));
    }
    static void prefetch_far(const void* at) {
        asm volatile("prefetcht1 %0" ::"m"(*static_cast<const char*>(at)));
    }
};

}  // namespace

}  // namespace memgauge::kernels
