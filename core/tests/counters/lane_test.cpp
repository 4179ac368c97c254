// Lanes: when they sample, what reaches the file, and how they end.

#include "memgauge/counters/lane.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "counters/lane/block.hpp"
#include "counters/lane_decoder.hpp"
#include "memgauge/error.hpp"

using namespace memgauge;
using memgauge::test::DecodedLane;
using memgauge::test::LaneDecoder;
using std::chrono::milliseconds;

namespace {

class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "lane-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::string file() const { return (path_ / "test.lane").string(); }

private:
    std::filesystem::path path_;
};

// Counts how often it is read; every other reading has no second slot.
class Counting : public CounterSource {
public:
    explicit Counting(std::size_t slots = 2) : slots_(slots) {}
    [[nodiscard]] std::size_t slots() const noexcept override { return slots_; }
    void read(SlotSpan into) noexcept override {
        const std::uint64_t count = ++reads;
        while (held) {
            waits = true;
            std::this_thread::sleep_for(milliseconds(1));
        }
        const std::clock_t since = burns ? std::clock() : 0;
        while (burns && std::clock() - since < CLOCKS_PER_SEC / 100) {
        }
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            into.values[slot] = slot == 0 ? count : count * 0x9E3779B97F4A7C15U >> 1U;
            into.present[slot] = slot != 1 || count % 2 == 1 ? 1 : 0;
        }
    }
    std::atomic<std::uint64_t> reads{0};
    std::atomic<bool> held{false};
    std::atomic<bool> waits{false};  // in a reading that was held
    std::atomic<bool> burns{false};  // 10 ms of processor time for each reading

private:
    std::size_t slots_;
};

LaneRequest request(const Folder& folder, const std::shared_ptr<Counting>& source,
                    std::int64_t interval_ns = 1'000'000) {
    LaneRequest made;
    made.reader = std::make_shared<Reader>(std::vector<std::shared_ptr<CounterSource>>{source});
    made.path = folder.file();
    made.interval_ns = interval_ns;
    made.name = "a lane of a long name";
    return made;
}

DecodedLane decoded(const Folder& folder) {
    std::ostringstream bytes;
    bytes << std::ifstream(folder.file(), std::ios::binary).rdbuf();
    return LaneDecoder(bytes.str()).decode();
}

