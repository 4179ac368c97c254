// Numbers in text, and in files kept open: written here, and the kernel's own.

#include "memgauge/counters/number_files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "counters/number_text.hpp"
#include "forked.hpp"
#include "memgauge/error.hpp"

using memgauge::CounterRefused;
using memgauge::CounterSource;
using memgauge::find_number;
using memgauge::FoundNumber;
using memgauge::NumberCell;
using memgauge::NumberFile;
using memgauge::open_number_files;
using memgauge::RequestError;
using memgauge::test::Forked;
using memgauge::test::leave_descriptors;
using memgauge::test::Steps;

namespace {

using Numbers = std::vector<std::optional<std::uint64_t>>;
constexpr std::nullopt_t missing = std::nullopt;

Numbers read(CounterSource& source) {
    std::vector<std::uint64_t> values(source.slots(), 77);
    std::vector<std::uint8_t> present(source.slots(), 7);
    source.read({values, present});
    Numbers numbers;
    for (std::size_t slot = 0; slot < values.size(); ++slot) {
        CHECK(present[slot] <= 1);
        numbers.push_back(present[slot] == 1 ? std::optional(values[slot]) : missing);
    }
    return numbers;
}

NumberCell row(const std::string& name, unsigned column = 0) {
    return {.row = name, .column = column, .field = {}};
}

NumberCell field(const std::string& row, const std::string& name) {
    return {.row = row, .column = 0, .field = name};
}

// A directory of files for one test.
class Tree {
public:
    Tree() {
        char name[] = "/tmp/number_files_test.XXXXXX";
        REQUIRE(mkdtemp(name) != nullptr);
        root_ = name;
    }
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;
    ~Tree() { std::filesystem::remove_all(root_); }

    [[nodiscard]] std::string path(const std::string& name) const {
        return (root_ / name).string();
    }
    std::string write(const std::string& name, std::string_view text) const {
        std::ofstream(path(name)) << text;
        return path(name);
    }

private:
    std::filesystem::path root_;
};

std::optional<std::uint64_t> number(std::string_view text) {
    const FoundNumber found = find_number(text, true);
    CHECK(found.state != FoundNumber::State::unfinished);
    return found.state == FoundNumber::State::number ? std::optional(found.value) : missing;
}

std::optional<std::uint64_t> cell(std::string_view text, const NumberCell& wanted) {
    const FoundNumber found = find_number(text, true, wanted);
    CHECK(found.state != FoundNumber::State::unfinished);
    return found.state == FoundNumber::State::number ? std::optional(found.value) : missing;
}

bool unfinished(const FoundNumber& found) {
    return found.state == FoundNumber::State::unfinished;
}

}  // namespace

