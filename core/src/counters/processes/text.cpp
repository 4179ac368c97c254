#include "counters/processes/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace memgauge {
namespace {

constexpr std::string_view field_separators = " \n";

template <class Number>
bool take_number(std::string_view& text, Number& number) noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(field_separators), text.size()));
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    return parsed.ec == std::errc{};
}

// The number after a line's name; the name begins a line.
std::optional<std::uint64_t> named(std::string_view text, std::string_view name) noexcept {
    for (std::size_t at = text.find(name); at != std::string_view::npos;
         at = text.find(name, at + 1)) {
        if (at != 0 && text[at - 1] != '\n') continue;
        std::string_view rest = text.substr(at + name.size());
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
        std::uint64_t value = 0;
        if (!take_number(rest, value)) return std::nullopt;
        return value;
    }
    return std::nullopt;
}

}  // namespace

std::optional<ProcessStat> parse_stat(std::string_view text) noexcept {
    // The command's name stands in parentheses and may hold any character, these too.
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string_view::npos || name_end + 2 >= text.size()) return std::nullopt;
    ProcessStat stat;
    stat.state = text[name_end + 2];
    text.remove_prefix(name_end + 3);
    // Fields 4 to 22; some of those not used are negative.
    std::array<std::int64_t, 19> fields{};
    for (std::int64_t& field : fields) {
        if (!take_number(text, field)) return std::nullopt;
    }
    const auto at = [&fields](std::size_t field) {
        return static_cast<std::uint64_t>(fields[field - 4]);
    };
    stat.parent = static_cast<int>(at(4));
    stat.own = {.minor_faults = at(10),
                .major_faults = at(12),
                .user_ticks = at(14),
                .system_ticks = at(15)};
    stat.waited = {.minor_faults = at(11),
                   .major_faults = at(13),
                   .user_ticks = at(16),
                   .system_ticks = at(17)};
    stat.threads = at(20);
    stat.start_ticks = at(22);
    return stat;
}

std::optional<std::uint64_t> parse_resident(std::string_view text) noexcept {
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    if (!take_number(text, size) || !take_number(text, resident)) return std::nullopt;
    return resident;
}

std::optional<StorageUse> parse_io(std::string_view text) noexcept {
    const auto read = named(text, "read_bytes:");
    const auto written = named(text, "write_bytes:");
    if (!read || !written) return std::nullopt;
    return StorageUse{.read_bytes = *read, .write_bytes = *written};
}

std::optional<Switches> parse_switches(std::string_view text) noexcept {
    const auto voluntary = named(text, "voluntary_ctxt_switches:");
    const auto involuntary = named(text, "nonvoluntary_ctxt_switches:");
    if (!voluntary || !involuntary) return std::nullopt;
    return Switches{.voluntary = *voluntary, .involuntary = *involuntary};
}

std::optional<SchedTimes> parse_schedstat(std::string_view text) noexcept {
    SchedTimes times;
    if (!take_number(text, times.cpu_ns) || !take_number(text, times.run_delay_ns)) {
        return std::nullopt;
    }
    return times;
}

std::optional<std::uint64_t> parse_peak_bytes(std::string_view text) noexcept {
    constexpr std::uint64_t kib = 1024;
    const auto peak = named(text, "VmHWM:");
    return peak ? std::optional(*peak * kib) : std::nullopt;
}

std::string_view parse_name(std::string_view text) noexcept {
    constexpr std::string_view begins = "Name:\t";
    if (!text.starts_with(begins)) return {};
    text.remove_prefix(begins.size());
    return text.substr(0, text.find('\n'));
}

std::optional<int> take_id(std::string_view& text) noexcept {
    int id = 0;
    if (!take_number(text, id) || id <= 0) return std::nullopt;
    return id;
}

}  // namespace memgauge
