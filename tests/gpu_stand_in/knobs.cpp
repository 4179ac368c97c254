#include "knobs.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>

namespace stand_in {
namespace {

std::map<std::string, std::string> from_file() {
    Dl_info self{};
    if (dladdr(reinterpret_cast<void*>(&from_file), &self) == 0) return {};
    std::string path = self.dli_fname;
    path.erase(path.rfind('/') + 1);
    std::map<std::string, std::string> found;
    std::ifstream lines(path + "knobs");
    for (std::string line; std::getline(lines, line);) {
        const auto at = line.find('=');
        if (at != std::string::npos) found[line.substr(0, at)] = line.substr(at + 1);
    }
    return found;
}

// Never destroyed: threads of streams outlive static objects.
const std::map<std::string, std::string>& file() {
    static const auto* const found = new std::map<std::string, std::string>(from_file());
    return *found;
}

struct Failing {
    int code = 0;
    std::uint64_t from_call = 1;
};

std::map<std::string, Failing> failing() {
    std::map<std::string, Failing> found;
    std::istringstream entries(knob("fail", ""));
    for (std::string entry; std::getline(entries, entry, ',');) {
        const auto equals = entry.find('=');
        const auto at = entry.find('@');
        Failing one;
        one.code = std::atoi(entry.c_str() + equals + 1);
        if (at != std::string::npos) {
            one.from_call = std::strtoull(entry.c_str() + at + 1, nullptr, 10);
        }
        found[entry.substr(0, equals)] = one;
    }
    return found;
}

struct Calls {
    std::mutex turn;
    std::map<std::string, std::uint64_t> made;
    std::map<std::string, Failing> failing = stand_in::failing();
};

Calls& calls() {
    static auto* const all = new Calls;
    return *all;
}

}  // namespace

std::string knob(const std::string& name, const std::string& otherwise) {
    std::string variable = "GPU_STAND_IN_";
    for (const char letter : name) {
        variable += letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    }
    if (const char* told = std::getenv(variable.c_str())) return told;
    const auto found = file().find(name);
    return found == file().end() ? otherwise : found->second;
}

std::uint64_t knob_number(const std::string& name, std::uint64_t otherwise) {
    const std::string told = knob(name, "");
    return told.empty() ? otherwise : std::strtoull(told.c_str(), nullptr, 10);
}

double knob_real(const std::string& name, double otherwise) {
    const std::string told = knob(name, "");
    return told.empty() ? otherwise : std::strtod(told.c_str(), nullptr);
}

int called(const char* entry_point) {
    Calls& all = calls();
    const std::lock_guard turn(all.turn);
    const std::uint64_t call = ++all.made[entry_point];
    const auto found = all.failing.find(entry_point);
    return found == all.failing.end() || call < found->second.from_call ? 0 : found->second.code;
}

std::uint64_t calls_of(const std::string& entry_point) {
    Calls& all = calls();
    const std::lock_guard turn(all.turn);
    const auto found = all.made.find(entry_point);
    return found == all.made.end() ? 0 : found->second;
}

}  // namespace stand_in
