// Small files of the kernel as text: numbers, cells of tables, and what /proc tells of processes.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "counters/number_text.hpp"
#include "counters/processes/text.hpp"
#include "fuzz.hpp"
#include "memgauge/counters/source.hpp"

namespace memgauge::fuzz {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::string_view white_space = " \t\r\n\f\v";
constexpr std::size_t longest_prefix = 200;

// The number of a word, digit by digit; nothing where it is none below 2^63.
std::optional<std::uint64_t> number_of(std::string_view word) {
    const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
    const std::string_view digits = hexadecimal ? word.substr(2) : word;
    if (digits.empty()) return std::nullopt;
    Wide value = 0;
    for (const char digit : digits) {
        constexpr std::string_view known = "0123456789abcdef";
        const char lower = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit + 32) : digit;
        const std::size_t at = known.find(lower);
        const unsigned base = hexadecimal ? 16 : 10;
        if (at >= base) return std::nullopt;
        value = value * base + at;
        if (value >= slot_limit) return std::nullopt;
    }
    return static_cast<std::uint64_t>(value);
}

void check_whole(std::string_view text) {
    const std::size_t first = text.find_first_not_of(white_space);
    std::optional<std::uint64_t> meant;
    if (first != std::string_view::npos) {
        const std::size_t last = text.find_last_not_of(white_space);
        meant = number_of(text.substr(first, last - first + 1));
    }
    const FoundNumber got = find_number(text, true);
    require(got.state != FoundNumber::State::unfinished, "a whole text is unfinished");
    require((got.state == FoundNumber::State::number) == meant.has_value(),
            "a number is read where there is none, or not where there is one");
    require(!meant || got.value == *meant, "a number is read wrong");
}

// What is told of a text that is cut stays true of the whole.
void check_cell(std::string_view text, const NumberCell& cell) {
    const FoundNumber whole = find_number(text, true, cell);
    require(whole.state != FoundNumber::State::unfinished, "a whole table is unfinished");
    require(whole.value < slot_limit, "a number beyond 2^63 is given");
    for (std::size_t cut = 0; cut <= text.size() && cut < longest_prefix; ++cut) {
        const FoundNumber part = find_number(text.substr(0, cut), false, cell);
        if (part.state == FoundNumber::State::unfinished) continue;
        require(part.state == whole.state && part.value == whole.value,
                "a cut table tells something else than the whole");
    }
}

void check_stat(std::string_view text) {
    const auto stat = parse_stat(text);
    if (!stat) return;
    const std::array<std::uint64_t, 19> fields = {static_cast<std::uint64_t>(stat->parent),
                                                  0,
                                                  0,
                                                  0,
                                                  0,
                                                  0,
                                                  stat->own.minor_faults,
                                                  stat->waited.minor_faults,
                                                  stat->own.major_faults,
                                                  stat->waited.major_faults,
                                                  stat->own.user_ticks,
                                                  stat->own.system_ticks,
                                                  stat->waited.user_ticks,
                                                  stat->waited.system_ticks,
                                                  0,
                                                  0,
                                                  stat->threads,
                                                  0,
                                                  stat->start_ticks};
    std::string again = std::string("1 (a b) c) ") + stat->state;
    for (const std::uint64_t field : fields) {
        again += ' ' + std::to_string(static_cast<std::int64_t>(field));
    }
    const auto same = parse_stat(again);
    require(same && same->state == stat->state && same->parent == stat->parent &&
                same->own.system_ticks == stat->own.system_ticks &&
                same->start_ticks == stat->start_ticks && same->threads == stat->threads,
            "fields of stat are read from other places");
}

void check_ids(std::string_view text) {
    const std::size_t most = text.size();
    std::size_t count = 0;
    while (const auto id = take_id(text)) {
        require(*id > 0, "an identifier is not above zero");
        require(++count <= most, "identifiers never end");
    }
}

}  // namespace

void run(Data data) {
    Input input(data);
    NumberCell cell;
    cell.column = static_cast<unsigned>(input.below(5));
    cell.row = std::string(input.text(input.below(8)));
    cell.field = std::string(input.text(input.below(8)));
    const std::string text(input.text(4096));
    check_whole(text);
    if (!cell.row.empty()) check_cell(text, cell);
    check_stat(text);
    check_ids(text);
    (void)parse_resident(text);
    (void)parse_io(text);
    (void)parse_switches(text);
}

}  // namespace memgauge::fuzz
