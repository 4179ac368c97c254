#include "memgauge/accesses.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "mappings.hpp"
#include "memory/accesses/slots.hpp"
#include "memory/accesses/walk.hpp"

using memgauge::AccessBuffer;
using memgauge::AccessOrder;
using memgauge::AccessPattern;
using memgauge::Interrupted;
using memgauge::PagePolicy;
using memgauge::PatternKind;
using memgauge::RequestError;
using memgauge::Team;
using memgauge::memory::Accessed;
using memgauge::memory::Scramble;
using memgauge::memory::y_offset;
using memgauge::test::mappings;
using memgauge::test::mappings_since;

namespace {

constexpr std::size_t KiB = 1024;
constexpr std::size_t MiB = 1024 * KiB;

AccessPattern pattern_of(PatternKind kind, AccessOrder order, std::size_t access_bytes,
                         std::size_t stride_bytes, std::size_t slots,
                         std::size_t spread_lines = 1) {
    return {.kind = kind,
            .order = order,
            .access_bytes = access_bytes,
            .stride_bytes = stride_bytes,
            .slots = slots,
            .spread_lines = spread_lines};
}

std::vector<std::size_t> offsets(const AccessPattern& pattern, std::uint64_t counter,
                                 std::size_t accesses) {
    return memgauge::memory::with_slots(pattern, counter, [&](auto slots) {
        std::vector<std::size_t> found;
        while (found.size() < accesses) {
            found.push_back(slots.next());
        }
        return found;
    });
}

std::vector<int> one_cpu() {
    return {memgauge::allowed_cpus().front()};
}

std::vector<float> ramp(std::size_t bytes) {
    std::vector<float> values(bytes / sizeof(float));
    for (std::size_t index = 0; index < values.size(); ++index) {
        values[index] = 1.0F + static_cast<float>(index) * 0x1p-20F;
    }
    return values;
}

Accessed memory_of(std::vector<float>& values, float scalar = 0.0F) {
    return {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(float), scalar};
}

}  // namespace

TEST_CASE("names of access kinds and orders read back") {
    for (const auto kind : {PatternKind::dependent, PatternKind::independent, PatternKind::saxpy}) {
        CHECK(memgauge::pattern_kind_from_string(memgauge::to_string(kind)) == kind);
    }
    for (const auto order : {AccessOrder::sequential, AccessOrder::random}) {
        CHECK(memgauge::access_order_from_string(memgauge::to_string(order)) == order);
    }
    CHECK_THROWS_WITH_AS(memgauge::pattern_kind_from_string("triad"),
                         "unknown access kind 'triad'; choose among dependent, independent, saxpy",
                         RequestError);
    CHECK_THROWS_WITH_AS(memgauge::access_order_from_string("zigzag"),
                         "unknown access order 'zigzag'; choose among sequential, random",
                         RequestError);
}

TEST_CASE("the scrambled order holds every number once, then repeats, from any place on") {
    for (const unsigned bits : {0U, 1U, 2U, 3U, 4U, 7U, 8U, 13U, 16U, 20U, 22U}) {
        const std::size_t numbers = std::size_t{1} << bits;
        std::vector<bool> seen(numbers);
        Scramble scramble(bits, 0);
        std::uint64_t first = 0;
        std::size_t repeated = 0;
        bool inside = true;
        for (std::size_t place = 0; place < numbers; ++place) {
            const std::uint64_t number = scramble.next();
            inside = inside && number < numbers;
            first = place == 0 ? number : first;
            repeated += seen[number % numbers] ? 1U : 0U;
            seen[number % numbers] = true;
        }
        CHECK(inside);
        CHECK(repeated == 0);
        CHECK(scramble.next() == first);
    }
    for (const unsigned bits : {1U, 5U, 21U}) {
        Scramble walked(bits, 0);
        for (std::uint64_t place = 0; place < 300; ++place) {
            CHECK(Scramble(bits, place).next() == walked.next());
        }
        CHECK(Scramble(bits, (std::uint64_t{1} << bits) + 5).next() == Scramble(bits, 5).next());
    }
}

TEST_CASE("the scrambled order has no more neighbours than chance") {
    for (const unsigned bits : {12U, 17U, 21U}) {
        constexpr std::size_t accesses = 4096;
        Scramble scramble(bits, 0);
        std::vector<std::uint64_t> numbers(accesses);
        std::ranges::generate(numbers, [&] { return scramble.next(); });
        std::size_t near = 0;
        std::vector<std::uint64_t> steps;
        for (std::size_t place = 1; place < accesses; ++place) {
            near += numbers[place] / 64 == numbers[place - 1] / 64 ? 1U : 0U;
            steps.push_back(numbers[place] - numbers[place - 1]);
        }
        // By chance 64 of them in 2^12 and next to none in 2^21.
        CHECK(near < 128);
        std::ranges::sort(steps);
        const auto distinct = std::unique(steps.begin(), steps.end()) - steps.begin();
        CHECK(distinct > static_cast<std::ptrdiff_t>(accesses / 4));
    }
}

