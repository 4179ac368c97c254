// Put before a kernel's source, so that a C++ compiler takes it: what NVRTC declares without being
// asked. The program is compiled with -fsanitize=thread, which puts a call before every access to
// memory; the functions called stand here and count what reaches device memory. Threads of a launch
// run one after the other, in the order of their numbers: there is no __syncthreads().

#include "kernel_state.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __CUDACC_RTC__ 1
#define __CUDACC__ 1
#define __align__(bytes) alignas(bytes)

#define STAND_IN_HOST __attribute__((no_sanitize("thread")))
#define STAND_IN_ACCESS extern "C" STAND_IN_HOST __attribute__((visibility("hidden"))) void

using size_t = decltype(sizeof(0));

#define STAND_IN_SHOWN extern "C" __attribute__((visibility("default")))

extern "C" {
__attribute__((visibility("default"))) stand_in::KernelState stand_in_state;
}

namespace stand_in {

inline Allocation last_hit{1, 0};

STAND_IN_HOST inline bool allocated(unsigned long long begin, unsigned long long end) {
    if (begin >= last_hit.begin && end <= last_hit.end) return true;
    for (unsigned long long at = 0; at < stand_in_state.allocation_count; ++at) {
        const Allocation& each = stand_in_state.allocations[at];
        if (begin >= each.begin && end <= each.end) {
            last_hit = each;
            return true;
        }
    }
    return false;
}

inline volatile bool past_l1 = false;  // the load under way passes the L1 by

STAND_IN_HOST inline void found_in_cache(unsigned long long line, bool load) {
    KernelState& state = stand_in_state;
    if (!load) {
        state.l2.holds(line);
    } else if (state.l1.lines != nullptr && !past_l1 && state.l1.holds(line)) {
        state.loads_ns += state.l1_load_ns;
    } else {
        state.loads_ns += state.l2.holds(line) ? state.l2_load_ns : state.memory_load_ns;
    }
}

STAND_IN_HOST inline void access(const void* address, unsigned bytes, unsigned long long& total) {
    const auto begin = reinterpret_cast<unsigned long long>(address);
    if (begin < stand_in_state.arena_begin || begin >= stand_in_state.arena_end) return;
    total += bytes;
    if (!allocated(begin, begin + bytes)) ++stand_in_state.illegal;
    if (begin % bytes != 0) ++stand_in_state.misaligned;
    if (stand_in_state.l2.lines != nullptr) {
        found_in_cache(begin / 128, &total == &stand_in_state.read_bytes);
    }
}

}  // namespace stand_in

#define STAND_IN_SIZE(bytes)                                     \
    STAND_IN_ACCESS __tsan_read##bytes(void* at) {               \
        stand_in::access(at, bytes, stand_in_state.read_bytes);  \
    }                                                            \
    STAND_IN_ACCESS __tsan_write##bytes(void* at) {              \
        stand_in::access(at, bytes, stand_in_state.write_bytes); \
    }                                                            \
    STAND_IN_ACCESS __tsan_unaligned_read##bytes(void* at) {     \
        stand_in::access(at, bytes, stand_in_state.read_bytes);  \
    }                                                            \
    STAND_IN_ACCESS __tsan_unaligned_write##bytes(void* at) {    \
        stand_in::access(at, bytes, stand_in_state.write_bytes); \
    }                                                            \
    STAND_IN_ACCESS __tsan_volatile_read##bytes(void* at) {      \
        stand_in::access(at, bytes, stand_in_state.read_bytes);  \
    }                                                            \
    STAND_IN_ACCESS __tsan_volatile_write##bytes(void* at) {     \
        stand_in::access(at, bytes, stand_in_state.write_bytes); \
    }
STAND_IN_SIZE(1)
STAND_IN_SIZE(2)
STAND_IN_SIZE(4)
STAND_IN_SIZE(8)
STAND_IN_SIZE(16)
STAND_IN_ACCESS __tsan_read_range(void* at, unsigned long bytes) {
    stand_in::access(at, static_cast<unsigned>(bytes), stand_in_state.read_bytes);
}
STAND_IN_ACCESS __tsan_write_range(void* at, unsigned long bytes) {
    stand_in::access(at, static_cast<unsigned>(bytes), stand_in_state.write_bytes);
}
STAND_IN_ACCESS __tsan_init() {}
STAND_IN_ACCESS __tsan_func_entry(void*) {}
STAND_IN_ACCESS __tsan_func_exit() {}

// ---- where a thread is -------------------------------------------------------------------------

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static constexpr int warpSize = 32;

// ---- vectors -----------------------------------------------------------------------------------

