#pragma once
// A device's primary context, which all of this process shares, kept for as long as this lives.

#include <string>

#include "counters/cupti/library.hpp"
#include "gpu/driver/cuda_library.hpp"

namespace memgauge::cupti {

class PrimaryContext {
public:
    PrimaryContext(const cuda::Calls& driver, unsigned device) : driver_(driver) {
        const std::string place = "cuda:" + std::to_string(device);
        cuda::check(driver_, driver_.device(&device_, static_cast<int>(device)), "cuDeviceGet",
                    place);
        cuda::check(driver_, driver_.context_retain(&context_, device_), "cuDevicePrimaryCtxRetain",
                    place);
    }
    ~PrimaryContext() { driver_.context_release(device_); }
    PrimaryContext(const PrimaryContext&) = delete;
    PrimaryContext& operator=(const PrimaryContext&) = delete;

    [[nodiscard]] cuda::Context get() const noexcept { return context_; }

private:
    const cuda::Calls& driver_;
    cuda::DeviceHandle device_ = 0;
    cuda::Context context_ = nullptr;
};

// Makes a context the calling thread's, and gives back the one it had.
class CurrentContext {
public:
    CurrentContext(const cuda::Calls& driver, cuda::Context context) noexcept : driver_(driver) {
        driver_.context_get(&before_);
        driver_.context_set(context);
    }
    ~CurrentContext() { driver_.context_set(before_); }
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;

private:
    const cuda::Calls& driver_;
    cuda::Context before_ = nullptr;
};

}  // namespace memgauge::cupti