TEST_CASE("a text is one number, decimal or hexadecimal, with white space around it") {
    CHECK(number("0") == 0);
    CHECK(number("42\n") == 42);
    CHECK(number(" \t 42 \n\n") == 42);
    CHECK(number("007\n") == 7);
    CHECK(number("0x1f\n") == 0x1f);
    CHECK(number("0XAbC") == 0xabc);
    CHECK(number("9223372036854775807\n") == 0x7fff'ffff'ffff'ffff);
}

TEST_CASE("what is no number from 0 to 2^63 is missing") {
    for (const char* text : {"",
                             " ",
                             "\n",
                             "Unavailable\n",
                             "Error\n",
                             "max\n",
                             "-1\n",
                             "+1\n",
                             "1.5\n",
                             "12 kB\n",
                             "1 2\n",
                             "12a\n",
                             "0x\n",
                             "0xg\n",
                             "0x-1\n",
                             "1e3\n",
                             "9223372036854775808\n",
                             "18446744073709551616\n",
                             "0xffffffffffffffff\n",
                             "99999999999999999999999\n"}) {
        CAPTURE(text);
        CHECK(number(text) == missing);
    }
}

TEST_CASE("a cell is a word of the first line that begins with its row") {
    constexpr std::string_view text =
        "Inter-|   Receive\n"
        "  eth0: 11 12 13\n"
        "eth00:21 22\n"
        "pgfault 31\n"
        "Node 0 MemFree:   41 kB\n"
        "pgfault 32\n"
        "empty\n"
        "text of words";
    CHECK(cell(text, row("eth0")) == 11);
    CHECK(cell(text, row("eth0", 2)) == 13);
    CHECK(cell(text, row("eth0", 3)) == missing);
    CHECK(cell(text, row("eth00", 1)) == 22);
    CHECK(cell(text, row("eth")) == missing);
    CHECK(cell(text, row("pgfault")) == 31);
    CHECK(cell(text, row("fault")) == missing);
    CHECK(cell(text, row("Node 0 MemFree")) == 41);
    CHECK(cell(text, row("Node 0 MemFree", 1)) == missing);
    CHECK(cell(text, row("empty")) == missing);
    CHECK(cell(text, row("text")) == missing);
    CHECK(cell(text, row("nothing")) == missing);
}

TEST_CASE("a field is found by its name, wherever in the line it stands") {
    constexpr std::string_view text =
        "8:16 rbytes=5 wbytes=6\n"
        "8:1 wbytes=2 rbytes=1 rios=\n"
        "some avg10=0.00 total=77\n";
    CHECK(cell(text, field("8:1", "rbytes")) == 1);
    CHECK(cell(text, field("8:1", "wbytes")) == 2);
    CHECK(cell(text, field("8:1", "bytes")) == missing);
    CHECK(cell(text, field("8:1", "rios")) == missing);
    CHECK(cell(text, field("8:1", "dios")) == missing);
    CHECK(cell(text, field("some", "total")) == 77);
    CHECK(cell(text, field("some", "avg10")) == missing);
}

TEST_CASE("nothing is read off a text that is cut") {
    CHECK(unfinished(find_number("12", false)));
    CHECK(unfinished(find_number("", false)));
    CHECK_FALSE(unfinished(find_number("12\n", false)));
    const NumberCell wanted = row("b");
    CHECK(unfinished(find_number("a 1\n", false, wanted)));
    CHECK(unfinished(find_number("a 1\nb 2", false, wanted)));
    CHECK(find_number("a 1\nb 2\nc", false, wanted).value == 2);
    CHECK(find_number("a 1\nb 2", true, wanted).value == 2);
}

TEST_CASE("slots are those of the files in order, read anew each time") {
    const Tree tree;
    const std::string level = tree.write("level", "5\n");
    const std::string table = tree.write("table", "a 1 2\nb 3 4\n");
    const auto source = open_number_files(std::vector<NumberFile>{
        {.path = level, .cells = {}}, {.path = table, .cells = {row("b", 1), row("a"), row("c")}}});
    REQUIRE(source->slots() == 4);
    CHECK(read(*source) == Numbers{5, 4, 1, missing});
    tree.write("level", "Unavailable\n");
    tree.write("table", "c 7\nb 8 9\n");
    CHECK(read(*source) == Numbers{missing, 9, missing, 7});
}

TEST_CASE("a file is read as far as 64 KiB and no number is cut there") {
    const Tree tree;
    std::string text;
    while (text.size() < 65'536 - 12) text += "filler 1\n";
    const std::string path = tree.write("table", text + "near 2\nfar 123456\nlast 3\n");
    const auto source = open_number_files(
        std::vector<NumberFile>{{.path = path, .cells = {row("near"), row("far"), row("last")}}});
    CHECK(read(*source) == Numbers{2, missing, missing});
}

TEST_CASE("words of a binary file are read where they stand, in one pass") {
    const Tree tree;
    const std::string bytes(
        "\x01\x02\0\0\0\0\0\0"
        "skip"
        "\xff\xff\xff\xff\xff\xff\xff\x7f"
        "\xff\xff\xff\xff\xff\xff\xff\xff"
        "\x05\0\0",
        31);
    const std::string path = tree.write("telemetry", bytes);
    const auto source = open_number_files(
        std::vector<NumberFile>{{.path = path, .cells = {}, .words = {12, 0, 20, 28}}});
    REQUIRE(source->slots() == 4);
    // All ones are what a device that is gone reads as; the last word is cut.
    CHECK(read(*source) == Numbers{0x7fff'ffff'ffff'ffff, 0x201, missing, missing});
    tree.write("telemetry", bytes.substr(0, 8));
    CHECK(read(*source) == Numbers{missing, 0x201, missing, missing});
    tree.write("telemetry", "");
    CHECK(read(*source) == Numbers{missing, missing, missing, missing});
}

TEST_CASE("words too far apart, or beside cells, are refused") {
    const Tree tree;
    const std::string path = tree.write("telemetry", "12345678");
    const auto opened = [&](std::vector<NumberCell> cells, std::vector<std::uint64_t> words) {
        return open_number_files(std::vector<NumberFile>{
            {.path = path, .cells = std::move(cells), .words = std::move(words)}});
    };
    CHECK_THROWS_WITH_AS(opened({row("a")}, {0}), doctest::Contains("give one"), RequestError);
    CHECK_THROWS_WITH_AS(opened({}, {0, 65'536}), doctest::Contains("64 KiB apart"), RequestError);
    CHECK_THROWS_WITH_AS(opened({}, {~std::uint64_t{0} - 7}), doctest::Contains("too far"),
                         RequestError);
    CHECK(opened({}, {0, 65'528})->slots() == 2);
}

TEST_CASE("the kernel's own tables are read, in however many pieces it gives them") {
    std::uint64_t faults = 0;
    std::string key;
    std::string last_key;
    for (std::ifstream file("/proc/vmstat"); file >> key;) {
        std::uint64_t value = 0;
        file >> value;
        if (key == "pgfault") faults = value;
        last_key = key;
    }
    if (last_key.empty()) {
        MESSAGE("skipped: no /proc/vmstat");
        return;
    }
    const auto source = open_number_files(std::vector<NumberFile>{
        {.path = "/proc/vmstat", .cells = {row(last_key), row("pgfault")}},
        {.path = "/proc/self/status", .cells = {row("Pid"), row("VmRSS")}}});
    const Numbers numbers = read(*source);
    CHECK(numbers.at(0).has_value());
    CHECK(numbers.at(1).value_or(0) >= faults);
    CHECK(numbers.at(2) == static_cast<std::uint64_t>(getpid()));
    CHECK(numbers.at(3).value_or(0) > 0);
}

TEST_CASE("what went away is missing from then on") {
    Forked child([](const Steps& steps) { steps.stop_here(); });
    child.await();
    const std::string path = "/proc/" + std::to_string(child.pid()) + "/status";
    const auto source = open_number_files(
        std::vector<NumberFile>{{.path = path, .cells = {row("Pid")}},
                                {.path = "/proc/self/status", .cells = {row("Pid")}}});
    CHECK(read(*source).front() == static_cast<std::uint64_t>(child.pid()));
    child.go_on();
    child.wait();
    const Numbers after = read(*source);
    CHECK(after.at(0) == missing);
    CHECK(after.at(1).has_value());
}

namespace {

struct Refusal {
    int error_number = 0;
    std::size_t index = 0;
    std::string what;
};

Refusal refusal_of(const std::vector<NumberFile>& files) {
    try {
        open_number_files(files);
    } catch (const CounterRefused& refused) {
        return {refused.error_number(), refused.index(), refused.what()};
    }
    return {};
}

}  // namespace

TEST_CASE("a file that cannot be opened is named with the kernel's errno") {
    const Tree tree;
    const std::string good = tree.write("good", "1\n");
    const Refusal absent = refusal_of({{good, {}}, {good, {}}, {tree.path("absent"), {}}});
    CHECK(absent.error_number == ENOENT);
    CHECK(absent.index == 2);
    CHECK(absent.what == tree.path("absent") + " cannot be opened: No such file or directory");
    CHECK(refusal_of({{tree.path(""), {}}}).error_number == EISDIR);
    CHECK(refusal_of({{good + "/below", {}}}).error_number == ENOTDIR);
    CHECK_THROWS_AS(open_number_files({}), memgauge::RequestError);
    CHECK_THROWS_AS(open_number_files(std::vector<NumberFile>{{good, {NumberCell{}}}}),
                    memgauge::RequestError);
}

TEST_CASE("a pipe without a writer does not make us wait") {
    const Tree tree;
    REQUIRE(mkfifo(tree.path("pipe").c_str(), 0600) == 0);
    const auto source = open_number_files(std::vector<NumberFile>{{tree.path("pipe"), {}}});
    CHECK(read(*source) == Numbers{missing});
}

TEST_CASE("running out of descriptors gives EMFILE, and those open are closed on exec") {
    const Tree tree;
    const std::string good = tree.write("good", "1\n");
    const int first_free = dup(0);
    close(first_free);
    {
        const auto source = open_number_files(std::vector<NumberFile>{{good, {}}});
        CHECK((fcntl(first_free, F_GETFD) & FD_CLOEXEC) != 0);
    }
    Forked child([&good](const Steps&) {
        const int next = leave_descriptors(2);
        const Refusal refusal = refusal_of({4, NumberFile{good, {}}});
        if (refusal.error_number != EMFILE || refusal.index != 2) _exit(2);
        if (dup(0) != next) _exit(3);
    });
    child.wait();
    CHECK(child.exit_code() == 0);
}