bool within_seconds(const std::function<bool()>& reached) {
    for (int step = 0; step < 20'000; ++step) {
        if (reached()) return true;
        std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
}

std::int64_t now_ns() {
    const Clock& clock = Clock::instance();
    return clock.to_ns(clock.now());
}

std::string refusal(const LaneRequest& asked) {
    try {
        const Lane lane(asked);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("every sample taken reaches the file, in order, from the first to the one of stop") {
    const Folder folder;
    const auto source = std::make_shared<Counting>();
    Lane lane(request(folder, source));
    CHECK(source->reads >= 1);
    CHECK(within_seconds([&] { return lane.state().samples > 50; }));
    lane.stop();
    const LaneState state = lane.state();
    CHECK(state.error_number == 0);
    CHECK(state.dropped == 0);
    const DecodedLane read = decoded(folder);
    CHECK_FALSE(read.torn);
    CHECK(read.whole_bytes == state.bytes);
    REQUIRE(read.slots.size() == 2);
    REQUIRE(read.slots[0].size() == state.samples);
    CHECK(source->reads == state.samples);
    for (std::size_t i = 0; i < read.slots[0].size(); ++i) {
        CHECK(read.slots[0][i] == static_cast<std::int64_t>(i + 1));
        CHECK(read.slots[1][i].has_value() == (i % 2 == 0));
        CHECK(read.begin_ns[i] <= read.end_ns[i]);
        if (i > 0) CHECK(read.begin_ns[i] >= read.end_ns[i - 1]);
    }
}

TEST_CASE("samples stand on the grid of the interval: none is early, none uncounted") {
    const Folder folder;
    constexpr std::int64_t interval_ns = 5'000'000;
    constexpr std::int64_t clocks_differ_ns = 1'000'000;  // the lane's waiting goes by another
    const std::int64_t before_ns = now_ns();
    Lane lane(request(folder, std::make_shared<Counting>(), interval_ns));
    CHECK(within_seconds([&] { return lane.state().samples >= 40; }));
    lane.stop();
    const std::int64_t after_ns = now_ns();
    const DecodedLane read = decoded(folder);
    const LaneState state = lane.state();
    // All but the last, which stop() asked for.
    const std::size_t regular = read.begin_ns.size() - 1;
    for (std::size_t i = 1; i < regular; ++i) {
        const auto instant_ns = static_cast<std::int64_t>(i) * interval_ns;
        CHECK(read.begin_ns[i] - before_ns >= instant_ns - clocks_differ_ns);
    }
    // Up to the one that was waited for in the end.
    const auto instants = static_cast<std::int64_t>(regular + state.missed);
    const std::int64_t sampled_ns = read.begin_ns[regular - 1] - read.begin_ns[0];
    CHECK(instants * interval_ns > sampled_ns - clocks_differ_ns);
    CHECK((instants - 1) * interval_ns <= after_ns - before_ns + clocks_differ_ns);
}

TEST_CASE("instants that pass during a slow reading are missed and not made up for") {
    const Folder folder;
    const auto source = std::make_shared<Counting>();
    Lane lane(request(folder, source));
    source->held = true;
    REQUIRE(within_seconds([&] { return source->waits.load(); }));
    const std::uint64_t before = source->reads;
    std::this_thread::sleep_for(milliseconds(100));
    CHECK(source->reads == before);
    source->held = false;
    CHECK(within_seconds([&] { return lane.state().missed >= 50; }));
    lane.stop();
    CHECK(lane.state().longest_read_ns >= 50'000'000);
    const DecodedLane read = decoded(folder);
    CHECK(read.slots[0].size() == source->reads);
}

TEST_CASE("the last sample can be looked at while the lane runs and after it") {
    const Folder folder;
    const auto source = std::make_shared<Counting>();
    Lane lane(request(folder, source));
    CHECK(within_seconds([&] {
        const auto latest = lane.latest();
        return latest && latest->values[0] > 3;
    }));
    lane.stop();
    const auto latest = lane.latest();
    REQUIRE(latest.has_value());
    CHECK(latest->values[0] <= source->reads);
    CHECK(latest->present[0] == 1);
    CHECK(latest->begin <= latest->end);
}

TEST_CASE("what was sampled more than a second ago is in the file though the lane still runs") {
    const Folder folder;
    Lane lane(request(folder, std::make_shared<Counting>()));
    CHECK(within_seconds([&] { return decoded(folder).begin_ns.size() > 1; }));
    CHECK_FALSE(decoded(folder).torn);
    CHECK(lane.state().bytes > 16);
    CHECK(lane.state().cpu_ns > 0);
}

TEST_CASE("a block holds no more values than a reader has to hold at once") {
    const Folder folder;
    constexpr std::size_t slots = 20'000;
    const auto source = std::make_shared<Counting>(slots);
    Lane lane(request(folder, source));
    CHECK(within_seconds([&] { return source->reads > 120; }));
    lane.stop();
    const DecodedLane read = decoded(folder);
    CHECK_FALSE(read.torn);
    CHECK(read.samples.size() > 1);
    for (const std::size_t samples : read.samples) {
        CHECK(samples * (slots + 2) <= LaneBlock::largest_values);
    }
}

TEST_CASE("counters that cost much to read are read less often") {
    const Folder folder;
    const auto source = std::make_shared<Counting>();
    source->burns = true;
    Lane lane(request(folder, source));
    CHECK(within_seconds([&] { return lane.state().missed > 3000; }));
    lane.stop();
    const DecodedLane read = decoded(folder);
    CHECK(read.begin_ns.size() == source->reads);
    const std::size_t regular = read.begin_ns.size() - 1;
    CHECK(read.begin_ns[regular - 1] - read.begin_ns[regular - 2] > 40'000'000);
}

TEST_CASE("a rare lane ends at once when it is stopped") {
    const Folder folder;
    Lane lane(request(folder, std::make_shared<Counting>(), Lane::longest_interval_ns));
    lane.stop();
    lane.stop();
    CHECK(lane.state().samples == 2);
    CHECK(decoded(folder).begin_ns.size() == 2);
}

TEST_CASE("a full disk ends the lane, keeps whole blocks and says so") {
    const Folder folder;
    const auto source = std::make_shared<Counting>(40);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit full{.rlim_cur = 20'000, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
    {
        Lane lane(request(folder, source));
        CHECK(within_seconds([&] { return lane.state().error_number != 0; }));
        const std::uint64_t reads = source->reads;
        lane.stop();
        CHECK(source->reads <= reads + 2);
        CHECK(lane.state().error_number == EFBIG);
        CHECK(lane.state().dropped > 0);
        const DecodedLane read = decoded(folder);
        CHECK_FALSE(read.torn);
        CHECK(read.begin_ns.size() + lane.state().dropped == lane.state().samples);
    }
    setrlimit(RLIMIT_FSIZE, &limit);
}

TEST_CASE("a process forked from the sampling one leaves its lane alone") {
    const Folder folder;
    auto lane = std::make_unique<Lane>(request(folder, std::make_shared<Counting>()));
    const pid_t child = fork();
    if (child == 0) {
        lane.reset();
        _exit(0);
    }
    int status = -1;
    CHECK(within_seconds([&] { return waitpid(child, &status, WNOHANG) == child; }));
    CHECK(status == 0);
    const std::uint64_t before = lane->state().samples;
    CHECK(within_seconds([&] { return lane->state().samples > before; }));
}

TEST_CASE("a lane is refused with the reason: no reader, no such interval, no place for its file") {
    const Folder folder;
    const auto source = std::make_shared<Counting>();
    CHECK(refusal(request(folder, source, 999'999)).find("between 1 ms and 10 s") !=
          std::string::npos);
    CHECK(refusal(request(folder, source, 10'000'000'001)).find("between 1 ms and 10 s") !=
          std::string::npos);
    LaneRequest without = request(folder, source);
    without.reader = nullptr;
    CHECK(refusal(without).find("no reader to sample") != std::string::npos);
    LaneRequest elsewhere = request(folder, source);
    elsewhere.path = folder.file() + "/nowhere";
    CHECK(refusal(elsewhere).find("cannot be made to hold samples") != std::string::npos);
    LaneRequest pinned = request(folder, source);
    pinned.cpu = 100'000;
    CHECK(refusal(pinned).find("cannot sample on cpu 100000") != std::string::npos);
    CHECK(refusal(request(folder, source)).find("File exists") != std::string::npos);
}
