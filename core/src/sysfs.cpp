#include "sysfs.hpp"

#include <charconv>
#include <fstream>

namespace memgauge::sysfs {

namespace {

constexpr int largest_id = 1 << 20;  // far above any kernel's number of CPUs or nodes

bool take_id(std::string_view& text, int& id) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc{} || id < 0 || id > largest_id) {
        return false;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

bool take_character(std::string_view& text, char wanted) {
    if (text.empty() || text.front() != wanted) {
        return false;
    }
    text.remove_prefix(1);
    return true;
}

}  // namespace

std::optional<std::string> first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) {
        return std::nullopt;
    }
    return line;
}

std::optional<std::uint64_t> number(const std::string& path) {
    const auto line = first_line(path);
    std::uint64_t value = 0;
    if (!line ||
        std::from_chars(line->data(), line->data() + line->size(), value).ec != std::errc{}) {
        return std::nullopt;
    }
    return value;
}

std::optional<std::string> chosen_word(const std::string& path) {
    const auto line = first_line(path);
    if (!line) {
        return std::nullopt;
    }
    const auto open = line->find('[');
    const auto close = line->find(']');
    if (open == std::string::npos || close == std::string::npos || close < open) {
        return std::nullopt;
    }
    return line->substr(open + 1, close - open - 1);
}

std::vector<int> parse_id_list(std::string_view text) {
    std::vector<int> ids;
    while (!text.empty()) {
        int first = 0;
        if (!take_id(text, first)) {
            return {};
        }
        int last = first;
        if (take_character(text, '-') && (!take_id(text, last) || last < first)) {
            return {};
        }
        for (int id = first; id <= last; ++id) {
            ids.push_back(id);
        }
        if (!text.empty() && !take_character(text, ',')) {
            return {};
        }
    }
    return ids;
}

std::optional<std::vector<int>> id_list(const std::string& path) {
    const auto line = first_line(path);
    if (!line) {
        return std::nullopt;
    }
    return parse_id_list(*line);
}

}  // namespace memgauge::sysfs
