#pragma once
// The part of libpmemobj's binary interface that is used, by its manual pages (pmemobj_open(3),
// pmemobj_alloc(3), pmemobj_first(3), oid_is_null(3)) and, of what pmemobj_direct() needs as an
// inline function, its exported symbols. It has been the same since version 1.0 (LIBPMEMOBJ_1.0).

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "memgauge/memory_source.hpp"

namespace memgauge::pmemobj {

struct Pool;  // PMEMobjpool

static_assert(sizeof(ObjectId) == 16 && offsetof(ObjectId, offset) == 8);  // PMEMoid

// _pobj_cached_pool: the pool that this thread translated an object of last.
struct PoolCache {
    Pool* pool;
    std::uint64_t uuid_lo;
    int invalidate;
};

// What finding the address of an object takes, on one thread.
struct Translation {
    PoolCache* cache = nullptr;       // of this thread
    const int* invalidate = nullptr;  // _pobj_cache_invalidate: counts pools closed
    Pool* (*pool_by_oid)(ObjectId) = nullptr;
};

using Constructor = int (*)(Pool*, void*, void*);

struct Calls {
    Pool* (*open)(const char* path, const char* layout) = nullptr;
    Pool* (*create)(const char* path, const char* layout, std::size_t bytes, mode_t) = nullptr;
    void (*close)(Pool*) = nullptr;
    int (*alloc)(Pool*, ObjectId*, std::size_t, std::uint64_t type, Constructor, void*) = nullptr;
    void (*free)(ObjectId*) = nullptr;
    ObjectId (*first)(Pool*) = nullptr;
    ObjectId (*next)(ObjectId) = nullptr;
    std::uint64_t (*type_of)(ObjectId) = nullptr;
    const char* (*error_text)() = nullptr;
    Pool* (*pool_by_oid)(ObjectId) = nullptr;
};

}  // namespace memgauge::pmemobj