#define STAND_IN_VECTORS(scalar, name)                                      \
    struct alignas(2 * sizeof(scalar)) name##2 {                            \
        scalar x, y;                                                        \
    };                                                                      \
    struct alignas(sizeof(scalar) >= 8 ? 16 : 4 * sizeof(scalar)) name##4 { \
        scalar x, y, z, w;                                                  \
    };                                                                      \
    inline name##2 make_##name##2(scalar x, scalar y) {                     \
        return {x, y};                                                      \
    }                                                                       \
    inline name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) { \
        return {x, y, z, w};                                                \
    }
STAND_IN_VECTORS(float, float)
STAND_IN_VECTORS(double, double)
STAND_IN_VECTORS(int, int)
STAND_IN_VECTORS(unsigned, uint)
STAND_IN_VECTORS(long long, longlong)
STAND_IN_VECTORS(unsigned long long, ulonglong)

// ---- loads, stores and atomics -----------------------------------------------------------------

#define STAND_IN_LOAD(name)                \
    template <class Value>                 \
    inline Value name(const Value* from) { \
        return *from;                      \
    }
STAND_IN_LOAD(__ldg)
STAND_IN_LOAD(__ldca)
template <class Value>
inline Value __ldcg(const Value* from) {
    stand_in::past_l1 = true;
    const Value value = *from;
    stand_in::past_l1 = false;
    return value;
}
STAND_IN_LOAD(__ldcs)
STAND_IN_LOAD(__ldlu)
STAND_IN_LOAD(__ldcv)

#define STAND_IN_STORE(name)                     \
    template <class Value>                       \
    inline void name(Value* into, Value value) { \
        *into = value;                           \
    }
STAND_IN_STORE(__stwb)
STAND_IN_STORE(__stcg)
STAND_IN_STORE(__stcs)
STAND_IN_STORE(__stwt)

template <class Value, class Other>
inline Value atomicAdd(Value* into, Other value) {
    const Value before = *into;
    *into = before + static_cast<Value>(value);
    return before;
}
template <class Value, class Other>
inline Value atomicMax(Value* into, Other value) {
    const Value before = *into;
    *into = before < static_cast<Value>(value) ? static_cast<Value>(value) : before;
    return before;
}
template <class Value, class Other>
inline Value atomicMin(Value* into, Other value) {
    const Value before = *into;
    *into = static_cast<Value>(value) < before ? static_cast<Value>(value) : before;
    return before;
}
template <class Value, class Other>
inline Value atomicExch(Value* into, Other value) {
    const Value before = *into;
    *into = static_cast<Value>(value);
    return before;
}
template <class Value>
inline Value atomicCAS(Value* into, Value expected, Value value) {
    const Value before = *into;
    if (before == expected) *into = value;
    return before;
}
inline void __threadfence() {}
inline void __threadfence_system() {}
inline void __threadfence_block() {}

// ---- numbers -----------------------------------------------------------------------------------

inline double __dadd_rn(double x, double y) {
    return x + y;
}
inline double __dsub_rn(double x, double y) {
    return x - y;
}
inline double __dmul_rn(double x, double y) {
    return x * y;
}
inline double __ddiv_rn(double x, double y) {
    return x / y;
}
inline float __fadd_rn(float x, float y) {
    return x + y;
}
inline float __fsub_rn(float x, float y) {
    return x - y;
}
inline float __fmul_rn(float x, float y) {
    return x * y;
}
inline float __fdiv_rn(float x, float y) {
    return x / y;
}
inline double fabs(double x) {
    return __builtin_fabs(x);
}
inline float fabsf(float x) {
    return __builtin_fabsf(x);
}
inline float fabs(float x) {
    return __builtin_fabsf(x);
}
inline double fma(double x, double y, double z) {
    return __builtin_fma(x, y, z);
}
inline float fmaf(float x, float y, float z) {
    return __builtin_fmaf(x, y, z);
}
inline bool isnan(double x) {
    return x != x;
}
inline bool isfinite(double x) {
    return __builtin_isfinite(x);
}
template <class Value>
inline Value min(Value x, Value y) {
    return y < x ? y : x;
}
template <class Value>
inline Value max(Value x, Value y) {
    return x < y ? y : x;
}
inline long long __double_as_longlong(double x) {
    return __builtin_bit_cast(long long, x);
}
inline double __longlong_as_double(long long x) {
    return __builtin_bit_cast(double, x);
}
inline int __float_as_int(float x) {
    return __builtin_bit_cast(int, x);
}
inline float __int_as_float(int x) {
    return __builtin_bit_cast(float, x);
}

// ---- time --------------------------------------------------------------------------------------

