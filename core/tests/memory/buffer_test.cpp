#include "memgauge/buffer.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "mappings.hpp"
#include "memory/pages/huge_pages.hpp"
#include "memory/pages/hugetlb_limit.hpp"
#include "memory/pages/numa.hpp"
#include "memory/pages/smaps.hpp"
#include "sysfs.hpp"

using memgauge::Buffer;
using memgauge::BufferRequest;
using memgauge::MemorySource;
using memgauge::PagePolicy;
using memgauge::RequestError;
using memgauge::test::mappings;
using memgauge::test::mappings_since;

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20U;

BufferRequest request_of(std::size_t bytes, PagePolicy pages = PagePolicy::automatic) {
    BufferRequest request;
    request.bytes = bytes;
    request.pages = pages;
    return request;
}

std::optional<std::string> refusal(const BufferRequest& request) {
    try {
        const Buffer buffer(request);
    } catch (const RequestError& error) {
        return error.what();
    }
    return std::nullopt;
}

bool contains(const std::optional<std::string>& text, std::string_view part) {
    return text && text->find(part) != std::string::npos;
}

std::size_t misfit(const std::byte* address, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(address) % alignment;
}

}  // namespace

TEST_CASE("every page policy has a name that reads back") {
    for (const auto policy : {PagePolicy::automatic, PagePolicy::k4, PagePolicy::thp,
                              PagePolicy::huge2m, PagePolicy::huge1g}) {
        CHECK(memgauge::page_policy_from_string(memgauge::to_string(policy)) == policy);
    }
    CHECK_THROWS_WITH_AS(memgauge::page_policy_from_string("8k"),
                         "unknown page policy '8k'; choose among auto, 4k, thp, 2m, 1g",
                         RequestError);
}

TEST_CASE("alignment and offset are honoured and every byte can be written") {
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{4095}, std::size_t{65537}, 3 * MiB + 5}) {
        for (const std::size_t alignment :
             {std::size_t{1}, std::size_t{64}, std::size_t{4096}, 2 * MiB, 64 * MiB}) {
            for (const std::size_t offset : {std::size_t{0}, std::size_t{64}, std::size_t{12288}}) {
                for (const auto pages : {PagePolicy::automatic, PagePolicy::k4}) {
                    BufferRequest request = request_of(bytes, pages);
                    request.alignment = alignment;
                    request.offset_bytes = offset;
                    const Buffer buffer(request);
                    CHECK(misfit(buffer.data() - offset, alignment) == 0);
                    CHECK(buffer.size() == bytes);
                    buffer.data()[0] = std::byte{1};
                    buffer.data()[bytes - 1] = std::byte{2};
                }
            }
        }
    }
}

TEST_CASE("nothing is touched before its user touches it") {
    const Buffer buffer(request_of(8 * MiB, PagePolicy::k4));
    const auto before = buffer.backing();
    CHECK(before.mapped_bytes >= 8 * MiB);
    CHECK(before.base_page_bytes == memgauge::base_page_bytes());
    CHECK(before.huge_page_bytes == 0);
    CHECK(!before.node);
    if (before.pages_told) {
        CHECK(before.resident_bytes == 0);
    }
}

TEST_CASE("base pages are what 4k gets") {
    const Buffer buffer(request_of(8 * MiB, PagePolicy::k4));
    std::memset(buffer.data(), 1, buffer.size());
    const auto backing = buffer.backing();
    CHECK(backing.huge_bytes == 0);
    CHECK(backing.huge_page_bytes == 0);
    if (backing.pages_told) {
        CHECK(backing.resident_bytes == 8 * MiB);
    }
    if (backing.node) {
        CHECK(backing.share_on_node > 0.0);
        CHECK(backing.share_on_node <= 1.0);
    }
}

