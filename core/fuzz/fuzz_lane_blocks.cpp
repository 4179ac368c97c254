// Readings, many or none of them present, through a lane's blocks: a decoder written from the
// format alone gives them back.

#include <optional>
#include <string>
#include <vector>

#include "counters/lane/block.hpp"
#include "counters/lane_decoder.hpp"
#include "fuzz.hpp"
#include "memgauge/clock.hpp"

namespace memgauge::fuzz {
namespace {

using Value = std::optional<std::int64_t>;

struct Given {
    std::vector<Ticks> begin;
    std::vector<Ticks> end;
    std::vector<std::vector<Value>> slots;  // by slot
};

std::uint64_t value_of(Input& input, std::uint64_t before) {
    switch (input.below(4)) {
        case 0:
            return before;
        case 1:
            return before + input.take<std::uint8_t>();
        case 2:
            return before - input.take<std::uint16_t>();
        default:
            return input.take<std::uint64_t>();
    }
}

Reading reading_of(Input& input, std::vector<std::uint64_t>& before, Given& given) {
    Reading reading{};
    reading.begin = Clock::instance().now() + input.take<std::uint16_t>();
    reading.end = reading.begin + input.take<std::uint8_t>();
    given.begin.push_back(reading.begin);
    given.end.push_back(reading.end);
    for (std::size_t slot = 0; slot < before.size(); ++slot) {
        before[slot] = value_of(input, before[slot]);
        const bool present = input.below(8) != 0;
        reading.values.push_back(before[slot]);
        reading.present.push_back(present ? 1 : 0);
        const bool fits = present && before[slot] < slot_limit;
        given.slots[slot].push_back(fits ? Value(static_cast<std::int64_t>(before[slot]))
                                         : std::nullopt);
    }
    return reading;
}

void append(LaneBlock& block, std::string& file) {
    std::vector<std::uint8_t> bytes(block.most_bytes());
    const std::size_t size = block.encode(bytes);
    require(size <= bytes.size(), "a block is longer than the room for any");
    file.append(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    block.clear();
}

void check(const Given& given, const test::DecodedLane& lane) {
    const Clock& clock = Clock::instance();
    require(!lane.torn, "the file is torn");
    require(lane.slots == given.slots, "values did not come back");
    require(lane.begin_ns.size() == given.begin.size(), "readings are missing");
    for (std::size_t i = 0; i < given.begin.size(); ++i) {
        require(lane.begin_ns[i] == clock.to_ns(given.begin[i]), "a begin did not come back");
        require(lane.end_ns[i] == clock.to_ns(given.end[i]), "an end did not come back");
    }
}

}  // namespace

void run(Data data) {
    Input input(data);
    const std::size_t slots = input.below(4);
    LaneBlock block(slots, 1 + input.below(20));
    Given given;
    given.slots.resize(slots);
    std::vector<std::uint64_t> before(slots, input.take<std::uint64_t>());
    std::string file("MGLANE1\n\0\0\0\0\0\0\0\0", 16);
    file[8] = static_cast<char>(slots + 2);
    while (!input.empty() && given.begin.size() < 200) {
        block.add(reading_of(input, before, given));
        if (block.full()) append(block, file);
    }
    if (!block.empty()) append(block, file);
    check(given, test::LaneDecoder(file).decode());
}

}  // namespace memgauge::fuzz
