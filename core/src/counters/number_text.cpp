#include "counters/number_text.hpp"

#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>

namespace memgauge {
namespace {

constexpr std::string_view white_space = " \t\r\n\f\v";

std::string_view without_leading_space(std::string_view text) noexcept {
    const std::size_t first = text.find_first_not_of(white_space);
    return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

// Takes the next word off the text; empty at its end.
std::string_view take_word(std::string_view& text) noexcept {
    text = without_leading_space(text);
    const std::string_view word = text.substr(0, text.find_first_of(white_space));
    text.remove_prefix(word.size());
    return word;
}

// Takes the next line off the text, without its end; nothing where the line is cut.
std::optional<std::string_view> take_line(std::string_view& text, bool ended) noexcept {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos && !ended) return std::nullopt;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

FoundNumber number_of(std::string_view word) noexcept {
    const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
    if (hexadecimal) word.remove_prefix(2);
    std::uint64_t value = 0;
    const auto parsed =
        std::from_chars(word.data(), word.data() + word.size(), value, hexadecimal ? 16 : 10);
    if (parsed.ec != std::errc{} || parsed.ptr != word.data() + word.size() || value >= slot_limit)
        return {};
    return {.state = FoundNumber::State::number, .value = value};
}

// What follows the row's name in its line; nothing where the line is another's.
std::optional<std::string_view> after_row(std::string_view line, std::string_view row) noexcept {
    line = without_leading_space(line);
    if (!line.starts_with(row)) return std::nullopt;
    line.remove_prefix(row.size());
    if (line.empty()) return line;
    if (line.front() == ':') return line.substr(1);
    if (white_space.find(line.front()) == std::string_view::npos) return std::nullopt;
    return line;
}

FoundNumber number_in(std::string_view words, const NumberCell& cell) noexcept {
    unsigned column = 0;
    for (std::string_view word = take_word(words); !word.empty(); word = take_word(words)) {
        if (cell.field.empty()) {
            if (column++ == cell.column) return number_of(word);
        } else if (word.size() > cell.field.size() && word.starts_with(cell.field) &&
                   word[cell.field.size()] == '=') {
            return number_of(word.substr(cell.field.size() + 1));
        }
    }
    return {};
}

}  // namespace

FoundNumber find_number(std::string_view text, bool ended) noexcept {
    if (!ended && !text.ends_with('\n')) return {.state = FoundNumber::State::unfinished};
    const std::string_view word = take_word(text);
    if (word.empty() || !without_leading_space(text).empty()) return {};
    return number_of(word);
}

FoundNumber find_number(std::string_view text, bool ended, const NumberCell& cell) noexcept {
    while (!text.empty()) {
        const auto line = take_line(text, ended);
        if (!line) break;
        const auto words = after_row(*line, cell.row);
        if (words) return number_in(*words, cell);
    }
    if (ended) return {};
    return {.state = FoundNumber::State::unfinished};
}

}  // namespace memgauge