TEST_CASE("every slot is visited once a pass, at its place and inside the buffer") {
    for (const auto order : {AccessOrder::sequential, AccessOrder::random}) {
        for (const std::size_t stride : {8U, 64U, 192U, 4096U}) {
            for (const std::size_t spread : {1U, 2U, 16U, 64U}) {
                const std::size_t access = stride < 64 ? 8 : 64;
                const std::size_t slots = order == AccessOrder::random ? 512 : 500;
                const auto pattern =
                    pattern_of(PatternKind::dependent, order, access, stride, slots, spread);
                if ((spread - 1) * 64 + access > stride) {
                    CHECK_THROWS_AS(memgauge::memory::check(pattern, MiB * 4), RequestError);
                    continue;
                }
                memgauge::memory::check(pattern, slots * stride);
                for (const std::uint64_t counter : {0U, 499U, 100'000U}) {
                    std::vector<std::size_t> visits(slots);
                    for (const std::size_t offset : offsets(pattern, counter, slots)) {
                        const std::size_t slot = offset / stride;
                        REQUIRE(slot < slots);
                        ++visits[slot];
                        CHECK(offset % stride == slot % spread * 64);
                        CHECK(offset % stride + access <= stride);
                    }
                    CHECK(std::ranges::all_of(visits, [](std::size_t n) { return n == 1; }));
                }
            }
        }
    }
}

TEST_CASE("a sequential pattern visits its slots in order and wraps") {
    const auto pattern = pattern_of(PatternKind::independent, AccessOrder::sequential, 64, 128, 3);
    CHECK(offsets(pattern, 0, 5) == std::vector<std::size_t>{0, 128, 256, 0, 128});
    CHECK(offsets(pattern, 5, 2) == std::vector<std::size_t>{256, 0});
}

TEST_CASE("what is read is one word of every line of every access, whatever waits") {
    for (const auto order : {AccessOrder::sequential, AccessOrder::random}) {
        for (const std::size_t access : {8U, 64U, 128U, 192U, 256U, 1024U, 4096U}) {
            const std::size_t stride = std::max<std::size_t>(access, 8) * 2;
            auto values = ramp(64 * stride);
            const auto independent =
                pattern_of(PatternKind::independent, order, access, stride, 64);
            for (const std::size_t accesses : {1U, 2U, 3U, 4U, 63U, 130U}) {
                std::uint64_t all = 0;
                std::uint64_t last = 0;
                for (const std::size_t offset : offsets(independent, 7, accesses)) {
                    last = 0;
                    for (std::size_t line = 0; line < std::max<std::size_t>(access / 64, 1);
                         ++line) {
                        std::uint64_t word = 0;
                        std::memcpy(&word, memory_of(values).base + offset + line * 64, 8);
                        last += word;
                    }
                    all += last;
                }
                auto dependent = independent;
                dependent.kind = PatternKind::dependent;
                CHECK(memgauge::memory::access(memory_of(values), independent, 7, accesses) == all);
                CHECK(memgauge::memory::access(memory_of(values), dependent, 7, accesses) == last);
            }
        }
    }
}

TEST_CASE("saxpy is what a plain loop over the same elements computes, and leaves the rest") {
    for (const auto order : {AccessOrder::sequential, AccessOrder::random}) {
        for (const std::size_t stride : {4U, 12U, 64U, 256U}) {
            auto values = ramp(2 * 64 * stride + 256);
            auto expected = values;
            const auto pattern = pattern_of(PatternKind::saxpy, order, 0, stride, 64);
            memgauge::memory::check(pattern, values.size() * sizeof(float));
            const std::size_t y = y_offset(values.size() * sizeof(float)) / sizeof(float);
            for (const std::size_t offset : offsets(pattern, 3, 101)) {
                const std::size_t e = offset / sizeof(float);
                const float product = 0.25F * expected[e];
                expected[y + e] = expected[y + e] + product;
            }
            memgauge::memory::access(memory_of(values, 0.25F), pattern, 3, 101);
            CHECK(values == expected);
        }
    }
}

TEST_CASE("x and y of saxpy lie an odd number of lines apart, past the middle") {
    for (const std::size_t bytes : {256U, 4096U, 4160U, 1U << 20U}) {
        CHECK(y_offset(bytes) / 64 % 2 == 1);
        CHECK(y_offset(bytes) % 64 == 0);
        CHECK(y_offset(bytes) + 64 > bytes / 2);
        CHECK(y_offset(bytes) <= bytes / 2 + 64);
    }
}

TEST_CASE("flushing changes nothing in memory") {
    for (const auto kind : {PatternKind::dependent, PatternKind::saxpy}) {
        for (const auto order : {AccessOrder::sequential, AccessOrder::random}) {
            auto values = ramp(64 * KiB);
            const auto before = values;
            const auto pattern = pattern_of(kind, order, 128, 256, 64);
            memgauge::memory::flush(memory_of(values), pattern, 60, 100);
            memgauge::memory::lead_in(memory_of(values), pattern, 60, 10);
            memgauge::memory::lead_in(memory_of(values), pattern, 5, 1000);
            CHECK(values == before);
        }
    }
}

TEST_CASE("a team walks a buffer by pattern after pattern") {
    Team team(one_cpu());
    AccessBuffer buffer(team, MiB);
    CHECK(buffer.bytes() == MiB);
    for (const auto kind : {PatternKind::dependent, PatternKind::independent, PatternKind::saxpy}) {
        for (const auto order : {AccessOrder::sequential, AccessOrder::random}) {
            const auto pattern =
                pattern_of(kind, order, 64, 256, kind == PatternKind::saxpy ? 1024 : 4096, 4);
            for (const bool flush : {false, true, true}) {
                const auto slice = buffer.run(pattern, 1000, 100, 3, flush);
                REQUIRE(slice.threads.size() == 1);
                REQUIRE(slice.threads[0].iterations.size() == 3);
                for (const auto& stamp : slice.threads[0].iterations) {
                    CHECK(stamp.end > stamp.begin);
                }
            }
        }
    }
    const auto backing = buffer.backing();
    CHECK(backing.mapped_bytes >= MiB);
    if (backing.pages_told) {
        CHECK(backing.resident_bytes >= MiB);
    }
}

TEST_CASE("only thread 0 of a larger team accesses") {
    std::vector<int> cpus = memgauge::allowed_cpus();
    if (cpus.size() < 2) {
        return;
    }
    cpus.resize(2);
    Team team(cpus);
    AccessBuffer buffer(team, 64 * KiB);
    const auto slice = buffer.run(AccessPattern{.slots = 1024}, 100);
    REQUIRE(slice.threads.size() == 2);
    CHECK(slice.threads[0].iterations.size() == 1);
    CHECK(slice.threads[1].iterations.empty());
}

TEST_CASE("patterns that make no sense or do not fit are refused with the reason") {
    Team team(one_cpu());
    AccessBuffer buffer(team, 64 * KiB);
    const auto refusal = [&](const AccessPattern& pattern, std::size_t accesses = 10) {
        try {
            buffer.run(pattern, accesses);
        } catch (const RequestError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const auto dependent = [](std::size_t access, std::size_t stride, std::size_t slots,
                              std::size_t spread = 1) {
        return pattern_of(PatternKind::dependent, AccessOrder::sequential, access, stride, slots,
                          spread);
    };
    const std::string what = "cannot access memory by this pattern: ";
    CHECK(refusal(dependent(64, 64, 1024)).empty());
    for (const std::size_t access : {0U, 4U, 16U, 65U, 100U}) {
        CHECK(refusal(dependent(access, 256, 4)) ==
              what + "an access of " + std::to_string(access) +
                  " bytes is neither one word nor whole lines; use 8 or a multiple of 64 bytes");
    }
    CHECK(refusal(dependent(64, 0, 4)) ==
          what + "a stride of 0 bytes is less than the 64 bytes of one access; use that or more");
    CHECK(refusal(dependent(64, 100, 4)) ==
          what +
              "a stride of 100 bytes would split what is accessed as one; use a multiple of 64 "
              "bytes");
    CHECK(refusal(dependent(8, 12, 4)).ends_with("use a multiple of 8 bytes"));
    CHECK(refusal(pattern_of(PatternKind::saxpy, AccessOrder::sequential, 64, 6, 4))
              .ends_with("use a multiple of 4 bytes"));
    CHECK(refusal(dependent(64, 64, 0)) == what + "it has no slots; ask for at least one");
    CHECK(refusal(dependent(64, 64, 1025)) ==
          what + "1025 slots of 64 bytes do not fit into 64 KiB; use fewer, or a larger buffer");
    CHECK(refusal(pattern_of(PatternKind::saxpy, AccessOrder::sequential, 0, 64, 512))
              .find("(half of the buffer)") != std::string::npos);
    CHECK(refusal(pattern_of(PatternKind::independent, AccessOrder::random, 64, 64, 1000)) ==
          what + "1000 slots in random order are not a power of two; use 512");
    for (const std::size_t spread : {0U, 3U}) {
        CHECK(refusal(dependent(64, 4096, 4, spread)) ==
              what + "a spread over " + std::to_string(spread) +
                  " lines is not a power of two; use 1, 2, 4, ...");
    }
    CHECK(refusal(dependent(128, 256, 4, 4)) ==
          what +
              "a spread over 4 lines leaves the 256 bytes from slot to slot; use fewer lines "
              "or a wider stride");
    CHECK(refusal(dependent(64, 64, 4), 0) == "cannot time no accesses; ask for at least one");
}

TEST_CASE("an interrupted fill frees what it had") {
    Team team(one_cpu());
    const std::size_t before = mappings();
    CHECK_THROWS_AS(AccessBuffer(team, 256 * MiB, PagePolicy::automatic, {}, [] { return true; }),
                    Interrupted);
    CHECK(mappings_since(before) == 0);
}
