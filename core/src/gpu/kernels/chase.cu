// A ring of dependent loads. Node k begins k * node_bytes behind the ring's address and holds the
// address of the next one, so that nothing is computed between two loads.

// A number below 2^(2 * half_bits) for each, in scrambled order: a Feistel network (Luby and
// Rackoff, SIAM Journal on Computing 17, 1988) is a permutation whatever its round function.
__device__ __forceinline__ u64 scrambled(u64 number, u32 half_bits, u64 seed) {
    const u64 mask = (1ull << half_bits) - 1;
    u64 left = number >> half_bits;
    u64 right = number & mask;
#pragma unroll
    for (int round = 0; round < 4; ++round) {
        // Mixing by multiplications and shifts (Steele, Lea and Flood, OOPSLA 2014).
        u64 mixed = right + seed + (u64)(round + 1) * 0x9e3779b97f4a7c15ull;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
        mixed ^= mixed >> 31;
        const u64 next = (left ^ mixed) & mask;
        left = right;
        right = next;
    }
    return (left << half_bits) | right;
}

// What is at `place` of a scrambled order of `count`: what lies outside is scrambled again until it
// does not, which is a permutation of them.
__device__ __forceinline__ u64 at_place(u64 place, u64 count, u64 seed) {
    u32 half_bits = 1;
    while ((1ull << (2 * half_bits)) < count) ++half_bits;
    u64 found = scrambled(place, half_bits, seed);
    while (found >= count) found = scrambled(found, half_bits, seed);
    return found;
}

// All nodes of a block, then of another; a last one that is shorter has no turn but the last.
__device__ __forceinline__ u64 node_at(u64 place, u64 nodes, u64 block_nodes, u64 seed) {
    const u64 blocks = nodes / block_nodes;
    const u64 whole = blocks * block_nodes;
    if (place >= whole) return whole + at_place(place - whole, nodes - whole, seed);
    const u64 block = at_place(place / block_nodes, blocks, seed);
    return block * block_nodes + at_place(place % block_nodes, block_nodes, seed + block + 1);
}

// *begin becomes the node that was linked first: a walk from there meets nodes in the order of
// linking, and those that this kernel has left in the L2 last.
extern "C" __global__ void link_random(char* ring, u64 nodes, u64 node_bytes, u64 block_nodes,
                                       u64 seed, u64* begin) {
    for (u64 place = thread_number(); place < nodes; place += thread_count()) {
        const u64 from = node_at(place, nodes, block_nodes, seed);
        const u64 to = node_at(place + 1 < nodes ? place + 1 : 0, nodes, block_nodes, seed);
        store<as_usual>((u64*)(ring + from * node_bytes), (u64)ring + to * node_bytes);
        if (place == 0) store<as_usual>(begin, (u64)ring + from * node_bytes);
    }
}

extern "C" __global__ void link_stride(char* ring, u64 nodes, u64 node_bytes) {
    for (u64 node = thread_number(); node < nodes; node += thread_count()) {
        store<as_usual>((u64*)(ring + node * node_bytes),
                        (u64)ring + (node + 1 < nodes ? node + 1 : 0) * node_bytes);
    }
}

// Reads all of it, 8 bytes of each 32, which is the sector that the L2 fetches.
extern "C" __global__ void sweep(const char* ring, u64 bytes, u64* sink, u64 never) {
    u64 sum = 0;
    for (u64 at = 32 * thread_number(); at < bytes; at += 32 * thread_count()) {
        sum |= load<no_allocate>((const u64*)(ring + at)) & 7;
    }
    if (sum == never) store<as_usual>(sink, sum);
}

// The node behind one. An address that comes from memory could be any kind's as far as a compiler
// knows: it is said to be of device memory.
template <Hint hint>
__device__ __forceinline__ u64 behind(u64 node) {
    if constexpr (hint == no_allocate) {
        return load<hint>((const u64*)node);
    } else {
        u64 next;
        asm volatile("ld.global.u64 %0, [%1];" : "=l"(next) : "l"(node) : "memory");
        return next;
    }
}

struct WalkTimes {
    u64 begin_ns;
    u64 end_ns;
    u64 cycles;
    u64 padding;
};

// For one thread, which begins at the node *at. No node is at `nowhere`: comparing with it makes
// the clocks be read after the last load has come back, since a processor that issues in order does
// not go past a branch that waits for it.
template <Hint hint>
__device__ __forceinline__ void walk_ring(u64* at, u64 hops, u64 warm_hops, u64 iterations,
                                          WalkTimes* times, u64 nowhere) {
    u64 node = *at;
#pragma unroll 8
    for (u64 hop = 0; hop < warm_hops; ++hop) node = behind<hint>(node);
    for (u64 iteration = 0; iteration < iterations; ++iteration) {
        if (node == nowhere) *at = node;
        const u64 begin_ns = MEMGAUGE_GLOBALTIMER();
        const long long begin = clock64();
        // Nothing is added, and no load can begin before the clocks were read.
        node += (begin_ns == nowhere ? 1 : 0) + ((u64)begin == nowhere ? 1 : 0);
#pragma unroll 8
        for (u64 hop = 0; hop < hops; ++hop) node = behind<hint>(node);
        if (node == nowhere) *at = node;
        const long long end = clock64();
        const u64 end_ns = MEMGAUGE_GLOBALTIMER();
        times[iteration].begin_ns = begin_ns;
        times[iteration].end_ns = end_ns;
        times[iteration].cycles = (u64)(end - begin);
    }
    *at = node;
}

extern "C" __global__ void walk_l1(u64* at, u64 hops, u64 warm_hops, u64 iterations,
                                   WalkTimes* times, u64 nowhere) {
    walk_ring<as_usual>(at, hops, warm_hops, iterations, times, nowhere);
}

extern "C" __global__ void walk_l2(u64* at, u64 hops, u64 warm_hops, u64 iterations,
                                   WalkTimes* times, u64 nowhere) {
    walk_ring<no_allocate>(at, hops, warm_hops, iterations, times, nowhere);
}

// How many of so many hops from the first node end there, and whether the last does.
extern "C" __global__ void count_returns(const char* ring, u64 hops, u64* out) {
    u64 node = (u64)ring;
    u64 returns = 0;
    for (u64 hop = 0; hop < hops; ++hop) {
        node = behind<as_usual>(node);
        returns += node == (u64)ring ? 1 : 0;
    }
    out[0] = returns;
    out[1] = node == (u64)ring ? 1 : 0;
}
