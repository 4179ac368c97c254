#include "memgauge/areas.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "descriptor.hpp"
#include "forked.hpp"
#include "mappings.hpp"
#include "memgauge/buffer.hpp"
#include "memory/areas/file_system.hpp"
#include "memory/areas/ranges.hpp"
#include "memory/areas/shared_mapping.hpp"
#include "memory/pages/numa.hpp"
#include "memory/pages/smaps.hpp"
#include "refusal.hpp"

using memgauge::Buffer;
using memgauge::BufferRequest;
using memgauge::Descriptor;
using memgauge::MemoryArea;
using memgauge::PagePolicy;
using memgauge::RequestError;
using memgauge::memory::AreaRanges;
using memgauge::test::refusal;

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20U;
const std::string shared_memory = "/dev/shm";  // a tmpfs on every Linux with glibc

// A file without a name, in a directory that is writable on every machine that builds this.
Descriptor scratch(const std::string& directory) {
    std::string name = directory + "/memgauge-areas-XXXXXX";
    Descriptor file(mkostemp(name.data(), O_CLOEXEC));
    REQUIRE(file);
    unlink(name.c_str());
    return file;
}

std::vector<std::string> directories() {
    std::vector<std::string> found{std::filesystem::temp_directory_path().string()};
    if (access(shared_memory.c_str(), W_OK) == 0) found.push_back(shared_memory);
    return found;
}

std::shared_ptr<MemoryArea> area_in(const Descriptor& file, std::size_t bytes,
                                    std::size_t reserved = 0) {
    return memgauge::open_file_area({file.get(), "the file", bytes, reserved});
}

BufferRequest in(const std::shared_ptr<MemoryArea>& area, std::size_t bytes,
                 PagePolicy pages = PagePolicy::automatic) {
    BufferRequest request;
    request.bytes = bytes;
    request.pages = pages;
    request.memory.area = area;
    return request;
}

std::size_t file_bytes(const Descriptor& file) {
    struct stat facts{};
    REQUIRE(fstat(file.get(), &facts) == 0);
    return static_cast<std::size_t>(facts.st_size);
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("ranges lie side by side, and what was given back is taken again, the lowest first") {
    AreaRanges ranges(4, 20, 2);
    CHECK(ranges.take(1) == 4);
    CHECK(ranges.take(4) == 6);
    CHECK(ranges.take(3) == 10);
    CHECK(ranges.largest_free() == 6);
    CHECK(ranges.take(7) == std::nullopt);
    ranges.give_back(6);
    CHECK(ranges.take(5) == 14);
    CHECK(ranges.take(2) == 6);
    CHECK(ranges.take(2) == 8);
    CHECK(ranges.largest_free() == 0);
    CHECK(ranges.take(1) == std::nullopt);
    for (const std::size_t offset : {4U, 6U, 8U, 10U, 14U}) ranges.give_back(offset);
    CHECK(ranges.largest_free() == 16);
    CHECK(ranges.take(16) == 4);
}

TEST_CASE("ranges never overlap, whatever is taken and given back") {
    constexpr std::size_t granules = 40;
    AreaRanges ranges(0, granules, 1);
    std::vector<std::pair<std::size_t, std::size_t>> taken;
    unsigned state = 1;
    for (int step = 0; step < 2000; ++step) {
        state = state * 1103515245U + 12345U;
        const std::size_t bytes = state / 65536U % 7 + 1;
        if (const auto offset = ranges.take(bytes)) {
            std::array<int, granules> owners{};
            taken.emplace_back(*offset, bytes);
            for (const auto& [begin, size] : taken) {
                REQUIRE(begin + size <= granules);
                for (std::size_t at = begin; at < begin + size; ++at) REQUIRE(++owners[at] == 1);
            }
        } else {
            REQUIRE(ranges.largest_free() < bytes);
            const std::size_t victim = state / 256U % taken.size();
            ranges.give_back(taken[victim].first);
            taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(victim));
        }
    }
}

