#pragma once
// The loaded library: its entry points, the driver beside it, and what its refusals mean.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "counters/cupti/abi.hpp"
#include "memgauge/counters/cupti.hpp"

namespace memgauge {

struct CuptiLibrary::State {
    std::string file;
    std::string driver_file;
    cupti::Calls calls;
    std::uint32_t version = 0;

    std::mutex starting;
    cuda::Calls driver;  // complete once `devices` is there
    std::optional<std::vector<CuptiDevice>> devices;
};

namespace cupti {

// Loads the library, after the two it needs that lie beside it: it would take any other version of
// them that the dynamic loader finds first.
[[nodiscard]] Calls load(const std::string& file);
// Starts both, and asks for each device what stands against counting on it.
[[nodiscard]] std::vector<CuptiDevice> find_devices(const CuptiLibrary::State& state);

// "cuptiPmSamplingEnable: CUPTI_ERROR_HARDWARE_BUSY; another ...": call, result, next step.
[[nodiscard]] std::string refusal(const Calls& calls, const char* call, Result result);
// Throws that, after `where`, unless it is success.
void require(const Calls& calls, const char* call, Result result, const std::string& where);

// The last failure of a reading, kept without allocating.
struct Failure {
    const char* call = nullptr;
    Result result = success;

    // Whether the result is success; else it is kept.
    bool passed(const char* name, Result given) noexcept {
        if (given == success) return true;
        call = name;
        result = given;
        return false;
    }
    [[nodiscard]] std::string text(const Calls& calls) const {
        return call == nullptr ? std::string{} : refusal(calls, call, result);
    }
};

// A device's chip. RequestError: no such device, or what it says stands against that way.
[[nodiscard]] const CuptiDevice& usable(const CuptiLibrary& library, unsigned device, CuptiWay way);
[[nodiscard]] std::string gpu_name(unsigned device);  // "GPU 0", as errors begin

}  // namespace cupti
}  // namespace memgauge
