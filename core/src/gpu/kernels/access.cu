// What every kernel has in common: how arrays are read and written, and the clocks.
//
// CUDA C++ for NVRTC, and for g++ beside definitions of what is CUDA's: the built-in variables
// (threadIdx.x, blockIdx.x, blockDim.x, gridDim.x), vector types, the four intrinsics below,
// __longlong_as_double, __int_as_float, clock64 and MEMGAUGE_GLOBALTIMER. Threads work without each
// other: no shared memory, no barrier, no warp-wide primitive, no atomics.

typedef unsigned int u32;
typedef unsigned long long u64;

enum Hint { as_usual, streaming, no_allocate };

// Every access of an array goes through these two. PTX ISA, "Cache Operators": .cs: likely used
// once, evicted first; .cg: in the L2 only. As usual is without any: asking for the default by its
// name (ld.ca) gives a strong load on compute capability 7.0 and above, which a plain one is not.
template <Hint hint, class T>
__device__ __forceinline__ T load(const T* at) {
    if constexpr (hint == streaming) {
        return __ldcs(at);
    } else if constexpr (hint == no_allocate) {
        return __ldcg(at);
    } else {
        return *at;
    }
}

template <Hint hint, class T>
__device__ __forceinline__ void store(T* at, T value) {
    if constexpr (hint == streaming) {
        __stcs(at, value);
    } else if constexpr (hint == no_allocate) {
        __stcg(at, value);
    } else {
        *at = value;
    }
}

__device__ __forceinline__ u64 thread_number() {
    return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u64 thread_count() {
    return (u64)gridDim.x * blockDim.x;
}

// Nanoseconds of the whole GPU (PTX ISA, "Special Registers": %globaltimer); how often it is
// updated differs between GPUs.
#ifndef MEMGAUGE_GLOBALTIMER
__device__ __forceinline__ u64 globaltimer() {
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) : : "memory");
    return now;
}
#define MEMGAUGE_GLOBALTIMER globaltimer
#endif
