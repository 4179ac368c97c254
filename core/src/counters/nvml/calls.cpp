#include <dlfcn.h>

#include <cstdint>
#include <string>

#include "counters/nvml/library.hpp"
#include "gpu/driver/library.hpp"
#include "shared_library.hpp"

namespace memgauge::nvml {
namespace {

constexpr Return unknown_error = 999;

Number whole(std::uint64_t value, unsigned bits = 64) noexcept {
    return {value, bits, value < slot_limit ? success : unknown_error};
}

// `ask` calls the library with a place for the answer.
template <typename Word, typename Ask>
Number one(bool known, const Ask& ask) noexcept {
    if (!known) return {.result = function_not_found};
    Word value = 0;
    const Return result = ask(&value);
    if (result != success) return {.result = result};
    return whole(value);
}

Number power(const Calls& calls, Device device) noexcept {
    return one<unsigned>(calls.power != nullptr,
                         [&](unsigned* into) { return calls.power(device, into); });
}

Number energy(const Calls& calls, Device device) noexcept {
    return one<unsigned long long>(calls.energy != nullptr, [&](unsigned long long* into) {
        return calls.energy(device, into);
    });
}

Number clock(const Calls& calls, Device device, int type) noexcept {
    return one<unsigned>(calls.clock != nullptr,
                         [&](unsigned* into) { return calls.clock(device, type, into); });
}

Number temperature(const Calls& calls, Device device, int sensor) noexcept {
    return one<unsigned>(calls.temperature != nullptr,
                         [&](unsigned* into) { return calls.temperature(device, sensor, into); });
}

Number utilisation(const Calls& calls, Device device, unsigned Utilization::* part) noexcept {
    if (calls.utilization == nullptr) return {.result = function_not_found};
    Utilization rates{};
    const Return result = calls.utilization(device, &rates);
    if (result != success) return {.result = result};
    return whole(rates.*part);
}

Number memory_used(const Calls& calls, Device device) noexcept {
    if (calls.memory == nullptr) return {.result = function_not_found};
    Memory memory{};
    const Return result = calls.memory(device, &memory);
    if (result != success) return {.result = result};
    return whole(memory.used);
}

Number field(const Calls& calls, Device device, const NvmlQuery& query) noexcept {
    if (calls.fields == nullptr) return {.result = function_not_found};
    FieldValue asked{};
    asked.field = query.argument;
    asked.scope = query.scope;
    const Return result = calls.fields(device, 1, &asked);
    if (result != success) return {.result = result};
    return number(asked);
}

}  // namespace

Calls load(const std::string& file) {
    std::string why;
    void* const library = gpu::opened(file, why);
    if (library == nullptr) {
        throw RequestError("cannot load the NVIDIA management library: " + why);
    }
    Calls calls;
    find(library, "nvmlInit_v2", calls.init);
    find(library, "nvmlShutdown", calls.shutdown);
    find(library, "nvmlErrorString", calls.error_string);
    find(library, "nvmlSystemGetDriverVersion", calls.driver_version);
    find(library, "nvmlDeviceGetCount_v2", calls.device_count);
    find(library, "nvmlDeviceGetHandleByIndex_v2", calls.device_by_index);
    find(library, "nvmlDeviceGetName", calls.name);
    find(library, "nvmlDeviceGetUUID", calls.uuid);
    find(library, "nvmlDeviceGetPciInfo_v3", calls.pci_info);
    find(library, "nvmlDeviceGetMigMode", calls.mig_mode);
    find(library, "nvmlDeviceGetPowerUsage", calls.power);
    find(library, "nvmlDeviceGetTotalEnergyConsumption", calls.energy);
    find(library, "nvmlDeviceGetClockInfo", calls.clock);
    find(library, "nvmlDeviceGetMemoryInfo", calls.memory);
    find(library, "nvmlDeviceGetUtilizationRates", calls.utilization);
    find(library, "nvmlDeviceGetTemperature", calls.temperature);
    find(library, "nvmlDeviceGetFieldValues", calls.fields);
    if (calls.init == nullptr || calls.shutdown == nullptr || calls.error_string == nullptr ||
        calls.device_count == nullptr || calls.device_by_index == nullptr) {
        dlclose(library);
        throw RequestError(file + ": not an NVIDIA management library, or one older than 2013");
    }
    return calls;
}

std::string text(const Calls& calls, Return result) {
    const char* words = calls.error_string(result);
    return words == nullptr ? "error " + std::to_string(result) : words;
}

Number number(const FieldValue& field) noexcept {
    if (field.result != success) return {.result = field.result};
    switch (field.type) {
        case ValueType::unsigned_int:
            return whole(field.value.unsigned_int, 32);
        case ValueType::unsigned_long:
            return whole(field.value.unsigned_long);
        case ValueType::unsigned_long_long:
            return whole(field.value.unsigned_long_long);
        case ValueType::signed_long_long:
            return whole(static_cast<std::uint64_t>(field.value.signed_long_long));
        case ValueType::signed_int:
            return whole(static_cast<std::uint64_t>(std::int64_t{field.value.signed_int}));
        case ValueType::unsigned_short:
            return whole(field.value.unsigned_short, 16);
        case ValueType::floating:
            break;
    }
    return {.result = unknown_error};
}

Number ask(const Calls& calls, Device device, const NvmlQuery& query) noexcept {
    const int argument = static_cast<int>(query.argument);
    switch (query.call) {
        case NvmlCall::field:
            return field(calls, device, query);
        case NvmlCall::power:
            return power(calls, device);
        case NvmlCall::energy:
            return energy(calls, device);
        case NvmlCall::clock:
            return clock(calls, device, argument);
        case NvmlCall::memory_used:
            return memory_used(calls, device);
        case NvmlCall::gpu_utilisation:
            return utilisation(calls, device, &Utilization::gpu);
        case NvmlCall::memory_utilisation:
            return utilisation(calls, device, &Utilization::memory);
        case NvmlCall::temperature:
            return temperature(calls, device, argument);
    }
    return {.result = unknown_error};
}

}  // namespace memgauge::nvml
