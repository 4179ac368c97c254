// What a block of samples becomes in a lane's file, read back by a decoder of its own.

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "counters/lane/block.hpp"
#include "counters/lane/crc32.hpp"
#include "counters/lane_decoder.hpp"

using memgauge::Clock;
using memgauge::LaneBlock;
using memgauge::Reading;
using memgauge::test::DecodedLane;
using memgauge::test::LaneDecoder;

namespace {

using Value = std::optional<std::uint64_t>;
using Row = std::vector<Value>;

Reading reading_of(const Row& row, memgauge::Ticks begin, memgauge::Ticks end) {
    Reading reading{.begin = begin, .end = end, .values = {}, .present = {}};
    for (const Value& value : row) {
        reading.values.push_back(value.value_or(0xDEADBEEF));
        reading.present.push_back(value ? 1 : 0);
    }
    return reading;
}

std::string header(std::size_t slots) {
    std::string bytes("MGLANE1\n\0\0\0\0\0\0\0\0", 16);
    bytes[8] = static_cast<char>(slots + 2);
    return bytes;
}

std::string encoded(LaneBlock& block) {
    std::vector<std::uint8_t> bytes(block.most_bytes());
    const std::size_t size = block.encode(bytes);
    REQUIRE(size <= bytes.size());
    return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

// One block of these rows, 1000 ticks apart.
std::string one_block(const std::vector<Row>& rows) {
    LaneBlock block(rows.front().size(), rows.size());
    memgauge::Ticks at = Clock::instance().now();
    for (const Row& row : rows) {
        block.add(reading_of(row, at, at + 10));
        at += 1000;
    }
    CHECK(block.full());
    return encoded(block);
}

DecodedLane decoded(const std::vector<Row>& rows) {
    return LaneDecoder(header(rows.front().size()) + one_block(rows)).decode();
}

std::vector<unsigned> slot_widths(const DecodedLane& lane) {
    const auto& all = lane.widths.front();
    return {all.begin() + 2, all.end()};
}

}  // namespace

TEST_CASE("the check sum is zlib's") {
    const std::string_view text = "123456789";
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    CHECK(memgauge::crc32(bytes) == 0xCBF43926U);  // the check value of CRC-32/ISO-HDLC
    CHECK(memgauge::crc32({}) == 0U);
}

TEST_CASE("any readings come back as they were") {
    std::mt19937_64 random(7);
    for (const std::size_t samples : {1U, 2U, 7U, 8U, 9U, 100U}) {
        std::vector<Row> rows(samples, Row(6));
        std::uint64_t counter = 1'000'000;
        for (Row& row : rows) {
            counter += random() % 5000;
            row = {counter,
                   random() >> 1U,
                   random() % 3 != 0 ? Value(counter) : std::nullopt,
                   std::nullopt,
                   42,
                   random() % 2 != 0 ? Value(random() >> 1U) : std::nullopt};
        }
        const DecodedLane lane = decoded(rows);
        REQUIRE(lane.columns == 8);
        CHECK_FALSE(lane.torn);
        REQUIRE(lane.begin_ns.size() == samples);
        for (std::size_t slot = 0; slot < 6; ++slot) {
            for (std::size_t i = 0; i < samples; ++i) {
                const auto& got = lane.slots[slot][i];
                REQUIRE(got.has_value() == rows[i][slot].has_value());
                if (got) CHECK(static_cast<std::uint64_t>(*got) == rows[i][slot].value());
            }
        }
    }
}

TEST_CASE("differences take the least bytes that hold them") {
    const DecodedLane lane = decoded({{9, 0, 1000, 0, 1'000'000, 0, 0, 5'000'000'000},
                                      {9, 127, 872, 128, 967'232, 1U << 31U, (1U << 31U) - 1, 0}});
    CHECK(slot_widths(lane) == std::vector<unsigned>{0, 1, 1, 2, 2, 8, 4, 8});
}

TEST_CASE("a counter that wraps or falls back keeps its values") {
    constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
    const DecodedLane lane = decoded({{largest, 4'294'967'290}, {0, 5}, {largest, 10}});
    CHECK(lane.slots[0] == std::vector<std::optional<std::int64_t>>{largest, 0, largest});
    CHECK(lane.slots[1] == std::vector<std::optional<std::int64_t>>{4'294'967'290, 5, 10});
    CHECK(slot_widths(lane) == std::vector<unsigned>{8, 8});
}

TEST_CASE("missing values cost no width, wherever they stand") {
    const DecodedLane lane = decoded({{std::nullopt, std::nullopt, 1'000'000'000'000},
                                      {1'000'000'000'000, std::nullopt, std::nullopt},
                                      {std::nullopt, std::nullopt, 1'000'000'000'001}});
    CHECK(slot_widths(lane) == std::vector<unsigned>{0, 0, 1});
    CHECK(lane.slots[0][1] == 1'000'000'000'000);
    CHECK(lane.slots[1] == std::vector<std::optional<std::int64_t>>(3));
    CHECK_FALSE(lane.slots[2][1].has_value());
}

TEST_CASE("a value that no signed number holds is missing, not wrong") {
    const DecodedLane lane = decoded({{std::uint64_t{1} << 63U}, {(std::uint64_t{1} << 63U) - 1}});
    CHECK_FALSE(lane.slots[0][0].has_value());
    CHECK(lane.slots[0][1] == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("the stamps are ns on the run's clock") {
    const Clock& clock = Clock::instance();
    LaneBlock block(0, 2);
    const memgauge::Ticks now = clock.now();
    block.add({.begin = now, .end = now + 50, .values = {}, .present = {}});
    const DecodedLane lane = LaneDecoder(header(0) + encoded(block)).decode();
    REQUIRE(lane.begin_ns.size() == 1);
    CHECK(lane.begin_ns[0] == clock.to_ns(now));
    CHECK(lane.end_ns[0] == clock.to_ns(now + 50));
}

TEST_CASE("blocks follow each other, and a torn or damaged last one is told apart") {
    const std::string first = one_block({{1}, {2}, {3}});
    const std::string second = one_block({{4}, {5}});
    const std::string whole = header(1) + first + second;
    CHECK(LaneDecoder(whole).decode().slots[0].size() == 5);
    for (std::size_t cut = 1; cut <= second.size(); ++cut) {
        const DecodedLane lane = LaneDecoder(whole.substr(0, whole.size() - cut)).decode();
        REQUIRE(lane.slots[0].size() == 3);
        CHECK(lane.torn == (cut < second.size()));
    }
    std::string damaged = whole;
    damaged[whole.size() - 1] = static_cast<char>(damaged[whole.size() - 1] ^ 1);
    CHECK(LaneDecoder(damaged).decode().slots[0].size() == 3);
}

TEST_CASE("a block is used again after it was cleared") {
    LaneBlock block(1, 2);
    block.add(reading_of({1}, 1, 2));
    block.add(reading_of({std::nullopt}, 3, 4));
    CHECK(block.full());
    block.clear();
    CHECK(block.empty());
    block.add(reading_of({7}, 5, 6));
    const DecodedLane lane = LaneDecoder(header(1) + encoded(block)).decode();
    CHECK(lane.slots[0] == std::vector<std::optional<std::int64_t>>{7});
}