TEST_CASE("sizes at the end of the range of numbers are refused, not wrapped round") {
    AreaRanges ranges(0, std::size_t{1} << 62U, 2 * MiB);
    CHECK(ranges.take(0) == std::nullopt);
    CHECK(ranges.take(~std::size_t{0}) == std::nullopt);
    CHECK(ranges.take(~std::size_t{0} - 2 * MiB) == std::nullopt);
}

TEST_CASE("a buffer of a file is written to the file, at its own aligned place") {
    for (const std::string& directory : directories()) {
        CAPTURE(directory);
        const Descriptor file = scratch(directory);
        const auto area = area_in(file, 4 * MiB, 4096);
        const std::size_t granule = memgauge::memory::area_granule_bytes();
        Buffer first(in(area, MiB));
        Buffer second(in(area, 3 * MiB, PagePolicy::k4));
        CHECK(reinterpret_cast<std::uintptr_t>(first.data()) % granule == 0);
        CHECK(reinterpret_cast<std::uintptr_t>(second.data()) % granule == 0);
        std::memset(first.data(), 1, MiB);
        std::memset(second.data(), 2, 3 * MiB);
        std::array<char, 2> read{};
        REQUIRE(pread(file.get(), read.data(), 1, static_cast<off_t>(granule)) == 1);
        REQUIRE(pread(file.get(), &read[1], 1, static_cast<off_t>(2 * granule)) == 1);
        CHECK(read[0] == 1);
        CHECK(read[1] == 2);
        CHECK(pread(file.get(), read.data(), 1, 4096) == 1);
        CHECK_MESSAGE(read[0] == 0, "the head is not ours");
        const auto backing = second.backing();
        CHECK(backing.pages_told);
        CHECK(backing.resident_bytes >= 3 * MiB);
        CHECK(backing.huge_bytes == 0);
    }
}

TEST_CASE("the file has the size asked for at once, and grows for more") {
    for (const std::string& directory : directories()) {
        CAPTURE(directory);
        const Descriptor file = scratch(directory);
        const auto area = area_in(file, MiB);
        const std::size_t granule = memgauge::memory::area_granule_bytes();
        CHECK(file_bytes(file) == granule);
        const Buffer large(in(area, 3 * granule));
        CHECK(file_bytes(file) == 3 * granule);
        std::memset(large.data(), 1, 3 * granule);
    }
}

TEST_CASE("memory that a killed run left in a file is given back when that is opened again") {
    if (directories().size() < 2) return;
    const Descriptor file = scratch(shared_memory);
    const std::vector<char> left(4 * MiB, 7);
    const auto granule = static_cast<off_t>(memgauge::memory::area_granule_bytes());
    REQUIRE(pwrite(file.get(), left.data(), 4096, 0) == 4096);
    REQUIRE(pwrite(file.get(), left.data(), left.size(), granule) ==
            static_cast<ssize_t>(left.size()));
    const auto area = area_in(file, left.size(), 4096);
    struct stat facts{};
    REQUIRE(fstat(file.get(), &facts) == 0);
    CHECK(static_cast<std::size_t>(facts.st_blocks) * 512 < left.size());
    std::array<char, 4096> head{};
    REQUIRE(pread(file.get(), head.data(), head.size(), 0) == 4096);
    CHECK_MESSAGE(std::ranges::count(head, 7) == 4096, "the head is not ours");
}

TEST_CASE("what a buffer used is used again, and nothing stays mapped") {
    const Descriptor file = scratch(directories().back());
    const auto area = area_in(file, MiB);
    {
        const Buffer warm(in(area, MiB));
    }
    const std::size_t before = memgauge::test::mappings();
    for (int turn = 0; turn < 50; ++turn) {
        const Buffer buffer(in(area, MiB));
        *buffer.data() = std::byte{1};
    }
    CHECK(memgauge::test::mappings_since(before) == 0);
    CHECK(file_bytes(file) == memgauge::memory::area_granule_bytes());
}

TEST_CASE("a buffer outlives the area's owner and the descriptor it was opened from") {
    Descriptor file = scratch(directories().front());
    auto area = area_in(file, MiB);
    const Buffer buffer(in(area, MiB));
    area.reset();
    file.close();
    std::memset(buffer.data(), 1, MiB);
    CHECK(buffer.backing().resident_bytes >= MiB);
}

