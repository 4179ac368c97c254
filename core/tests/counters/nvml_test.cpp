// What the NVIDIA management library answers becomes a number, or nothing. The library itself is
// stood in for by functions here; tests/unit/counters/nvml/test_back_end.py loads a whole one.

#include "memgauge/counters/nvml.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "counters/nvml/library.hpp"

using memgauge::NvmlCall;
using memgauge::NvmlLibrary;
using memgauge::RequestError;
namespace nvml = memgauge::nvml;

namespace {

constexpr nvml::Return not_supported = 3;

template <typename Word>
nvml::FieldValue field(nvml::ValueType type, Word nvml::Value::* part, Word value) {
    nvml::FieldValue made{};
    made.type = type;
    made.result = nvml::success;
    made.value.*part = value;
    return made;
}

bool refused(const nvml::FieldValue& value) {
    return nvml::number(value).result != nvml::success;
}

std::string loading(const std::string& file) {
    try {
        const NvmlLibrary library(file);
    } catch (const RequestError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("nvml: whole numbers of every type are read in their width") {
    using nvml::Value;
    using nvml::ValueType;
    const auto narrow = nvml::number(field(ValueType::unsigned_int, &Value::unsigned_int, ~0U));
    CHECK(narrow.value == 0xffffffffU);
    CHECK(narrow.bits == 32);
    const auto wide = nvml::number(
        field(ValueType::unsigned_long_long, &Value::unsigned_long_long, (1ULL << 62U) + 1));
    CHECK(wide.value == (std::uint64_t{1} << 62U) + 1);
    CHECK(wide.bits == 64);
    CHECK(nvml::number(field(ValueType::unsigned_long, &Value::unsigned_long, 7UL)).value == 7);
    CHECK(nvml::number(field(ValueType::signed_long_long, &Value::signed_long_long, 8LL)).value ==
          8);
    CHECK(nvml::number(field(ValueType::signed_int, &Value::signed_int, 9)).value == 9);
    CHECK(nvml::number(field(ValueType::unsigned_short, &Value::unsigned_short,
                             static_cast<unsigned short>(10)))
              .bits == 16);
}

TEST_CASE("nvml: what is no count is no number") {
    using nvml::Value;
    using nvml::ValueType;
    CHECK(refused(field(ValueType::floating, &Value::floating, 1.5)));
    CHECK(refused(field(ValueType::signed_int, &Value::signed_int, -1)));
    CHECK(refused(field(ValueType::signed_long_long, &Value::signed_long_long, -1LL)));
    CHECK(refused(field(ValueType::unsigned_long_long, &Value::unsigned_long_long,
                        std::numeric_limits<unsigned long long>::max())));
    CHECK(refused(field(static_cast<ValueType>(99), &Value::unsigned_int, 1U)));
    auto failed = field(ValueType::unsigned_int, &Value::unsigned_int, 1U);
    failed.result = not_supported;
    CHECK(nvml::number(failed).result == not_supported);
}

TEST_CASE("nvml: each call is asked as the interface wants it") {
    nvml::Calls calls;
    calls.clock = [](nvml::Device, int type, unsigned* into) {
        *into = type == 2 ? 1593 : 0;
        return nvml::success;
    };
    calls.memory = [](nvml::Device, nvml::Memory* into) {
        *into = {.total = 30, .free = 20, .used = 10};
        return nvml::success;
    };
    calls.utilization = [](nvml::Device, nvml::Utilization* into) {
        *into = {.gpu = 80, .memory = 40};
        return nvml::success;
    };
    calls.energy = [](nvml::Device, unsigned long long* into) {
        *into = 12345;
        return not_supported;  // what is written beside a failure does not count
    };
    CHECK(nvml::ask(calls, nullptr, {.call = NvmlCall::clock, .argument = 2}).value == 1593);
    CHECK(nvml::ask(calls, nullptr, {.call = NvmlCall::memory_used}).value == 10);
    CHECK(nvml::ask(calls, nullptr, {.call = NvmlCall::gpu_utilisation}).value == 80);
    CHECK(nvml::ask(calls, nullptr, {.call = NvmlCall::memory_utilisation}).value == 40);
    CHECK(nvml::ask(calls, nullptr, {.call = NvmlCall::energy}).result == not_supported);
    for (const NvmlCall lacking : {NvmlCall::field, NvmlCall::power, NvmlCall::temperature}) {
        CHECK(nvml::ask(calls, nullptr, {.call = lacking}).result == nvml::function_not_found);
    }
}

TEST_CASE("nvml: a library that is not there, or another one, is told") {
    CHECK(loading("/nonexistent/libnvidia-ml.so.1").find("/nonexistent/libnvidia-ml.so.1") !=
          std::string::npos);
    CHECK(loading("libc.so.6").find("libc.so.6: not an NVIDIA management library") == 0);
}
