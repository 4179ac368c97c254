#include "counters/nvml/library.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace memgauge {
namespace {

constexpr unsigned text_bytes = 96;  // as long as the library's longest strings
constexpr unsigned most_devices = 4096;

// `ask` calls the library with room for a text.
template <typename Ask>
std::string string_of(bool known, const Ask& ask) {
    std::array<char, text_bytes> text{};
    if (!known || ask(text.data(), text_bytes) != nvml::success) return {};
    text.back() = '\0';
    return text.data();
}

std::string bus_id(const nvml::Calls& calls, nvml::Device device) {
    nvml::PciInfo info{};
    if (calls.pci_info == nullptr || calls.pci_info(device, &info) != nvml::success) return {};
    info.bus_id[sizeof info.bus_id - 1] = '\0';
    return info.bus_id;
}

bool partitioned(const nvml::Calls& calls, nvml::Device device) {
    unsigned current = 0;
    unsigned pending = 0;
    return calls.mig_mode != nullptr &&
           calls.mig_mode(device, &current, &pending) == nvml::success && current != 0;
}

NvmlDevice described(const nvml::Calls& calls, nvml::Device device, unsigned index) {
    NvmlDevice made;
    made.index = index;
    made.name = string_of(calls.name != nullptr, [&](char* into, unsigned bytes) {
        return calls.name(device, into, bytes);
    });
    made.uuid = string_of(calls.uuid != nullptr, [&](char* into, unsigned bytes) {
        return calls.uuid(device, into, bytes);
    });
    made.bus_id = bus_id(calls, device);
    made.partitioned = partitioned(calls, device);
    return made;
}

NvmlDevice unusable(const nvml::Calls& calls, nvml::Return result, unsigned index) {
    NvmlDevice made;
    made.index = index;
    made.error = "nvmlDeviceGetHandleByIndex: " + nvml::text(calls, result);
    return made;
}

void find_devices(const nvml::Calls& calls, std::vector<nvml::Device>& handles,
                  std::vector<NvmlDevice>& devices) {
    unsigned count = 0;
    const nvml::Return counted = calls.device_count(&count);
    if (counted != nvml::success || count > most_devices) {
        throw RequestError("cannot count the NVIDIA GPUs: nvmlDeviceGetCount: " +
                           nvml::text(calls, counted));
    }
    for (unsigned index = 0; index < count; ++index) {
        nvml::Device device = nullptr;
        const nvml::Return result = calls.device_by_index(index, &device);
        const bool usable = result == nvml::success && device != nullptr;
        handles.push_back(usable ? device : nullptr);
        devices.push_back(usable ? described(calls, device, index)
                                 : unusable(calls, result, index));
    }
}

std::string_view call_name(NvmlCall call) {
    switch (call) {
        case NvmlCall::field:
            return "nvmlDeviceGetFieldValues";
        case NvmlCall::power:
            return "nvmlDeviceGetPowerUsage";
        case NvmlCall::energy:
            return "nvmlDeviceGetTotalEnergyConsumption";
        case NvmlCall::clock:
            return "nvmlDeviceGetClockInfo";
        case NvmlCall::memory_used:
            return "nvmlDeviceGetMemoryInfo";
        case NvmlCall::gpu_utilisation:
        case NvmlCall::memory_utilisation:
            return "nvmlDeviceGetUtilizationRates";
        case NvmlCall::temperature:
            return "nvmlDeviceGetTemperature";
    }
    return "unknown call";
}

}  // namespace

NvmlLibrary::NvmlLibrary(const std::string& file) : state_(std::make_unique<State>()) {
    state_->calls = nvml::load(file);
    const nvml::Return started = state_->calls.init();
    if (started != nvml::success) {
        throw RequestError("cannot start the NVIDIA management library: nvmlInit: " +
                           nvml::text(state_->calls, started));
    }
    try {
        state_->driver =
            string_of(state_->calls.driver_version != nullptr, [this](char* into, unsigned bytes) {
                return state_->calls.driver_version(into, bytes);
            });
        find_devices(state_->calls, state_->handles, state_->devices);
    } catch (...) {
        state_->calls.shutdown();
        throw;
    }
}

NvmlLibrary::~NvmlLibrary() {
    state_->calls.shutdown();
}

const std::string& NvmlLibrary::driver() const noexcept {
    return state_->driver;
}

const std::vector<NvmlDevice>& NvmlLibrary::devices() const noexcept {
    return state_->devices;
}

NvmlAnswer NvmlLibrary::ask(const NvmlQuery& query) const {
    NvmlAnswer answer;
    if (query.device >= state_->handles.size() || state_->handles[query.device] == nullptr) {
        answer.code = nvml::function_not_found;
        answer.error = "no usable NVIDIA GPU " + std::to_string(query.device);
        return answer;
    }
    const auto begin = std::chrono::steady_clock::now();
    const nvml::Number got = nvml::ask(state_->calls, state_->handles[query.device], query);
    const auto end = std::chrono::steady_clock::now();
    answer.took_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count();
    answer.bits = got.bits;
    answer.code = got.result;
    if (got.result == nvml::success) {
        answer.value = got.value;
    } else {
        answer.error =
            std::string(call_name(query.call)) + ": " + nvml::text(state_->calls, got.result);
    }
    return answer;
}

}  // namespace memgauge
