#include "counters/lane/file.hpp"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "memgauge/error.hpp"

namespace memgauge {
namespace {

constexpr std::size_t header_bytes = 16;

std::array<std::uint8_t, header_bytes> header(std::size_t columns) noexcept {
    std::array<std::uint8_t, header_bytes> bytes{'M', 'G', 'L', 'A', 'N', 'E', '1', '\n'};
    const auto count = static_cast<std::uint32_t>(columns);
    std::memcpy(bytes.data() + 8, &count, sizeof count);
    return bytes;
}

}  // namespace

// O_NOFOLLOW and O_EXCL: a directory from elsewhere must not steer what is written outside of it.
LaneFile::LaneFile(const std::string& path, std::size_t columns)
    : descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666)) {
    if (!descriptor_) throw SystemError(path + ": cannot be made to hold samples", errno);
    const int error = append(header(columns));
    if (error != 0) {
        throw SystemError(path + ": samples cannot be written (free some space)", error);
    }
}

LaneFile::~LaneFile() {
    close();
}

int LaneFile::append(std::span<const std::uint8_t> block) noexcept {
    if (error_ != 0) return error_;
    error_ = write_all(block);
    if (error_ == 0) {
        bytes_ += block.size();
    } else if (ftruncate(descriptor_.get(), static_cast<off_t>(bytes_)) != 0) {
        return error_;  // the reader drops a torn block by its check sum
    }
    return error_;
}

int LaneFile::write_all(std::span<const std::uint8_t> bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t written = write(descriptor_.get(), bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return 0;
}

int LaneFile::close() noexcept {
    if (!descriptor_) return error_;
    // What cannot be flushed at all, as in a pipe, is no failure (fsync(2): EINVAL, EROFS).
    if (fdatasync(descriptor_.get()) != 0 && error_ == 0 && errno != EINVAL && errno != EROFS) {
        error_ = errno;
    }
    descriptor_.close();
    return error_;
}

}  // namespace memgauge
