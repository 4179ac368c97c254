#include "counters/cupti/library.hpp"

#include <dlfcn.h>

#include <memory>
#include <string>
#include <vector>

#include "gpu/driver/cuda_library.hpp"
#include "gpu/driver/library.hpp"

namespace memgauge {
namespace cupti {
namespace {

void load_beside(const std::string& file) {
    const std::size_t slash = file.rfind('/');
    if (slash == std::string::npos) return;
    for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"}) {
        dlopen((file.substr(0, slash + 1) + name).c_str(), RTLD_NOW | RTLD_LOCAL);
    }
}

bool find_host_calls(void* library, Calls& into) {
    return find(library, "cuptiProfilerInitialize", into.initialize) &&
           find(library, "cuptiDeviceGetChipName", into.chip_name) &&
           find(library, "cuptiProfilerDeviceSupported", into.device_supported) &&
           find(library, "cuptiProfilerGetCounterAvailability", into.range_availability) &&
           find(library, "cuptiProfilerHostInitialize", into.host_initialize) &&
           find(library, "cuptiProfilerHostDeinitialize", into.host_deinitialize) &&
           find(library, "cuptiProfilerHostGetSupportedChips", into.chips) &&
           find(library, "cuptiProfilerHostGetBaseMetrics", into.base_metrics) &&
           find(library, "cuptiProfilerHostGetMetricProperties", into.properties) &&
           find(library, "cuptiProfilerHostConfigAddMetrics", into.add_metrics) &&
           find(library, "cuptiProfilerHostGetConfigImageSize", into.config_image_size) &&
           find(library, "cuptiProfilerHostGetConfigImage", into.config_image) &&
           find(library, "cuptiProfilerHostGetNumOfPasses", into.passes) &&
           find(library, "cuptiProfilerHostEvaluateToGpuValues", into.evaluate);
}

bool find_range_calls(void* library, Calls& into) {
    return find(library, "cuptiRangeProfilerEnable", into.range_enable) &&
           find(library, "cuptiRangeProfilerDisable", into.range_disable) &&
           find(library, "cuptiRangeProfilerSetConfig", into.range_config) &&
           find(library, "cuptiRangeProfilerStart", into.range_start) &&
           find(library, "cuptiRangeProfilerStop", into.range_stop) &&
           find(library, "cuptiRangeProfilerPushRange", into.range_push) &&
           find(library, "cuptiRangeProfilerPopRange", into.range_pop) &&
           find(library, "cuptiRangeProfilerDecodeData", into.range_decode) &&
           find(library, "cuptiRangeProfilerGetCounterDataSize", into.range_image_size) &&
           find(library, "cuptiRangeProfilerCounterDataImageInitialize", into.range_image) &&
           find(library, "cuptiRangeProfilerGetCounterDataInfo", into.range_info);
}

bool find_sampling_calls(void* library, Calls& into) {
    return find(library, "cuptiPmSamplingGetCounterAvailability", into.sample_availability) &&
           find(library, "cuptiPmSamplingEnable", into.sample_enable) &&
           find(library, "cuptiPmSamplingDisable", into.sample_disable) &&
           find(library, "cuptiPmSamplingSetConfig", into.sample_config) &&
           find(library, "cuptiPmSamplingStart", into.sample_start) &&
           find(library, "cuptiPmSamplingStop", into.sample_stop) &&
           find(library, "cuptiPmSamplingDecodeData", into.sample_decode) &&
           find(library, "cuptiPmSamplingGetCounterDataSize", into.sample_image_size) &&
           find(library, "cuptiPmSamplingCounterDataImageInitialize", into.sample_image) &&
           find(library, "cuptiPmSamplingGetCounterDataInfo", into.sample_counts) &&
           find(library, "cuptiPmSamplingCounterDataGetSampleInfo", into.sample_info);
}

const char* next_step(Result result) {
    switch (result) {
        case insufficient_privileges:
            return "the driver keeps the GPU's counters for administrators: run as root or with "
                   "CAP_SYS_ADMIN, or have the driver loaded with "
                   "NVreg_RestrictProfilingToAdminUsers=0";
        case hardware_busy:
            return "another profiler holds the GPU's counters (Nsight, DCGM, a second memgauge): "
                   "end it, or pause DCGM with 'dcgmi profile --pause'";
        case invalid_operation:
            return "the GPU's counters are in use already, or in another way: one at a time";
        case virtualized_device:
            return "the virtual GPU's counters are not enabled: ask who runs the host";
        case mig_device:
            return "counters of a part of a GPU (MIG) are not given: switch MIG off";
        case sli_device:
            return "not with SLI: switch it off";
        case wsl_device:
            return "not in the Windows subsystem for Linux: run on Linux itself";
        case invalid_chip_name:
            return "this CUPTI does not know the GPU's chip: install a newer one";
        case not_initialized:
        case not_compatible:
            return "CUPTI and the driver, or CUPTI and the libnvperf libraries beside it, do not "
                   "fit: install the CUPTI of the driver's CUDA version";
        case not_supported:
            return "this GPU, or this version of CUPTI for it, cannot";
        case invalid_device:
            return "no such GPU";
        case out_of_memory:
            return "no memory is left for it";
        case samples_lost:
            return "samples were lost: a reading came too late for the hardware's buffer";
        case several_passes:
            return "takes more than one pass over the same work, which is done once only";
        case no_count:
            return "what came back is no count of bytes";
        default:
            return "where the driver is older than CUPTI, install the CUPTI of its CUDA version";
    }
}

}  // namespace

Calls load(const std::string& file) {
    load_beside(file);
    void* const library =
        gpu::loaded(file, "cannot load CUPTI", "pip install 'memgauge[cuda]' brings it");
    Calls calls;
    if (!find(library, "cuptiGetVersion", calls.version) ||
        !find(library, "cuptiGetResultString", calls.result_string)) {
        dlclose(library);
        throw RequestError(file + ": is not CUPTI");
    }
    if (!find_host_calls(library, calls) || !find_range_calls(library, calls) ||
        !find_sampling_calls(library, calls)) {
        dlclose(library);
        throw RequestError(file +
                           ": is a CUPTI older than that of CUDA 12.6, which can neither "
                           "count ranges nor sample as is wanted; install a newer one");
    }
    return calls;
}

std::string refusal(const Calls& calls, const char* call, Result result) {
    std::string text = std::string(call) + ": ";
    if (result >= 0) {
        const char* name = nullptr;
        const bool named = calls.result_string(result, &name) == success && name != nullptr;
        text += (named ? name : "error " + std::to_string(result)) + "; ";
    }
    return text + next_step(result);
}

void require(const Calls& calls, const char* call, Result result, const std::string& where) {
    if (result != success) throw RequestError(where + ": " + refusal(calls, call, result));
}

std::string gpu_name(unsigned device) {
    return "GPU " + std::to_string(device);
}

const CuptiDevice& usable(const CuptiLibrary& library, unsigned device, CuptiWay way) {
    const std::vector<CuptiDevice>& devices = library.devices();
    if (device >= devices.size()) {
        throw RequestError(gpu_name(device) + ": no such device; the driver shows " +
                           std::to_string(devices.size()));
    }
    const CuptiDevice& found = devices[device];
    const std::string& error = way == CuptiWay::range ? found.range_error : found.sampling_error;
    if (!error.empty()) throw RequestError(gpu_name(device) + ": " + error);
    return found;
}

}  // namespace cupti

CuptiLibrary::CuptiLibrary(const std::string& file, const std::string& driver)
    : state_(std::make_unique<State>()) {
    state_->file = file;
    state_->driver_file = driver;
    state_->calls = cupti::load(file);
    if (state_->calls.version(&state_->version) != cupti::success) state_->version = 0;
}

CuptiLibrary::~CuptiLibrary() = default;

std::uint32_t CuptiLibrary::version() const noexcept {
    return state_->version;
}

std::vector<std::string> CuptiLibrary::chips() const {
    cupti::SupportedChips asked;
    const cupti::Result result = state_->calls.chips(&asked);
    cupti::require(state_->calls, "cuptiProfilerHostGetSupportedChips", result, state_->file);
    return {asked.chips, asked.chips + asked.count};
}

const std::vector<CuptiDevice>& CuptiLibrary::devices() const {
    const std::scoped_lock lock(state_->starting);
    if (!state_->devices) {
        state_->driver = cuda::load(state_->driver_file);
        state_->devices = cupti::find_devices(*state_);
    }
    return *state_->devices;
}

}  // namespace memgauge
