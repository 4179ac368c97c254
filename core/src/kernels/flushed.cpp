#include "kernels/flushed.hpp"

#include <cstdint>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) || defined(__powerpc64__)
#include <sys/auxv.h>

#include <csetjmp>
#include <csignal>
#endif

namespace memgauge {
namespace kernels {

namespace {

constexpr std::size_t flushed_piece_bytes = 4096;

struct WriteBack {
    std::string_view name;
    std::size_t line_bytes;
    void (*lines)(std::uintptr_t first, std::uintptr_t end, std::size_t line_bytes) noexcept;
};

template <class Line>
void each_line(std::uintptr_t first, std::uintptr_t end, std::size_t line_bytes,
               const Line& line) noexcept {
    for (std::uintptr_t at = first; at < end; at += line_bytes) line(at);
}

#if defined(__aarch64__) || defined(__powerpc64__)

sigjmp_buf after_illegal;

void on_illegal(int) {
    siglongjmp(after_illegal, 1);
}

// Whether it really executes: QEMU's user mode announces DC CVAP, and of POWER10, and stops a
// program that believes it. Asked once.
bool executes(const WriteBack& by) noexcept {
    alignas(256) static char line[256];
    struct sigaction caught{};
    struct sigaction before{};
    caught.sa_handler = on_illegal;
    if (sigaction(SIGILL, &caught, &before) != 0) return false;
    volatile bool done = false;  // its value outlives the jump
    if (sigsetjmp(after_illegal, 1) == 0) {
        const auto at = reinterpret_cast<std::uintptr_t>(line);
        by.lines(at, at + 1, by.line_bytes);
        done = true;
    }
    sigaction(SIGILL, &before, nullptr);
    return done;
}

#endif

#if defined(__x86_64__)

void clwb(std::uintptr_t first, std::uintptr_t end, std::size_t line_bytes) noexcept {
    each_line(first, end, line_bytes, [](std::uintptr_t at) {
        asm volatile("clwb (%0)" : : "r"(at) : "memory");
    });
}

void clflushopt(std::uintptr_t first, std::uintptr_t end, std::size_t line_bytes) noexcept {
    each_line(first, end, line_bytes, [](std::uintptr_t at) {
        asm volatile("clflushopt (%0)" : : "r"(at) : "memory");
    });
}

void clflush(std::uintptr_t first, std::uintptr_t end, std::size_t line_bytes) noexcept {
    each_line(first, end, line_bytes, [](std::uintptr_t at) {
        asm volatile("clflush (%0)" : : "r"(at) : "memory");
    });
}

WriteBack choose() noexcept {
    constexpr unsigned clflushopt_bit = 1U << 23U;  // CPUID 7.0 EBX
    constexpr unsigned clwb_bit = 1U << 24U;
    constexpr std::size_t line_bytes = 64;
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) ebx = 0;
    if ((ebx & clwb_bit) != 0) return {"clwb", line_bytes, clwb};
    if ((ebx & clflushopt_bit) != 0) return {"clflushopt", line_bytes, clflushopt};
    return {"clflush", line_bytes, clflush};
}

void fence() noexcept {
    asm volatile("sfence" : : : "memory");
}

#elif defined(__aarch64__)

// By number, since assemblers know DC CVAP from Armv8.2 on only.
void cvap(std::uintptr_t first, std::uintptr_t end, std::size_t line_bytes) noexcept {
    each_line(first, end, line_bytes, [](std::uintptr_t at) {
        asm volatile("sys #3, c7, c12, #1, %0" : : "r"(at) : "memory");
    });
}

void cvac(std::uintptr_t first, std::uintptr_t end, std::size_t line_bytes) noexcept {
    each_line(first, end, line_bytes, [](std::uintptr_t at) {
        asm volatile("dc cvac, %0" : : "r"(at) : "memory");
    });
}

WriteBack choose() noexcept {
    constexpr unsigned long dcpop = 1UL << 16U;  // HWCAP_DCPOP
    std::uint64_t cache_type = 0;
    asm("mrs %0, ctr_el0" : "=r"(cache_type));
    // DminLine: logarithm of the words in the smallest line.
    const std::size_t line_bytes = std::size_t{4} << ((cache_type >> 16U) & 0xfU);
    const WriteBack persistent{"dc cvap", line_bytes, cvap};
    const bool reported = (getauxval(AT_HWCAP) & dcpop) != 0;
    return reported && executes(persistent) ? persistent : WriteBack{"dc cvac", line_bytes, cvac};
}

void fence() noexcept {
    asm volatile("dsb ish" : : : "memory");
}

#elif defined(__powerpc64__)

// dcbf with L = 6, by number: assemblers know it from POWER10 on only.
void dcbstps(std::uintptr_t first, std::uintptr_t end, std::size_t line_bytes) noexcept {
    each_line(first, end, line_bytes, [](std::uintptr_t at) {
        asm volatile(".long 0x7cc000ac | (%0 << 11)" : : "r"(at) : "memory");
    });
}

void dcbst(std::uintptr_t first, std::uintptr_t end, std::size_t line_bytes) noexcept {
    each_line(first, end, line_bytes, [](std::uintptr_t at) {
        asm volatile("dcbst 0, %0" : : "r"(at) : "memory");
    });
}

WriteBack choose() noexcept {
    constexpr unsigned long power10 = 0x00040000;  // PPC_FEATURE2_ARCH_3_1
    const unsigned long reported = getauxval(AT_DCACHEBSIZE);
    const std::size_t line_bytes = reported != 0 ? reported : 128;
    const WriteBack persistent{"dcbstps", line_bytes, dcbstps};
    const bool has = (getauxval(AT_HWCAP2) & power10) != 0;
    return has && executes(persistent) ? persistent : WriteBack{"dcbst", line_bytes, dcbst};
}

// A full sync also waits for what phwsync waits for.
void fence() noexcept {
    asm volatile("sync" : : : "memory");
}

#else

WriteBack choose() noexcept {
    return {"none", 64, nullptr};
}
void fence() noexcept {}

#endif

const WriteBack& chosen() noexcept {
    static const WriteBack once = choose();
    return once;
}

}  // namespace

std::optional<std::size_t> written_array(Operation operation) noexcept {
    switch (operation) {
        case Operation::copy:
        case Operation::add:
            return 2;
        case Operation::scale:
            return 1;
        case Operation::triad:
        case Operation::write:
        case Operation::update:
            return 0;
        case Operation::read:
            break;
    }
    return std::nullopt;
}

std::size_t before_flush_bytes(const std::byte* address) noexcept {
    return flushed_piece_bytes - reinterpret_cast<std::uintptr_t>(address) % flushed_piece_bytes;
}

void write_back(const std::byte* begin, std::size_t bytes) noexcept {
    const WriteBack& by = chosen();
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    if (by.lines != nullptr) {
        by.lines(first / by.line_bytes * by.line_bytes, first + bytes, by.line_bytes);
    }
}

void finish_write_backs() noexcept {
    fence();
}

}  // namespace kernels

std::string_view write_back_instruction() noexcept {
    return kernels::chosen().name;
}

}  // namespace memgauge
