// Pools of libpmemobj, where it is installed: made, used, opened again, and what is refused.

#include "memgauge/pmemobj.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "memgauge/buffer.hpp"
#include "memgauge/stream_arrays.hpp"
#include "memory/areas/pmemobj_library.hpp"
#include "refusal.hpp"

using namespace memgauge;
using memgauge::test::refusal;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20U;

bool installed() {
    static const bool found = dlopen("libpmemobj.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr;
    if (!found) MESSAGE("skipped: libpmemobj.so.1 is not installed");
    return found;
}

// Memory where there is such a file system: on a disk each transaction waits for it.
std::filesystem::path place_of_pools() {
    const std::filesystem::path memory = "/dev/shm";
    return access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

// An empty file in a directory of its own.
class PoolFile {
public:
    explicit PoolFile(std::size_t bytes) {
        std::string name = (place_of_pools() / "memgauge-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        directory_ = name;
        descriptor_ = open(path().c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
        REQUIRE(descriptor_ >= 0);
        REQUIRE(ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0);
    }
    ~PoolFile() {
        close(descriptor_);
        std::filesystem::remove_all(directory_);
    }
    PoolFile(const PoolFile&) = delete;
    PoolFile& operator=(const PoolFile&) = delete;

    [[nodiscard]] std::string path() const { return directory_ + "/pool"; }
    [[nodiscard]] PoolRequest to_create() const { return {descriptor_, path(), true}; }
    [[nodiscard]] PoolRequest to_open() const { return {descriptor_, path(), false}; }
    [[nodiscard]] std::string content() const {
        std::ifstream file(path(), std::ios::binary | std::ios::ate);
        std::string found(static_cast<std::size_t>(file.tellg()), '\0');
        file.seekg(0);
        file.read(found.data(), static_cast<std::streamsize>(found.size()));
        return found;
    }

private:
    std::string directory_;
    int descriptor_ = -1;
};

Buffer buffer_in(const std::shared_ptr<MemoryArea>& area, std::size_t bytes,
                 PagePolicy pages = PagePolicy::automatic) {
    BufferRequest request;
    request.bytes = bytes;
    request.pages = pages;
    request.memory.area = area;
    return Buffer(request);
}

std::byte* translated(const ObjectId& object) {
    const pmemobj::Translation by = pmemobj::translation();
    return reinterpret_cast<std::byte*>(by.pool_by_oid(object)) + object.offset;
}

}  // namespace

TEST_CASE("a pool holds aligned buffers, each an object that is freed with it") {
    if (!installed()) return;
    const PoolFile file(pool_bytes(20 * mib));
    const auto area = open_pool_area(file.to_create());
    CHECK(area->facts().kind == "pmemobj");
    CHECK(area->facts().path == file.path());
    for (int round = 0; round < 20; ++round) {  // more than would fit if any were left
        BufferRequest request{10 * mib, 4096, 8, PagePolicy::automatic, {{}, {}, area}};
        const Buffer one(request);
        const Buffer two = buffer_in(area, 8 * mib);
        CHECK(reinterpret_cast<std::uintptr_t>(one.data()) % 4096 == 8);
        CHECK(reinterpret_cast<std::uintptr_t>(two.data()) % 4096 == 0);
        REQUIRE(one.object().has_value());
        CHECK(translated(*one.object()) == one.data());
        CHECK(translated(*two.object()) == two.data());
        CHECK((one.data() + one.size() <= two.data() || two.data() + two.size() <= one.data()));
        one.data()[0] = one.data()[one.size() - 1] = std::byte{1};
    }
}

TEST_CASE("a pool holds many buffers of many sizes at once") {
    if (!installed()) return;
    std::vector<std::size_t> sizes;
    for (std::size_t size = 4096; size <= 8 * mib; size += std::max<std::size_t>(4096, size / 8)) {
        sizes.push_back(size);
    }
    const PoolFile file(pool_bytes(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0})));
    const auto area = open_pool_area(file.to_create());
    std::vector<Buffer> buffers;
    for (const std::size_t size : sizes) buffers.push_back(buffer_in(area, size));
    CHECK(buffers.size() > 50);
}

TEST_CASE("a pool that is full says so, and what it has in all") {
    if (!installed()) return;
    const PoolFile file(16 * mib);
    const auto area = open_pool_area(file.to_create());
    const std::string why = refusal([&] { buffer_in(area, 64 * mib); });
    CHECK(why.find("cannot take") == 0);
    CHECK(why.find("16") != std::string::npos);
    CHECK(why.find("ask for less") != std::string::npos);
    CHECK(buffer_in(area, mib).size() == mib);
}

TEST_CASE("a kept pool is used again, without what a killed run left in it") {
    if (!installed()) return;
    const PoolFile file(pool_bytes(20 * mib));
    std::string before;
    {
        const auto area = open_pool_area(file.to_create());
        const pmemobj::Calls& calls = pmemobj::library();
        // As a run that was killed would leave it; and an object of someone else's.
        for (const std::uint64_t type : {0x6d656d6761756765ULL, 5ULL}) {
            const Buffer buffer = buffer_in(area, mib);
            ObjectId left;
            pmemobj::Pool* const pool = calls.pool_by_oid(*buffer.object());
            REQUIRE(calls.alloc(pool, &left, 9 * mib, type, nullptr, nullptr) == 0);
        }
    }
    const auto area = open_pool_area(file.to_open());
    const Buffer buffer = buffer_in(area, 10 * mib);  // fits once the 9 MiB are free
    const pmemobj::Calls& calls = pmemobj::library();
    pmemobj::Pool* const pool = calls.pool_by_oid(*buffer.object());
    std::vector<std::uint64_t> types;
    for (ObjectId at = calls.first(pool); at.offset != 0; at = calls.next(at)) {
        types.push_back(calls.type_of(at));
    }
    std::ranges::sort(types);
    CHECK((types == std::vector<std::uint64_t>{5, 0x6d656d6761756765ULL}));
}

TEST_CASE("a pool that is open is not opened again") {
    if (!installed()) return;
    const PoolFile file(16 * mib);
    const auto area = open_pool_area(file.to_create());
    const std::string why = refusal([&] { open_pool_area(file.to_open()); });
    CHECK(why.find(file.path()) != std::string::npos);
    CHECK(why.find("another process has it open") != std::string::npos);
}

TEST_CASE("what is no pool of memgauge is refused in one line and left as it is") {
    if (!installed()) return;
    const PoolFile foreign(16 * mib);
    const pmemobj::Calls& calls = pmemobj::library();
    pmemobj::Pool* const pool = calls.create(foreign.path().c_str(), "someone", 0, 0600);
    REQUIRE(pool != nullptr);
    calls.close(pool);
    const PoolFile text(16 * mib);
    std::ofstream(text.path(), std::ios::in | std::ios::binary) << "precious";
    const PoolFile small(4 * mib);
    for (const PoolFile* file : {&foreign, &text, &small}) {
        for (const bool create : {false, true}) {
            const std::string before = file->content();
            const std::string why =
                refusal([&] { open_pool_area(create ? file->to_create() : file->to_open()); });
            INFO(why);
            CHECK(why.find(file->path()) != std::string::npos);
            CHECK(why.find("it was left as it is") != std::string::npos);
            CHECK(why.find('\n') == std::string::npos);
            CHECK((file->content() == before));
        }
    }
}

TEST_CASE("a pool may be in a file without a name") {
    if (!installed()) return;
    const PoolFile file(16 * mib);
    REQUIRE(unlink(file.path().c_str()) == 0);
    {
        const auto area = open_pool_area(file.to_create());
        CHECK(buffer_in(area, mib).object().has_value());
        CHECK(layout_of_pool(file.to_open().descriptor) == pool_layout);
    }
    CHECK(buffer_in(open_pool_area(file.to_open()), mib).object().has_value());
}

TEST_CASE("pages that a pool cannot have are refused") {
    if (!installed()) return;
    const PoolFile file(16 * mib);
    const auto area = open_pool_area(file.to_create());
    for (const PagePolicy pages : {PagePolicy::thp, PagePolicy::huge2m, PagePolicy::huge1g}) {
        CHECK(refusal([&] { buffer_in(area, mib, pages); }).find("use --pages auto") !=
              std::string::npos);
    }
    CHECK(buffer_in(area, mib, PagePolicy::k4).size() == mib);
}

TEST_CASE("every thread translates by its own cache") {
    if (!installed()) return;
    const PoolFile file(16 * mib);
    const auto area = open_pool_area(file.to_create());
    const pmemobj::Translation here = pmemobj::translation();
    REQUIRE(here.cache != nullptr);
    pmemobj::Translation there;
    std::thread([&] { there = pmemobj::translation(); }).join();
    CHECK(there.cache != nullptr);
    CHECK(there.cache != here.cache);
    CHECK(there.invalidate == here.invalidate);
}

TEST_CASE("arrays in a pool give the same through translated and direct access") {
    if (!installed()) return;
    const PoolFile file(pool_bytes(4 * mib));
    const auto area = open_pool_area(file.to_create());
    const std::vector<int> cpus = allowed_cpus();
    Team team(cpus.size() > 1 ? std::vector<int>{cpus[0], cpus[1]} : cpus);
    for (const ElementType element : {ElementType::f32, ElementType::f64}) {
        const ArraysRequest request{.element = element,
                                    .elements = 100'000,
                                    .memory = {{}, {}, area},
                                    .offset_bytes = 104,
                                    .blocks = 3};
        StreamArrays arrays(team, request);
        for (int round = 0; round < 4; ++round) {
            for (const Operation operation :
                 {Operation::copy, Operation::scale, Operation::add, Operation::triad,
                  Operation::read, Operation::write, Operation::update}) {
                KernelSpec spec{.operation = operation, .element = element};
                if (round != 1) spec.access = Access::translated;
                if (round == 3) spec.store = StoreKind::flushed;
                arrays.run(spec, {.blocks = 2, .lead_in_blocks = 1, .iterations = 2});
            }
        }
        for (const ArrayValidation& validation : arrays.validate()) {
            CHECK(validation.passed);
            CHECK(validation.failed_elements == 0);
        }
    }
}

TEST_CASE("a pool is larger than what is to be put in it") {
    CHECK(pool_bytes(0) >= 8 * mib);
    CHECK(pool_bytes(std::size_t{1} << 40U) > std::size_t{1} << 40U);
    CHECK(pool_bytes(12345) % (2 * mib) == 0);
}