TEST_CASE("alignment beyond the granule is honoured") {
    const Descriptor file = scratch(directories().front());
    const auto area = area_in(file, 4 * MiB);
    BufferRequest request = in(area, MiB);
    request.alignment = 64 * MiB;
    request.offset_bytes = 128;
    const Buffer buffer(request);
    CHECK((reinterpret_cast<std::uintptr_t>(buffer.data()) - 128) % (64 * MiB) == 0);
    buffer.data()[MiB - 1] = std::byte{1};
}

TEST_CASE("facts are the kernel's: what is no DAX file system grants no MAP_SYNC") {
    for (const std::string& directory : directories()) {
        const Descriptor file = scratch(directory);
        const auto facts = area_in(file, MiB)->facts();
        CHECK(facts.kind == "file");
        CHECK(facts.path == "the file");
        CHECK(facts.map_sync.has_value());
        CHECK(facts.page_bytes == 0);
        if (facts.dax) CHECK(*facts.dax == *facts.map_sync);
    }
    const auto shared = memgauge::open_shm_area()->facts();
    CHECK(shared.kind == "shm");
    CHECK(shared.dax == false);
}

TEST_CASE("a line of mountinfo is read, with what follows its optional fields") {
    std::istringstream text(
        "21 28 0:19 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
        "36 28 0:44 /a /mnt/x\\040y rw shared:1 master:2 - tmpfs none rw,size=4k,huge=advise\n");
    const auto mount = memgauge::memory::parse_mountinfo(text, 36);
    REQUIRE(mount.has_value());
    CHECK(mount->type == "tmpfs");
    CHECK(mount->minor == 44);
    CHECK(memgauge::memory::mount_option(*mount, "huge") == "advise");
    CHECK(memgauge::memory::mount_option(*mount, "hug").empty());
    std::istringstream again("36 28 0:44 / / rw");
    CHECK(!memgauge::memory::parse_mountinfo(again, 36));
    CHECK(!memgauge::memory::parse_mountinfo(again, 37));
}

TEST_CASE("explicit pages are refused where a file has none, with the remedy") {
    for (const std::string& directory : directories()) {
        const Descriptor file = scratch(directory);
        const auto area = area_in(file, MiB);
        const auto said = refusal([&] { const Buffer buffer(in(area, MiB, PagePolicy::huge1g)); });
        CHECK(contains(said, "cannot take 1 MiB of the file in pages '1g'"));
        CHECK(contains(said, "mount -t hugetlbfs -o pagesize=1G"));
        CHECK(file_bytes(file) == memgauge::memory::area_granule_bytes());
    }
}

TEST_CASE("more than a file system has is refused and takes nothing of it") {
    for (const std::string& directory : directories()) {
        CAPTURE(directory);
        const Descriptor file = scratch(directory);
        const auto area = area_in(file, MiB);
        const auto left = memgauge::memory::free_bytes(file.get());
        if (!left) continue;
        const auto said = refusal([&] { const Buffer buffer(in(area, *left + (MiB << 20U))); });
        CHECK(contains(said, "of the file: its file system"));
        CHECK(contains(said, " free; ask for less"));
        CHECK(file_bytes(file) == memgauge::memory::area_granule_bytes());
        const Buffer small(in(area, MiB));
        std::memset(small.data(), 1, MiB);
    }
    CHECK(contains(refusal([] {
                       const Descriptor file = scratch(directories().front());
                       area_in(file, ~std::size_t{0} / 2);
                   }),
                   "larger than any file"));
}

TEST_CASE("a limit on the size of files is an error, with a handler of its signal or without") {
    memgauge::test::Forked limited([](const memgauge::test::Steps&) {
        signal(SIGXFSZ, SIG_IGN);  // as Python does
        const Descriptor file = scratch(directories().front());
        const rlimit few{.rlim_cur = MiB, .rlim_max = MiB};
        if (setrlimit(RLIMIT_FSIZE, &few) != 0) _exit(2);
        const auto said = refusal([&] { area_in(file, 8 * MiB); });
        _exit(contains(said, "ulimit -f") ? 0 : 1);
    });
    limited.wait();
    CHECK(limited.exit_code() == 0);
}

