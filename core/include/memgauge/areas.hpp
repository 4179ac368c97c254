#pragma once
// Memory with a place of its own: a file, a device of byte-addressable memory, shared memory. Who
// opens the file or the device, and whether it may be written to, is the caller's affair.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "memgauge/memory_source.hpp"

namespace memgauge {

struct FileAreaRequest {
    int descriptor = -1;  // read and write; duplicated, so that locks of the file live on
    std::string path;     // to name it in messages and facts
    std::size_t bytes = 0;
    // Bytes at the head of the file that are not used, rounded up to whole granules.
    std::size_t reserved_bytes = 0;
};

// An area of ranges of a file, each mapped on its own at a multiple of the size of a transparent
// huge page, in the file and in memory. The file is given the size asked for here, and more when
// buffers need more. Space is taken before it is touched, so that a full file system is an error
// and no signal later. Only in tmpfs on machines with several nodes it is not: who touches a page
// first places it there, as in ordinary memory, and the free space is looked at instead.
//
// RequestError: no space (says how much is left), a limit on file size, a file system that cannot
// map files.
std::shared_ptr<MemoryArea> open_file_area(const FileAreaRequest& request);

struct DevdaxAreaRequest {
    int descriptor = -1;  // read and write; duplicated
    std::string path;
    std::size_t bytes = 0;       // of the device
    std::size_t page_bytes = 0;  // its alignment: all mappings are of pages of this size
    std::size_t reserved_bytes = 0;
    std::optional<int> node;
};

// An area of ranges of a device of byte-addressable memory (Linux's device DAX).
std::shared_ptr<MemoryArea> open_devdax_area(const DevdaxAreaRequest& request);

// An area of shared memory without a name (memfd_create(2)), one piece for each buffer.
std::shared_ptr<MemoryArea> open_shm_area();

// What kind of file system an open file is in, as mount(8) names it; empty where it is not known.
std::string file_system_of(int descriptor);

}  // namespace memgauge
