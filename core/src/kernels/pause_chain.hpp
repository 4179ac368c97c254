#pragma once
// The unit of a pause: one multiplication that needs the last one's result.

#include <cstdint>

namespace memgauge::kernels {

// The chain goes on from one pause to the next, so that a processor which looks far ahead cannot
// work on two pauses at once.
[[gnu::always_inline]] inline std::uint64_t pause_chain(std::uint64_t chain,
                                                        std::uint32_t units) noexcept {
    [[maybe_unused]] const std::uint64_t factor = 0x9e3779b97f4a7c15U;
    for (; units != 0; --units) {
#if defined(__x86_64__)
        asm volatile("imulq %1, %0" : "+r"(chain) : "r"(factor) : "cc");
#elif defined(__aarch64__)
        asm volatile("mul %0, %0, %1" : "+r"(chain) : "r"(factor));
#elif defined(__powerpc64__)
        asm volatile("mulld %0, %0, %1" : "+r"(chain) : "r"(factor));
#else
        chain *= factor;
        asm volatile("" : "+r"(chain));
#endif
    }
    return chain;
}

}  // namespace memgauge::kernels