TEST_CASE("the kernel's account of a mapping holds no neighbour") {
    const Buffer left(request_of(4 * MiB, PagePolicy::k4));
    const Buffer middle(request_of(4 * MiB, PagePolicy::k4));
    const Buffer right(request_of(4 * MiB, PagePolicy::k4));
    std::memset(left.data(), 1, left.size());
    std::memset(right.data(), 1, right.size());
    const auto backing = middle.backing();
    if (backing.pages_told) {
        CHECK(backing.resident_bytes == 0);
    }
}

TEST_CASE("pages that went away are noticed") {
    const Buffer buffer(request_of(1 * MiB, PagePolicy::k4));
    std::memset(buffer.data(), 1, buffer.size());
    const std::size_t half = buffer.size() / 2;
    REQUIRE(madvise(buffer.data(), half, MADV_DONTNEED) == 0);
    const auto backing = buffer.backing();
    if (backing.pages_told) {
        CHECK(backing.resident_bytes == buffer.size() - half);
    }
}

TEST_CASE("transparent huge pages back the range where they are allowed, else are refused") {
    const BufferRequest request = request_of(8 * MiB, PagePolicy::thp);
    if (memgauge::memory::transparent_pages_obstacle()) {
        CHECK(contains(refusal(request), "cannot use transparent huge pages"));
        return;
    }
    const Buffer buffer(request);
    std::memset(buffer.data(), 1, buffer.size());
    CHECK(misfit(buffer.data(), memgauge::memory::transparent_page_bytes()) == 0);
    const auto backing = buffer.backing();
    CHECK(backing.huge_bytes <= backing.resident_bytes);
    CHECK((backing.huge_bytes == 0) == (backing.huge_page_bytes == 0));
    if (backing.huge_bytes != 0) {
        CHECK(backing.huge_page_bytes == memgauge::memory::transparent_page_bytes());
    }
}

TEST_CASE("absurd requests are refused before anything is mapped") {
    const std::size_t before = mappings();
    BufferRequest request = request_of(std::size_t{1} << 50U);
    CHECK(contains(refusal(request), "cannot map a buffer of 1 PiB: this machine has"));
    CHECK(contains(refusal(request_of(~std::size_t{0})), "this machine has"));
    CHECK(contains(refusal(request_of(0)), "its size is zero"));
    request = request_of(MiB);
    request.offset_bytes = ~std::size_t{0};
    CHECK(contains(refusal(request), "together more than this machine's memory"));
    for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{1} << 40U}) {
        request = request_of(MiB);
        request.alignment = alignment;
        CHECK(contains(refusal(request), "not a power of two"));
    }
    CHECK(mappings_since(before) == 0);
}

TEST_CASE(
    "explicit huge pages that are not there are refused with the remedy, nothing stays mapped") {
    const std::size_t before = mappings();
    for (const auto pages : {PagePolicy::huge2m, PagePolicy::huge1g}) {
        const auto phys = std::size_t{1} << 30U;
        const auto text = refusal(request_of(phys, pages));
        if (text) {
            CHECK(contains(text, "cannot map 1 GiB in explicit pages of"));
            CHECK((contains(text, "as root: echo ") || contains(text, "no such pool") ||
                   contains(text, "the cgroup allows")));
        }
    }
    CHECK(mappings_since(before) == 0);
}

