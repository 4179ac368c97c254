#pragma once
// Memory in a pool of libpmemobj (PMDK): the library is loaded when a pool is first opened.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "memgauge/memory_source.hpp"

namespace memgauge {

struct PoolRequest {
    int descriptor = -1;  // of the file, which the library opens once more, and locks
    std::string path;     // to name it in messages and facts
    // Makes a pool of the file, as large as that: its bytes are all zero, and 8 MiB or more. Else
    // it must be a pool of memgauge's layout.
    bool create = false;
};

// What a pool that memgauge makes calls its layout, by which it is known again.
inline constexpr const char* pool_layout = "memgauge";

// The layout of the pool that an open file holds, by its first bytes; none: it is no pool of
// libpmemobj, or cannot be read. The library is not asked: opening a pool writes to it.
std::optional<std::string> layout_of_pool(int descriptor);

// An area whose buffers are objects of the pool, freed with them. Objects that a run left there
// when it was killed are freed when the pool is opened; those of other types stay.
//
// RequestError: the library is not installed; the pool is in use by another process, of another
// layout, damaged or no pool; its buffers: the pool is full, or its file has no such pages.
std::shared_ptr<MemoryArea> open_pool_area(const PoolRequest& request);

// How large to make a pool for buffers of so many bytes in all: with the library's own data and
// with what buffers lose to alignment.
std::size_t pool_bytes(std::size_t bytes) noexcept;

}  // namespace memgauge
