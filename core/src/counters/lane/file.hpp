#pragma once
// The file of a lane: a header, then whole blocks, appended one write at a time.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "descriptor.hpp"

namespace memgauge {

class LaneFile {
public:
    // Makes the file, which must not exist yet, and writes its header. SystemError: it cannot be.
    LaneFile(const std::string& path, std::size_t columns);
    ~LaneFile();
    LaneFile(const LaneFile&) = delete;
    LaneFile& operator=(const LaneFile&) = delete;

    // Appends a whole block, or none: what arrived of one that did not fit is cut off again.
    // Returns 0 or the error number; after an error nothing more is written.
    int append(std::span<const std::uint8_t> block) noexcept;
    // Flushes to the disk and closes. Returns 0 or the error number.
    int close() noexcept;
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

private:
    int write_all(std::span<const std::uint8_t> bytes) noexcept;

    Descriptor descriptor_;
    int error_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace memgauge