TEST_CASE("explicit huge pages that are there back the whole range") {
    const auto free =
        memgauge::sysfs::number("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
    if (free.value_or(0) < 4) {
        return;
    }
    const Buffer buffer(request_of(3 * MiB, PagePolicy::huge2m));
    std::memset(buffer.data(), 1, buffer.size());
    const auto backing = buffer.backing();
    CHECK(backing.mapped_bytes == 4 * MiB);
    if (backing.pages_told) {
        CHECK(backing.huge_bytes == 4 * MiB);
        CHECK(backing.resident_bytes == 4 * MiB);
        CHECK(backing.huge_page_bytes == 2 * MiB);
    }
}

TEST_CASE("nodes that are not there are refused by name") {
    const auto nodes = memgauge::memory::memory_nodes();
    REQUIRE(!nodes.empty());
    const std::size_t before = mappings();
    for (const int node : {-1, nodes.back() + 1, 1 << 30}) {
        BufferRequest request = request_of(MiB);
        request.memory = MemorySource::on(node);
        const auto text = refusal(request);
        CHECK(contains(text, "no memory on node " + std::to_string(node)));
        CHECK(contains(text, "choose among " + std::to_string(nodes.front())));
    }
    CHECK(mappings_since(before) == 0);
}

TEST_CASE("memory bound to a node lies there") {
    BufferRequest request = request_of(MiB, PagePolicy::k4);
    const int node = memgauge::memory::memory_nodes().back();
    request.memory = MemorySource::on(node);
    try {
        const Buffer buffer(request);
        std::memset(buffer.data(), 1, buffer.size());
        const auto backing = buffer.backing();
        if (backing.node) {
            CHECK(*backing.node == node);
            CHECK(backing.share_on_node == 1.0);
        }
    } catch (const RequestError& error) {
        CHECK(contains(std::string(error.what()), "cannot bind memory to node"));
    }
}

TEST_CASE("a buffer moves without copying and frees once") {
    const std::size_t before = mappings();
    {
        Buffer first(request_of(MiB));
        first.data()[7] = std::byte{42};
        std::byte* const address = first.data();
        Buffer second(std::move(first));
        CHECK(second.data() == address);
        CHECK(second.data()[7] == std::byte{42});
        Buffer third(request_of(2 * MiB));
        third = std::move(second);
        CHECK(third.data() == address);
        CHECK(third.size() == MiB);
    }
    CHECK(mappings_since(before) == 0);
}

TEST_CASE("smaps counts only what overlaps the range") {
    const std::string text =
        "00001000-00003000 rw-p 00000000 00:00 0 [heap]\n"
        "Size:                  8 kB\nKernelPageSize:        4 kB\nRss:                   8 kB\n"
        "AnonHugePages:         0 kB\nPrivate_Hugetlb:       0 kB\nVmFlags: rd wr mr mw me ac\n"
        "200000-600000 rw-p 00000000 00:00 0 \n"
        "KernelPageSize:        4 kB\nRss:                4096 kB\nAnonHugePages:      2048 kB\n"
        "600000-a00000 rw-p 00000000 00:0f 99 /anon_hugepage (deleted)\n"
        "KernelPageSize:     2048 kB\nRss:                   0 kB\nPrivate_Hugetlb:    2048 kB\n"
        "Shared_Hugetlb:        0 kB\n"
        "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\nRss: 4 kB\n";
    const auto parse = [&text](std::uintptr_t begin, std::uintptr_t end) {
        std::istringstream stream(text);
        return memgauge::memory::parse_smaps(stream, begin, end);
    };
    const auto transparent = parse(0x200000, 0x600000);
    REQUIRE(transparent);
    CHECK(transparent->resident_bytes == 4 * MiB);
    CHECK(transparent->transparent_bytes == 2 * MiB);
    CHECK(transparent->explicit_bytes == 0);
    const auto explicit_pages = parse(0x600000, 0xa00000);
    REQUIRE(explicit_pages);
    CHECK(explicit_pages->resident_bytes == 2 * MiB);
    CHECK(explicit_pages->explicit_bytes == 2 * MiB);
    CHECK(explicit_pages->explicit_page_bytes == 2 * MiB);
    const auto part = parse(0x200000, 0x300000);
    REQUIRE(part);
    CHECK(part->resident_bytes == MiB);
    CHECK(part->transparent_bytes == MiB);
    const auto both = parse(0x1000, 0xa00000);
    REQUIRE(both);
    CHECK(both->resident_bytes == 8192 + 6 * MiB);
    CHECK(!parse(0x3000, 0x200000));
    CHECK(!parse(0xb00000, 0xc00000));
}

TEST_CASE("smaps that is not smaps says nothing and does no harm") {
    for (const char* text : {"", "\n\n", "garbage", "1-2", "ffffffffffffffffffff-1 x\nRss: 99 kB\n",
                             "3000-1000 rw-p\nRss: 8 kB\n"}) {
        std::istringstream stream{std::string(text)};
        CHECK(!memgauge::memory::parse_smaps(stream, 0x1000, 0x2000));
    }
}

TEST_CASE("lists of ids are read strictly") {
    using memgauge::sysfs::parse_id_list;
    CHECK(parse_id_list("0") == std::vector<int>{0});
    CHECK(parse_id_list("0-2,8") == std::vector<int>{0, 1, 2, 8});
    for (const char* text : {"", "-1", "3-1", "1,,2", "a", "1-", "0-99999999999", "1;2"}) {
        CHECK(parse_id_list(text).empty());
    }
}

TEST_CASE("sizes read as the largest unit that divides them") {
    using memgauge::memory::size_text;
    CHECK(size_text(0) == "0 B");
    CHECK(size_text(1000) == "1000 B");
    CHECK(size_text(1536 * MiB) == "1536 MiB");
    CHECK(size_text(std::size_t{1} << 50U) == "1 PiB");
}

TEST_CASE("numa_maps tells where the pages of one mapping lie") {
    const std::string text =
        "00400000 default file=/bin/x mapped=9 N0=9 kernelpagesize_kB=4\n"
        "7f1000000000 bind:1 anon=100 dirty=100 N0=25 N1=75 kernelpagesize_kB=4\n"
        "7f2000000000 default\n";
    const auto parse = [&text](std::uintptr_t begin) {
        std::istringstream stream(text);
        return memgauge::memory::parse_numa_maps(stream, begin);
    };
    const auto placement = parse(0x7f1000000000);
    REQUIRE(placement);
    CHECK(placement->node == 1);
    CHECK(placement->share == 0.75);
    CHECK(!parse(0x7f2000000000));
    CHECK(!parse(0x1000));
}

TEST_CASE("cgroups above a process are found in both versions") {
    const auto find = [](const char* text) {
        std::istringstream stream{std::string(text)};
        return memgauge::memory::hugetlb_cgroups(stream, "/cg");
    };
    using Paths = std::vector<std::string>;
    CHECK(find("0::/\n") == Paths{"/cg"});
    CHECK(find("0::/a/b\n") == Paths{"/cg/a/b", "/cg/a", "/cg"});
    CHECK(find("5:cpu,cpuacct:/x\n4:hugetlb:/y\n") == Paths{"/cg/hugetlb/y", "/cg/hugetlb"});
    CHECK(find("0::/../outside\n") == Paths{"/cg"});
    CHECK(find("").empty());
    CHECK(find("nonsense\n:\n").empty());
}

TEST_CASE("the tightest cgroup limits explicit huge pages") {
    const auto root =
        std::filesystem::temp_directory_path() / ("memgauge-cgroup-" + std::to_string(getpid()));
    std::filesystem::create_directories(root / "pod");
    const auto write = [](const std::filesystem::path& path, const char* text) {
        std::ofstream(path) << text << "\n";
    };
    write(root / "hugetlb.2MB.max", "max");
    write(root / "hugetlb.1GB.max", "0");
    write(root / "pod" / "hugetlb.2MB.max", "8388608");
    write(root / "pod" / "hugetlb.2MB.current", "6291456");
    write(root / "pod" / "hugetlb.64KB.limit_in_bytes", "65536");
    write(root / "pod" / "hugetlb.64KB.usage_in_bytes", "131072");
    const std::vector<std::string> cgroups{(root / "pod").string(), root.string()};
    const auto room_2m = memgauge::memory::hugetlb_room(cgroups, 2 * MiB);
    REQUIRE(room_2m);
    CHECK(room_2m->bytes == 2 * MiB);
    CHECK(room_2m->limit_file == cgroups[0] + "/hugetlb.2MB.max");
    CHECK(memgauge::memory::hugetlb_room(cgroups, 1024 * MiB)->bytes == 0);
    CHECK(memgauge::memory::hugetlb_room(cgroups, 65536)->bytes == 0);
    CHECK(!memgauge::memory::hugetlb_room(cgroups, 16 * MiB));
    std::filesystem::remove_all(root);
}
