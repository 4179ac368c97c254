/* STREAM's triad through pycachesim's C core, which must be on the include path. */

#include <limits.h>

#include "backend.c"

static void make(Cache* cache, const char* name, long sets, long ways, Cache* behind) {
    long i;
    cache->name = name;
    cache->sets = sets;
    cache->ways = ways;
    cache->cl_size = cache->subblock_size = 64;
    cache->cl_bits = 6;
    cache->subblock_bits = 1;
    cache->replacement_policy_id = 1;
    cache->write_back = cache->write_allocate = 1;
    cache->load_from = cache->store_to = behind;
    cache->placement = calloc((size_t)(sets * ways), sizeof(cache_entry));
    for (i = 0; i < sets * ways; ++i) cache->placement[i].invalid = 1;
}

int main(int argc, char** argv) {
    static Cache l1, l2, l3;
    const long elements = argc > 1 ? atol(argv[1]) : 0;
    long i;
    make(&l3, "L3", 32768, 16, 0);
    make(&l2, "L2", 1024, 16, &l3);
    make(&l1, "L1", 64, 8, &l2);
    for (i = 0; i < elements; ++i) {
        const addr_range from = {(1 << 30) + 8 * i, 8};
        const addr_range and_from = {(1 << 30) + 8 * (elements + i), 8};
        const addr_range to = {(1 << 30) + 8 * (2 * elements + i), 8};
        Cache__load(&l1, from);
        Cache__load(&l1, and_from);
        Cache__store(&l1, to, 0);
    }
    return l1.LOAD.count >= 2 * elements ? 0 : 1; /* a store that misses counts one more */
}
