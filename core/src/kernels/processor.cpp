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

const StandardTable* standard_table_of(Isa isa) noexcept {
    if (isa == Isa::sse2) return &standard_baseline_table;
    if (!processor_has(isa) || __builtin_cpu_supports("fma") == 0) return nullptr;
    if (isa == Isa::avx2) return &standard_avx2_table;
    return isa == Isa::avx512 ? &standard_avx512_table : nullptr;
}

#elif defined(__aarch64__)

bool processor_has(Isa isa) noexcept {
    constexpr unsigned long advanced_simd = 1UL << 1;  // HWCAP_ASIMD
    return isa == Isa::generic || (getauxval(AT_HWCAP) & advanced_simd) != 0;
}

bool can_stream(Isa isa) noexcept {
    return isa == Isa::neon;
}

const StandardTable* standard_table_of(Isa isa) noexcept {
    return isa == Isa::neon ? &standard_baseline_table : nullptr;
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

const StandardTable* standard_table_of(Isa isa) noexcept {
    return isa == Isa::vsx ? &standard_baseline_table : nullptr;
}

#else

bool processor_has(Isa isa) noexcept {
    return isa == Isa::generic;
}
bool can_stream(Isa) noexcept {
    return false;
}

const StandardTable* standard_table_of(Isa isa) noexcept {
    return isa == Isa::generic ? &standard_baseline_table : nullptr;
}

#endif

}  // namespace memgauge::kernels

namespace memgauge {

#if defined(__x86_64__)

namespace {

// GCC's tuning for a processor takes narrower vectors than it has for Intel's with AVX-512 except
// Xeon Phi, which lacks AVX-512VL, and for AMD's that execute 256 bits in two halves
// (avx256_optimal and avx128_optimal in gcc/config/i386/x86-tune.def of GCC 12 to 13).
bool prefers_256_bits() noexcept {
    return __builtin_cpu_is("intel") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}
bool prefers_128_bits() noexcept {
    return __builtin_cpu_is("znver1") != 0 || __builtin_cpu_is("bdver4") != 0;
}

}  // namespace

Isa standard_isa() noexcept {
    const auto exists = [](Isa isa) { return kernels::standard_table_of(isa) != nullptr; };
    if (exists(Isa::avx512) && !prefers_256_bits()) return Isa::avx512;
    return exists(Isa::avx2) && !prefers_128_bits() ? Isa::avx2 : Isa::sse2;
}

#elif defined(__aarch64__)

Isa standard_isa() noexcept {
    return Isa::neon;
}

#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)

Isa standard_isa() noexcept {
    return Isa::vsx;
}

#else

Isa standard_isa() noexcept {
    return Isa::generic;
}

#endif

}  // namespace memgauge
