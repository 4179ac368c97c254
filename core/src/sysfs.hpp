#pragma once
// Small text files of the kernel (sysfs, procfs). A file that is missing or unreadable is an empty
// optional: containers and emulators hide some of them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memgauge::sysfs {

std::optional<std::string> first_line(const std::string& path);
std::optional<std::uint64_t> number(const std::string& path);
// The chosen word of a line such as "always [madvise] never".
std::optional<std::string> chosen_word(const std::string& path);

// "0-3,8" as 0 1 2 3 8; empty when the text is not such a list.
std::vector<int> parse_id_list(std::string_view text);
std::optional<std::vector<int>> id_list(const std::string& path);

}  // namespace memgauge::sysfs