namespace stand_in {

STAND_IN_HOST inline unsigned long long globaltimer() {
    const unsigned long long moved = stand_in_state.read_bytes + stand_in_state.write_bytes;
    if (moved == stand_in_state.bytes_at_reading) {
        stand_in_state.idle_ns += stand_in_state.timer_step_ns;
    }
    stand_in_state.bytes_at_reading = moved;
    const unsigned long long now = stand_in_state.timer_ns(&stand_in_state);
    return now - now % stand_in_state.timer_step_ns;
}
STAND_IN_HOST inline long long cycles() {
    return static_cast<long long>(static_cast<double>(stand_in_state.timer_ns(&stand_in_state)) *
                                  stand_in_state.cycles_per_ns);
}
STAND_IN_HOST inline unsigned multiprocessor() {
    const unsigned number = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    return number % stand_in_state.multiprocessors;
}

// What an instruction in PTX that loads or stores becomes; see ptx.cpp.
template <class Part>
void ptx_load(const Part* from, Part& part) {
    part = *from;
}
template <class Part, class... Parts>
void ptx_load(const void* from, Part& part, Parts&... parts) {
    const auto* typed = static_cast<const Part*>(from);
    part = *typed;
    if constexpr (sizeof...(parts) > 0) ptx_load(static_cast<const void*>(typed + 1), parts...);
}
template <class Part, class... Parts>
void ptx_store(void* into, Part part, Parts... parts) {
    auto* typed = static_cast<Part*>(into);
    *typed = part;
    if constexpr (sizeof...(parts) > 0) ptx_store(static_cast<void*>(typed + 1), parts...);
}
inline void* ptx_address(unsigned long long address) {
    return reinterpret_cast<void*>(address);
}
inline void* ptx_address(const void* address) {
    return const_cast<void*>(address);
}

// ---- launches ----------------------------------------------------------------------------------

// Threads of a block follow each other; so do blocks.
template <class... Parameters>
STAND_IN_HOST void call_each(void (*kernel)(Parameters...), Place grid, Place block,
                             Parameters... values) {
    gridDim = {grid.x, grid.y, grid.z};
    blockDim = {block.x, block.y, block.z};
    const unsigned long long blocks = 1ull * grid.x * grid.y * grid.z;
    const unsigned threads = block.x * block.y * block.z;
    for (unsigned long long at = 0; at < blocks; ++at) {
        blockIdx = {unsigned(at % grid.x), unsigned(at / grid.x % grid.y),
                    unsigned(at / grid.x / grid.y)};
        for (unsigned thread = 0; thread < threads; ++thread) {
            threadIdx = {thread % block.x, thread / block.x % block.y, thread / block.x / block.y};
            kernel(values...);
        }
    }
}

// The values of a launch, from where its arguments point to.
template <class... Parameters>
struct Unpacked {
    template <class... Values>
    STAND_IN_HOST static void launch(void (*kernel)(Parameters...), Place grid, Place block,
                                     void** given, Values... values) {
        if constexpr (sizeof...(Values) == sizeof...(Parameters)) {
            call_each<Parameters...>(kernel, grid, block, values...);
        } else {
            using Next = typename Nth<sizeof...(Values), Parameters...>::Type;
            launch(kernel, grid, block, given, values...,
                   *static_cast<Next*>(given[sizeof...(Values)]));
        }
    }

private:
    template <unsigned number, class First, class... Rest>
    struct Nth : Nth<number - 1, Rest...> {};
    template <class First, class... Rest>
    struct Nth<0, First, Rest...> {
        using Type = First;
    };
};

template <class... Parameters>
void launch(void (*kernel)(Parameters...), Place grid, Place block, void** given) {
    last_hit = {1, 0};
    Unpacked<Parameters...>::launch(kernel, grid, block, given);
}

}  // namespace stand_in

inline long long clock64() {
    return stand_in::cycles();
}
inline void __nanosleep(unsigned) {}

namespace stand_in {

template <class Kernel>
struct ParameterBytes;
template <class... Parameters>
struct ParameterBytes<void (*)(Parameters...)> {
    static constexpr unsigned count = sizeof...(Parameters) + 1;
    unsigned each[count] = {sizeof(Parameters)..., 0};
};

}  // namespace stand_in

#define STAND_IN_KERNEL(symbol, kernel)                                                        \
    STAND_IN_SHOWN void symbol(stand_in::Place grid, stand_in::Place block, void** given) {    \
        stand_in::launch(&kernel, grid, block, given);                                         \
    }                                                                                          \
    STAND_IN_SHOWN const stand_in::ParameterBytes<decltype(&kernel)> symbol##_parameter_bytes; \
    const stand_in::ParameterBytes<decltype(&kernel)> symbol##_parameter_bytes{};
