#include "gpu/driver/cuda_library.hpp"

#include <array>
#include <string>

#include "gpu/driver/library.hpp"
#include "memgauge/error.hpp"

namespace memgauge::cuda {
namespace {

bool find_devices(void* library, Calls& calls) {
    find(library, "cuDeviceGetUuid_v2", calls.device_uuid);
    return find(library, "cuInit", calls.init) &&
           find(library, "cuDriverGetVersion", calls.driver_version) &&
           find(library, "cuGetErrorName", calls.error_name) &&
           find(library, "cuGetErrorString", calls.error_string) &&
           find(library, "cuDeviceGetCount", calls.device_count) &&
           find(library, "cuDeviceGet", calls.device) &&
           find(library, "cuDeviceGetName", calls.device_name) &&
           find(library, "cuDeviceGetPCIBusId", calls.device_bus_id) &&
           find(library, "cuDeviceTotalMem_v2", calls.device_memory) &&
           find(library, "cuDeviceGetAttribute", calls.device_attribute) &&
           find(library, "cuDeviceCanAccessPeer", calls.can_access_peer);
}

bool find_contexts(void* library, Calls& calls) {
    return find(library, "cuDevicePrimaryCtxRetain", calls.context_retain) &&
           find(library, "cuDevicePrimaryCtxRelease_v2", calls.context_release) &&
           find(library, "cuCtxSetCurrent", calls.context_set) &&
           find(library, "cuCtxGetCurrent", calls.context_get) &&
           find(library, "cuCtxSynchronize", calls.context_synchronize) &&
           find(library, "cuCtxEnablePeerAccess", calls.enable_peer_access);
}

bool find_memory(void* library, Calls& calls) {
    return find(library, "cuMemGetInfo_v2", calls.memory_info) &&
           find(library, "cuMemAlloc_v2", calls.allocate) &&
           find(library, "cuMemFree_v2", calls.free) &&
           find(library, "cuMemHostAlloc", calls.host_allocate) &&
           find(library, "cuMemFreeHost", calls.host_free) &&
           find(library, "cuMemHostRegister_v2", calls.host_register) &&
           find(library, "cuMemHostUnregister", calls.host_unregister) &&
           find(library, "cuMemcpyDtoH_v2", calls.copy_to_host) &&
           find(library, "cuMemcpyHtoDAsync_v2", calls.copy_to_device_async) &&
           find(library, "cuMemcpyDtoHAsync_v2", calls.copy_to_host_async) &&
           find(library, "cuMemcpyPeerAsync", calls.copy_to_peer_async);
}

// Of event times the second version, of CUDA 12.8, only says more of what went wrong.
bool find_queues(void* library, Calls& calls) {
    return find(library, "cuStreamCreate", calls.stream_create) &&
           find(library, "cuStreamDestroy_v2", calls.stream_destroy) &&
           find(library, "cuStreamSynchronize", calls.stream_synchronize) &&
           find(library, "cuStreamQuery", calls.stream_query) &&
           find(library, "cuStreamWaitEvent", calls.stream_wait_event) &&
           find(library, "cuEventCreate", calls.event_create) &&
           find(library, "cuEventDestroy_v2", calls.event_destroy) &&
           find(library, "cuEventRecord", calls.event_record) &&
           find(library, "cuEventQuery", calls.event_query) &&
           find(library, "cuEventSynchronize", calls.event_synchronize) &&
           (find(library, "cuEventElapsedTime_v2", calls.event_elapsed_ms) ||
            find(library, "cuEventElapsedTime", calls.event_elapsed_ms));
}

bool find_kernels(void* library, Calls& calls) {
    find(library, "cuFuncLoad", calls.function_load);
    return find(library, "cuModuleLoadData", calls.module_load) &&
           find(library, "cuModuleUnload", calls.module_unload) &&
           find(library, "cuModuleGetFunction", calls.module_function) &&
           find(library, "cuFuncGetAttribute", calls.function_attribute) &&
           find(library, "cuLaunchKernel", calls.launch);
}

// What a user can do about a result, and whether the request or the machine failed.
struct Advice {
    Result result;
    bool request;
    const char* next;
};

constexpr const char* lost =
    "the process cannot use this GPU any more; run again, and report it if it comes again";

constexpr std::array advices{
    Advice{out_of_memory, true, "ask for smaller arrays or stop what else uses the GPU"},
    Advice{stub_library, true,
           "this is the toolkit's stub, not the driver; install the NVIDIA driver, or take the "
           "stubs out of LD_LIBRARY_PATH"},
    Advice{device_unavailable, true,
           "another process has it in exclusive mode, or it is in prohibited mode; wait for that "
           "process, or set it to default: nvidia-smi -c DEFAULT"},
    Advice{no_device, true,
           "the driver shows no GPU; see nvidia-smi, and CUDA_VISIBLE_DEVICES if it is set"},
    Advice{invalid_device, true, "see nvidia-smi, and CUDA_VISIBLE_DEVICES if it is set"},
    Advice{device_not_licensed, true, "a virtual GPU needs a licence; ask who runs this machine"},
    Advice{invalid_image, true, "install the NVRTC of the CUDA version that the driver runs"},
    Advice{no_binary_for_gpu, true, "install the NVRTC of the CUDA version that the driver runs"},
    Advice{ecc_uncorrectable, false,
           "the memory lost data; see nvidia-smi -q -d ECC, and reset or replace the GPU"},
    Advice{invalid_ptx, true, "install the NVRTC of the CUDA version that the driver runs"},
    Advice{nvlink_uncorrectable, false, "see nvidia-smi nvlink -e"},
    Advice{jit_compiler_not_found, true,
           "install the driver's libnvidia-ptxjitcompiler, or an NVRTC that knows this GPU"},
    Advice{unsupported_ptx_version, true,
           "the driver is older than the compiler; update it, or install an NVRTC of its version"},
    Advice{jit_compilation_disabled, true,
           "install an NVRTC that knows this GPU, or unset CUDA_DISABLE_PTX_JIT"},
    Advice{contained, false, "the memory lost data; see nvidia-smi -q -d ECC, and run again"},
    Advice{illegal_address, false, lost},
    Advice{launch_timeout, false,
           "a GPU that drives a display ends kernels that take seconds; ask for less at once"},
    Advice{hardware_stack_error, false, lost},
    Advice{illegal_instruction, false, lost},
    Advice{misaligned_address, false, lost},
    Advice{invalid_address_space, false, lost},
    Advice{invalid_pc, false, lost},
    Advice{launch_failed, false, lost},
    Advice{not_permitted, true, "ask who runs this machine for the right to do it"},
    Advice{not_supported, true, "this GPU or driver cannot do it"},
    Advice{system_not_ready, true,
           "NVSwitch machines need their fabric manager: systemctl start nvidia-fabricmanager"},
    Advice{system_driver_mismatch, true,
           "the driver's library and its kernel module differ in version; restart the machine"},
    Advice{compat_not_supported_on_device, true,
           "the forward-compatible libcuda does not serve this GPU; take it out of "
           "LD_LIBRARY_PATH"},
    Advice{mps_client_terminated, false, "another client of the MPS server failed; run again"},
    Advice{unknown, false,
           "see whether nvidia-smi works and /dev/nvidia-uvm exists (nvidia-modprobe -u -c 0), and "
           "what dmesg says of NVRM"},
};

const Advice* advice_on(Result result) noexcept {
    for (const Advice& advice : advices) {
        if (advice.result == result) return &advice;
    }
    return nullptr;
}

const char* reported(Result (*ask)(Result, const char**), Result result) {
    const char* words = nullptr;
    return ask != nullptr && ask(result, &words) == success ? words : nullptr;
}

}  // namespace

Calls load(const std::string& file) {
    void* const library = gpu::loaded(file, "cannot load the CUDA driver",
                                      "install the NVIDIA driver (nvidia-smi shows whether it "
                                      "works), or run where there is a GPU");
    Calls calls;
    if (!find_devices(library, calls) || !find_contexts(library, calls) ||
        !find_memory(library, calls) || !find_queues(library, calls) ||
        !find_kernels(library, calls)) {
        throw RequestError(file +
                           ": not the CUDA driver's library, or one older than CUDA 11; "
                           "install a newer NVIDIA driver");
    }
    return calls;
}

std::string text(const Calls& calls, Result result) {
    const char* const words = reported(calls.error_string, result);
    const char* const name = reported(calls.error_name, result);
    if (words == nullptr) return "CUDA error " + std::to_string(result);
    return name == nullptr ? words : std::string(words) + " (" + name + ")";
}

void fail(const Calls& calls, Result result, const std::string& call, const std::string& object) {
    const Advice* const advice = advice_on(result);
    std::string message = object.empty() ? "" : object + ": ";
    message += call + ": " + text(calls, result);
    if (advice != nullptr) message += std::string("; ") + advice->next;
    if (advice != nullptr && advice->request) throw RequestError(message);
    throw SystemError(message);
}

}  // namespace memgauge::cuda
