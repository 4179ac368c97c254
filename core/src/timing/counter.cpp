#include "timing/counter.hpp"

#if defined(__x86_64__)
#include <cpuid.h>

#include <cstring>

#include "sysfs.hpp"
#endif

namespace memgauge::timing {

#if defined(__x86_64__)

namespace {

// CPUID 8000_0007h EDX bit 8: one rate in all power states (Intel SDM 18.17.1, AMD APM 13.2.4).
bool tsc_is_invariant() {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8U)) != 0;
}

// KVM's promise that a guest sees no warps between CPUs: leaf 4000_0001h EAX bit 24
// (KVM_FEATURE_CLOCKSOURCE_STABLE_BIT, Documentation/virt/kvm/x86/cpuid.rst).
bool kvm_clock_is_stable() {
    unsigned a = 0;
    unsigned signature[3] = {};
    __cpuid(0x40000000U, a, signature[0], signature[1], signature[2]);
    if (std::memcmp(signature, "KVMKVMKVM\0\0", sizeof signature) != 0) {
        return false;
    }
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    __cpuid(0x40000001U, a, b, c, d);
    return (a & (1U << 24U)) != 0;
}

}  // namespace

// The kernel watches the counter for drift and warps and drops it when it finds any, so its own
// choice is the witness. kvm-clock is the same counter scaled by the host, good when marked stable.
ClockSource trusted_counter() {
    const auto kernel =
        sysfs::first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    const bool witnessed =
        kernel && (*kernel == "tsc" || (*kernel == "kvm-clock" && kvm_clock_is_stable()));
    return witnessed && tsc_is_invariant() ? ClockSource::tsc : ClockSource::monotonic_raw;
}

#elif defined(__aarch64__)

// Architected: one rate, the same on all CPUs, and what the kernel keeps time by.
ClockSource trusted_counter() {
    return ClockSource::arm_generic_timer;
}

#elif defined(__powerpc64__)

// The time base is architected likewise (Power ISA book II, chapter 6).
ClockSource trusted_counter() {
    return ClockSource::power_timebase;
}

#else

ClockSource trusted_counter() {
    return ClockSource::monotonic_raw;
}

#endif

}  // namespace memgauge::timing
