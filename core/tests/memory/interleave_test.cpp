// Pages dealt out to nodes: how many each gets, that they are there, and what ends it early.
#include "memory/pages/interleave.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "mappings.hpp"
#include "memgauge/buffer.hpp"
#include "memory/pages/numa.hpp"

using memgauge::Buffer;
using memgauge::BufferRequest;
using memgauge::Interrupted;
using memgauge::MappedPages;
using memgauge::PagePolicy;
using memgauge::RequestError;
using memgauge::memory::dealt_pages;
using memgauge::memory::interleave_weighted;
using memgauge::test::mappings;
using memgauge::test::mappings_since;

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20U;

using Nodes = std::vector<int>;
using Weights = std::vector<unsigned>;

// The same, page by page.
std::vector<std::size_t> dealt_slowly(std::size_t pages, const Weights& weights) {
    std::vector<std::size_t> dealt(weights.size());
    for (std::size_t page = 0, turn = 0, left = weights[0]; page < pages; ++page) {
        while (left == 0) {
            turn = (turn + 1) % weights.size();
            left = weights[turn];
        }
        ++dealt[turn];
        --left;
    }
    return dealt;
}

// Nodes in turn that this machine may bind to; a machine of one node plays every part.
Nodes nodes_for(std::size_t count) {
    const Nodes there = memgauge::memory::memory_nodes();
    Nodes nodes;
    for (std::size_t index = 0; index < count; ++index) {
        nodes.push_back(there[index % there.size()]);
    }
    return nodes;
}

BufferRequest weighted(std::size_t bytes, const Weights& weights) {
    BufferRequest request;
    request.bytes = bytes;
    request.pages = PagePolicy::k4;
    request.memory.nodes = nodes_for(weights.size());
    request.memory.weights = weights;
    return request;
}

// False: this container forbids memory policies.
bool can_bind() {
    try {
        const Buffer buffer(weighted(4096, {1, 1}));
        return true;
    } catch (const RequestError&) {
        return false;
    }
}

}  // namespace

TEST_CASE("as many pages go to each node as dealing them one by one gives") {
    for (const Weights& weights : {Weights{1, 1}, Weights{3, 1}, Weights{1, 255}, Weights{2, 3, 5},
                                   Weights{255, 255, 255, 255}}) {
        for (const std::size_t pages : {0U, 1U, 2U, 3U, 4U, 255U, 256U, 257U, 1000U, 1021U}) {
            const auto dealt = dealt_pages(pages, weights);
            CHECK(dealt == dealt_slowly(pages, weights));
            CHECK(std::accumulate(dealt.begin(), dealt.end(), std::size_t{0}) == pages);
        }
    }
}

TEST_CASE("every page is there after dealing, whatever the period, and holds what is written") {
    if (!can_bind()) return;
    // Periods below a chunk, beyond a chunk, and beyond the whole buffer.
    for (const Weights& weights : {Weights{1, 1}, Weights{3, 2}, Weights{255, 254, 253}}) {
        for (const std::size_t bytes : {std::size_t{4096}, 5 * MiB + 12288, 35 * MiB}) {
            const Buffer buffer(weighted(bytes, weights));
            const auto backing = buffer.backing();
            if (backing.pages_told) CHECK(backing.resident_bytes == backing.mapped_bytes);
            std::memset(buffer.data(), 42, buffer.size());
            CHECK(buffer.data()[bytes - 1] == std::byte{42});
        }
    }
}

TEST_CASE("each node has the share of its weight, by the kernel's own count") {
    const Nodes there = memgauge::memory::memory_nodes();
    if (there.size() < 2 || !can_bind()) return;
    for (const Weights& weights : {Weights{1, 1}, Weights{3, 1}, Weights{1, 7}}) {
        const Buffer buffer(weighted(64 * MiB, weights));
        const double whole = weights[0] + weights[1];
        for (const auto& [node, share] : buffer.backing().nodes) {
            const double wanted = (node == there[0] ? weights[0] : weights[1]) / whole;
            CHECK(share == doctest::Approx(wanted).epsilon(0.05));
        }
    }
}

TEST_CASE("the caller's own memory policy stays what it was") {
    if (!can_bind()) return;
    const Buffer buffer(weighted(MiB, {2, 1}));
    BufferRequest request;
    request.bytes = MiB;
    Buffer after(request);
    std::memset(after.data(), 1, after.size());
    CHECK(after.backing().resident_bytes >= MiB);
}

TEST_CASE("a caller who says stop ends the dealing, and nothing stays mapped") {
    if (!can_bind()) return;
    std::atomic<int> asked = 0;
    // Takes longer than the first question, by far: tenths of a second of zeroing at least.
    const auto interrupted = [&asked] {
        asked = 0;
        CHECK_THROWS_AS(Buffer(weighted(1024 * MiB, {1, 2}), [&asked] { return ++asked >= 1; }),
                        Interrupted);
        CHECK(asked == 1);
    };
    interrupted();  // the C library keeps stacks of threads that ended
    const std::size_t before = mappings();
    interrupted();
    CHECK(mappings_since(before) == 0);
}

TEST_CASE("a question answered with no lets the dealing end") {
    if (!can_bind()) return;
    const Buffer buffer(weighted(96 * MiB, {2, 1}), [] { return false; });
    CHECK(buffer.backing().mapped_bytes == 96 * MiB);
}

TEST_CASE("a node that is not there is named by whichever thread meets it") {
    const std::size_t page = memgauge::base_page_bytes();
    const MappedPages range(page, page);
    const Nodes nodes{memgauge::memory::memory_nodes().back() + 500,
                      memgauge::memory::memory_nodes().back() + 501};
    try {
        interleave_weighted(range.begin(), range.size(), page, nodes, {1, 1});
        FAIL("bound to a node that is not there");
    } catch (const RequestError& error) {
        CHECK(std::string(error.what()).find("cannot bind memory to node") == 0);
    }
}

TEST_CASE("a share larger than what its node has left is refused before it is taken") {
    const std::size_t page = memgauge::base_page_bytes();
    const Nodes nodes{memgauge::memory::memory_nodes().front()};
    std::string said;
    try {
        memgauge::memory::require_room(std::size_t{1} << 60U, page, nodes, {1});
    } catch (const RequestError& error) {
        said = error.what();
    }
    std::ifstream there("/sys/devices/system/node/node" + std::to_string(nodes.front()) +
                        "/meminfo");
    if (!there) return;  // the kernel does not report it
    CHECK(said.find("cannot place 1 EiB on node") == 0);
    CHECK(said.find("smaller weight") != std::string::npos);
    CHECK_NOTHROW(memgauge::memory::require_room(page, page, nodes, {1}));
}

TEST_CASE("room on a node is what is free and clean pages of files") {
    const auto room = [](const char* text) {
        std::istringstream stream{std::string(text)};
        return memgauge::memory::parse_node_room(stream);
    };
    CHECK(room("Node 1 MemTotal:       100 kB\nNode 1 MemFree:        40 kB\n"
               "Node 1 Inactive(file):        2 kB\nNode 1 HugePages_Total:     0\n") == 42 * 1024);
    CHECK(room("Node 0 HugePages_Total:     7\nNode 0 MemFree: 1 kB\n") == 1024);
    CHECK(!room(""));
    CHECK(!room("Node 0 MemTotal: 100 kB\n"));
    CHECK(!room("nonsense"));
}
