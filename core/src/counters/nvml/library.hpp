#pragma once
// The loaded library: its entry points, and one question asked of one device.

#include <cstdint>
#include <string>
#include <vector>

#include "counters/nvml/abi.hpp"
#include "memgauge/counters/nvml.hpp"

namespace memgauge {

struct NvmlLibrary::State {
    nvml::Calls calls;
    std::string driver;
    std::vector<nvml::Device> handles;  // null: that device cannot be used
    std::vector<NvmlDevice> devices;
};

namespace nvml {

// A raw value that is a whole number below 2^63; else it is not one of ours.
struct Number {
    std::uint64_t value = 0;
    unsigned bits = 64;
    Return result = success;  // unless success, there is no value
};

[[nodiscard]] Number number(const FieldValue& field) noexcept;
[[nodiscard]] Number ask(const Calls& calls, Device device, const NvmlQuery& query) noexcept;

// Loads the library and looks up its entry points; RequestError where the essential ones lack.
[[nodiscard]] Calls load(const std::string& file);
// What the library calls a result, in its own words.
[[nodiscard]] std::string text(const Calls& calls, Return result);

}  // namespace nvml
}  // namespace memgauge
