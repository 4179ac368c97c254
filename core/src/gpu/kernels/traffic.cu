// Loads from one array and stores to another, 16 bytes each, in a ratio.
//
// Both arrays have `vectors` of 16 bytes and are walked in order, wrapping. Positions count on over
// the wraps; what is stored tells the position, so that the host knows what each vector must hold.

__device__ __forceinline__ uint4 told(u64 position) {
    const u32 low = (u32)position;
    const u32 mixed = low * 2654435761u;
    return make_uint4(low, (u32)(position >> 32), mixed, ~mixed);
}

// One tile of each block: threads * (reads + writes) accesses, in groups of eight whose loads come
// before their stores. At most `vectors` positions of each array in one launch.
template <int reads, int writes, Hint hint, int threads>
__device__ __forceinline__ void mixed(const uint4* from, uint4* to, u64 vectors, u64 read_index,
                                      u64 write_index, u64 write_position, uint4* sink,
                                      u64 never) {
    constexpr int all = reads + writes;
    constexpr int group = 8;
    const u64 read_at = read_index + (u64)blockIdx.x * reads * threads + threadIdx.x;
    const u64 write_at = (u64)blockIdx.x * writes * threads + threadIdx.x;
    u64 sum = 0;
#pragma unroll
    for (int begin = 0; begin < all; begin += group) {
        uint4 got[group];
#pragma unroll
        for (int k = begin; k < begin + group; ++k) {
            // Access k of `all` is a store where the share of stores passes a whole number.
            if (k >= all || (k + 1) * writes / all != k * writes / all) continue;
            const u64 i = read_at + (u64)(k - k * writes / all) * threads;
            got[k - begin] = load<hint>(from + (i < vectors ? i : i - vectors));
        }
#pragma unroll
        for (int k = begin; k < begin + group; ++k) {
            if (k >= all) continue;
            if ((k + 1) * writes / all == k * writes / all) {
                const uint4 value = got[k - begin];
                sum += value.x ^ value.y ^ value.z ^ value.w;
                continue;
            }
            const u64 step = write_at + (u64)(k * writes / all) * threads;
            const u64 i = write_index + step;
            store<hint>(to + (i < vectors ? i : i - vectors), told(write_position + step));
        }
    }
    // No sum of so few is `never`, and no compiler knows: the loads are needed, the store is not.
    if (sum == never) store<as_usual>(sink, told(sum));
}

__device__ __forceinline__ bool equal(uint4 a, uint4 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

struct Mismatches {  // of one thread
    u64 failed;
    u64 first;
};

extern "C" __global__ void fill_told(uint4* to, u64 count, u64 position) {
    for (u64 i = thread_number(); i < count; i += thread_count()) {
        store<as_usual>(to + i, told(position + i));
    }
}

extern "C" __global__ void check_told(const uint4* values, u64 count, u64 position,
                                      Mismatches* found) {
    Mismatches mine = {0, 0};
    for (u64 i = thread_number(); i < count; i += thread_count()) {
        if (equal(load<as_usual>(values + i), told(position + i))) continue;
        if (mine.failed == 0) mine.first = i;
        ++mine.failed;
    }
    found[thread_number()] = mine;
}
