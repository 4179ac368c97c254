#pragma once
// Removing single lines from all caches, for whoever may not rely on having evicted them.

#include <cstddef>

namespace memgauge::memory {

#if defined(__x86_64__) || defined(__aarch64__) || defined(__powerpc64__)
inline constexpr bool can_flush = true;
#else
inline constexpr bool can_flush = false;
#endif

// Writes back and invalidates the line that holds `address`, in the caches of all processors. It
// is done when finish_flushes() has returned.
inline void flush_line(const std::byte* address) noexcept {
#if defined(__x86_64__)
    asm volatile("clflush (%0)" : : "r"(address) : "memory");
#elif defined(__aarch64__)
    // By virtual address to the point of coherency; Linux lets user space do it (SCTLR_EL1.UCI).
    asm volatile("dc civac, %0" : : "r"(address) : "memory");
#elif defined(__powerpc64__)
    asm volatile("dcbf 0, %0" : : "r"(address) : "memory");
#else
    static_cast<void>(address);
#endif
}

inline void finish_flushes() noexcept {
#if defined(__x86_64__)
    asm volatile("mfence" : : : "memory");
#elif defined(__aarch64__)
    asm volatile("dsb sy" : : : "memory");
#elif defined(__powerpc64__)
    asm volatile("sync" : : : "memory");
#endif
}

}  // namespace memgauge::memory
