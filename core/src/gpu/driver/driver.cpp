#include "gpu/driver/driver.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/driver/cuda_library.hpp"

namespace memgauge {
namespace gpu {
namespace {

using cuda::Attribute;

constexpr int text_bytes = 256;

std::optional<int> attribute(const cuda::Calls& calls, cuda::DeviceHandle device, Attribute which) {
    int value = 0;
    if (calls.device_attribute(&value, which, device) != cuda::success) return std::nullopt;
    return value;
}

// Of sizes and clocks zero is what the driver says where it does not know.
std::optional<int> positive(const cuda::Calls& calls, cuda::DeviceHandle device, Attribute which) {
    const std::optional<int> value = attribute(calls, device, which);
    return value && *value > 0 ? value : std::nullopt;
}

std::string bus_id(const cuda::Calls& calls, cuda::DeviceHandle device) {
    std::array<char, text_bytes> text{};
    if (calls.device_bus_id(text.data(), text_bytes, device) != cuda::success) return {};
    text.back() = '\0';
    std::string id = text.data();
    std::ranges::transform(id, id.begin(), [](unsigned char letter) {
        return static_cast<char>(std::tolower(letter));
    });
    return id;
}

std::string name(const cuda::Calls& calls, cuda::DeviceHandle device) {
    std::array<char, text_bytes> text{};
    cuda::check(calls, calls.device_name(text.data(), text_bytes, device), "cuDeviceGetName", "");
    text.back() = '\0';
    return text.data();
}

void describe(const cuda::Calls& calls, cuda::DeviceHandle device, GpuFacts& facts) {
    facts.name = name(calls, device);
    facts.mig = facts.name.find(" MIG ") != std::string::npos;
    cuda::Uuid uuid{};
    if (calls.device_uuid != nullptr && calls.device_uuid(&uuid, device) == cuda::success) {
        facts.uuid = uuid_text(uuid, facts.mig);
    }
    facts.bus_id = bus_id(calls, device);
    cuda::check(calls, calls.device_memory(&facts.memory_bytes, device), "cuDeviceTotalMem", "");
    facts.compute_major = attribute(calls, device, Attribute::compute_major).value_or(0);
    facts.compute_minor = attribute(calls, device, Attribute::compute_minor).value_or(0);
    facts.multiprocessors = attribute(calls, device, Attribute::multiprocessors).value_or(0);
    const std::optional<int> l2 = positive(calls, device, Attribute::l2_bytes);
    if (l2) facts.l2_bytes = static_cast<std::size_t>(*l2);
    facts.memory_clock_khz = positive(calls, device, Attribute::memory_clock_rate_khz);
    facts.bus_bits = positive(calls, device, Attribute::memory_bus_bits);
    facts.clock_khz = positive(calls, device, Attribute::clock_rate_khz);
    const std::optional<int> ecc = attribute(calls, device, Attribute::ecc_enabled);
    if (ecc) facts.ecc = *ecc != 0;
    facts.integrated = attribute(calls, device, Attribute::integrated).value_or(0) != 0;
    facts.copy_engines = attribute(calls, device, Attribute::copy_engines).value_or(0);
    if (attribute(calls, device, Attribute::compute_mode) == cuda::compute_mode_prohibited) {
        facts.error = "it is in prohibited compute mode; nvidia-smi -c DEFAULT lets it be used";
    } else if (facts.compute_major == 0 || facts.multiprocessors == 0) {
        facts.error = "the driver does not report its compute capability and multiprocessors";
    }
}

GpuFacts described(const cuda::Calls& calls, int index, cuda::DeviceHandle& device) {
    GpuFacts facts;
    facts.index = index;
    try {
        cuda::check(calls, calls.device(&device, index), "cuDeviceGet", "");
        describe(calls, device, facts);
    } catch (const Error& error) {
        facts.error = error.what();
    }
    return facts;
}

}  // namespace

std::string uuid_text(const cuda::Uuid& uuid, bool mig) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text = mig ? "MIG" : "GPU";
    for (std::size_t at = 0; at < sizeof uuid.bytes; ++at) {
        if (at == 0 || at == 4 || at == 6 || at == 8 || at == 10) text += '-';
        text += digits[uuid.bytes[at] >> 4U];
        text += digits[uuid.bytes[at] & 15U];
    }
    return text;
}

std::string Driver::version_text() const {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Driver started(const cuda::Calls& calls) {
    Driver driver{.calls = calls, .version = 0, .handles = {}, .devices = {}};
    cuda::check(calls, calls.init(0), "cannot start the CUDA driver: cuInit", "");
    cuda::check(calls, calls.driver_version(&driver.version), "cuDriverGetVersion", "");
    int count = 0;
    cuda::check(calls, calls.device_count(&count), "cuDeviceGetCount", "");
    if (count <= 0) {
        cuda::fail(calls, cuda::no_device, "cuDeviceGetCount", "");
    }
    for (int index = 0; index < count; ++index) {
        driver.devices.push_back(described(calls, index, driver.handles.emplace_back(0)));
    }
    return driver;
}

}  // namespace gpu

std::string GpuFacts::compute() const {
    return std::to_string(compute_major) + "." + std::to_string(compute_minor);
}

GpuDriver::GpuDriver(const std::string& file)
    : driver_(std::make_shared<const gpu::Driver>(gpu::started(cuda::load(file)))) {}

GpuDriver::~GpuDriver() = default;

std::string GpuDriver::version() const {
    return driver_->version_text();
}

const std::vector<GpuFacts>& GpuDriver::devices() const noexcept {
    return driver_->devices;
}

}  // namespace memgauge