TEST_CASE("shared memory is written and read, in the pages asked for or not at all") {
    const auto area = memgauge::open_shm_area();
    for (const auto policy : {PagePolicy::automatic, PagePolicy::k4, PagePolicy::thp}) {
        const auto said = refusal([&] {
            const Buffer buffer(in(area, 3 * MiB, policy));
            std::memset(buffer.data(), 1, buffer.size());
            const auto backing = buffer.backing();
            CHECK(backing.resident_bytes >= 3 * MiB);
            CHECK((policy != PagePolicy::k4 || backing.huge_bytes == 0));
        });
        if (policy == PagePolicy::thp) {
            CHECK((said.empty() || contains(said, "shared memory in transparent huge pages:")));
        } else {
            CHECK(said.empty());
        }
    }
    CHECK(contains(refusal([&] { const Buffer b(in(area, ~std::size_t{0})); }), "ask for less"));
    const std::size_t more = 2 * memgauge::memory::physical_bytes();
    CHECK(contains(refusal([&] { const Buffer b(in(area, more)); }),
                   "of shared memory: this machine has "));
}

TEST_CASE("pieces of shared memory are apart, and freed with their buffers") {
    const auto area = memgauge::open_shm_area();
    {
        const Buffer warm(in(area, MiB));
    }
    const std::size_t before = memgauge::test::mappings();
    {
        const Buffer one(in(area, MiB));
        const Buffer other(in(area, MiB));
        std::memset(one.data(), 1, MiB);
        CHECK(*other.data() == std::byte{0});
    }
    CHECK(memgauge::test::mappings_since(before) == 0);
}

// Mapping a device differs from mapping a file in sizes and flags only, so a file can stand in.
TEST_CASE("a device gives pages of its own size, and no more than it has") {
    const Descriptor file = scratch(directories().front());
    REQUIRE(ftruncate(file.get(), 16 * MiB) == 0);
    const auto area =
        memgauge::open_devdax_area({file.get(), "/dev/dax0.0", 15 * MiB, 4 * MiB, 4096, 2});
    const auto facts = area->facts();
    CHECK(facts.kind == "devdax");
    CHECK(facts.page_bytes == 4 * MiB);
    CHECK(facts.node == 2);
    CHECK(facts.dax == true);
    Buffer first(in(area, 1));
    CHECK(reinterpret_cast<std::uintptr_t>(first.data()) % (4 * MiB) == 0);
    *first.data() = std::byte{7};
    std::byte found{};
    REQUIRE(pread(file.get(), &found, 1, 4 * MiB) == 1);
    CHECK_MESSAGE(found == std::byte{7}, "after the reserved head, which takes a page");
    const auto full = refusal([&] { const Buffer second(in(area, 5 * MiB)); });
    CHECK(contains(full, "cannot take 5 MiB of /dev/dax0.0: it has 4 MiB left in one piece"));
    for (const auto policy : {PagePolicy::k4, PagePolicy::thp, PagePolicy::huge2m}) {
        const auto said = refusal([&] { const Buffer second(in(area, 1, policy)); });
        CHECK(contains(said, "all its pages are of 4 MiB; use --pages auto"));
    }
    const Buffer second(in(area, 4 * MiB));
    std::memset(second.data(), 1, 4 * MiB);
}

TEST_CASE("transparent huge pages of files and shared memory count, as smaps names them") {
    std::istringstream text(
        "1000000-1800000 rw-s 0 00:2e 2 /x\n"
        "Rss:                8192 kB\nAnonHugePages:         0 kB\n"
        "ShmemPmdMapped:     2048 kB\nFilePmdMapped:      4096 kB\n");
    const auto pages = memgauge::memory::parse_smaps(text, 0x1000000, 0x1800000);
    REQUIRE(pages.has_value());
    CHECK(pages->transparent_bytes == 6 * MiB);
    CHECK(pages->resident_bytes == 8 * MiB);
}
