#include <string>
#include <utility>
#include <vector>

#include "counters/cupti/library.hpp"
#include "gpu/driver/cuda_library.hpp"

namespace memgauge::cupti {
namespace {

void start(const CuptiLibrary::State& state) {
    cuda::check(state.driver, state.driver.init(0), "cuInit", "");
    ProfilerInitialize asked;
    require(state.calls, "cuptiProfilerInitialize", state.calls.initialize(&asked), state.file);
}

// What stands against counting, in the library's own categories.
std::string hindrance(const DeviceSupported& reported) {
    const std::pair<int, const char*> hindrances[] = {
        {reported.architecture, "its architecture is older than what CUPTI can count on"},
        {reported.sli, "SLI is on"},
        {reported.virtual_gpu, "the virtual GPU's counters are not enabled: ask who runs the host"},
        {reported.confidential_computing, "confidential computing is on, which hides all counters"},
        {reported.mining_processor, "mining processors have no counters"},
        {reported.wsl, "the Windows subsystem for Linux has no counters: run on Linux itself"},
    };
    std::string all;
    for (const auto& [level, why] : hindrances) {
        if (level == support_unknown || level == support_full || level == support_limited) continue;
        all += (all.empty() ? "" : "; ") + std::string(why);
    }
    return all.empty() ? "it says so without a reason, as for a part of a GPU (MIG)" : all;
}

// Empty: nothing stands against it.
std::string unsupported(const CuptiLibrary::State& state, cuda::DeviceHandle device, int api) {
    DeviceSupported asked;
    asked.device = device;
    asked.api = api;
    const Result result = state.calls.device_supported(&asked);
    if (result != success) return refusal(state.calls, "cuptiProfilerDeviceSupported", result);
    if (asked.supported == support_full || asked.supported == support_limited) return {};
    return "CUPTI cannot count on it: " + hindrance(asked);
}

// Asking how large the image of what is available would be needs the right to count, and nothing
// else: no context, no counter.
std::string sampling_refused(const CuptiLibrary::State& state, unsigned index) {
    SampleAvailability asked;
    asked.device = index;
    const Result result = state.calls.sample_availability(&asked);
    return result == success
               ? std::string{}
               : refusal(state.calls, "cuptiPmSamplingGetCounterAvailability", result);
}

CuptiDevice described(const CuptiLibrary::State& state, unsigned index) {
    CuptiDevice made;
    made.index = index;
    cuda::DeviceHandle handle = 0;
    if (state.driver.device(&handle, static_cast<int>(index)) != cuda::success) {
        made.range_error = made.sampling_error = "cuDeviceGet: the driver does not give it";
        return made;
    }
    ChipName named;
    named.device = index;
    const Result result = state.calls.chip_name(&named);
    if (result != success || named.chip == nullptr) {
        made.range_error = refusal(state.calls, "cuptiDeviceGetChipName", result);
        made.sampling_error = made.range_error;
        return made;
    }
    made.chip = named.chip;
    made.range_error = unsupported(state, handle, api_range_profiling);
    made.sampling_error = unsupported(state, handle, api_pm_sampling);
    if (made.sampling_error.empty()) made.sampling_error = sampling_refused(state, index);
    return made;
}

}  // namespace

std::vector<CuptiDevice> find_devices(const CuptiLibrary::State& state) {
    start(state);
    int count = 0;
    if (state.driver.device_count(&count) != cuda::success || count < 0) count = 0;
    std::vector<CuptiDevice> found;
    found.reserve(static_cast<std::size_t>(count));
    for (int index = 0; index < count; ++index) {
        found.push_back(described(state, static_cast<unsigned>(index)));
    }
    return found;
}

}  // namespace memgauge::cupti
