#include "kernels/processor.hpp"

#if defined(__aarch64__) || defined(__powerpc64__)
#include <sys/auxv.h>
#endif

namespace memgauge::kernels {

const KernelTable* table_of(Isa isa) noexcept {
    switch (isa) {
        case Isa::generic:
            return &generic_table;
#if defined(__x86_64__)
        case Isa::sse2:
            return &sse2_table;
        case Isa::avx2:
            return &avx2_table;
        case Isa::avx512:
            return &avx512_table;
#elif defined(__aarch64__)
        case Isa::neon:
            return &neon_table;
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
        case Isa::vsx:
            return &vsx_table;
#endif
        default:
            return nullptr;
    }
}

#if defined(__x86_64__)

// The compiler's run-time check asks both CPUID and XGETBV: a wide register file that the
// operating system does not save counts as absent.
bool processor_has(Isa isa) noexcept {
    switch (isa) {
        case Isa::avx2:
            return __builtin_cpu_supports("avx2") != 0;
        case Isa::avx512:
            return __builtin_cpu_supports("avx512f") != 0;
        case Isa::sse2:
        case Isa::generic:
            return true;
        default:
            return false;
    }
}

bool can_stream(Isa isa) noexcept {
    return isa != Isa::generic;
}

#elif defined(__aarch64__)

bool processor_has(Isa isa) noexcept {
    constexpr unsigned long advanced_simd = 1UL << 1;  // HWCAP_ASIMD
    return isa == Isa::generic || (getauxval(AT_HWCAP) & advanced_simd) != 0;
}

bool can_stream(Isa isa) noexcept {
    return isa == Isa::neon;
}

#elif defined(__powerpc64__)

bool processor_has(Isa isa) noexcept {
    constexpr unsigned long vsx = 0x80;           // PPC_FEATURE_HAS_VSX
    constexpr unsigned long power8 = 0x80000000;  // PPC_FEATURE2_ARCH_2_07
    return isa == Isa::generic ||
           ((getauxval(AT_HWCAP) & vsx) != 0 && (getauxval(AT_HWCAP2) & power8) != 0);
}

// dcbz clears a whole block, whatever its size: the kernels are written for 128 bytes, and another
// size would destroy data beside the line. Where the kernel does not report it, the variant is
// withheld.
bool can_stream(Isa isa) noexcept {
    return isa == Isa::vsx && getauxval(AT_DCACHEBSIZE) == 128;
}

#else

bool processor_has(Isa isa) noexcept {
    return isa == Isa::generic;
}
bool can_stream(Isa) noexcept {
    return false;
}

#endif

}  // namespace memgauge::kernels
