// The driver's start, devices, contexts and error texts.

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "knobs.hpp"
#include "stream.hpp"

namespace {

using namespace stand_in;

struct Text {
    int code;
    const char* name;
    const char* words;
};

// The names are the interface's; the words are ours.
constexpr Text texts[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "device is busy or unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for the device"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "memory is already registered"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "memory has not been registered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "unsupported display driver and CUDA driver"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const Text* text_of(int code) {
    for (const Text& each : texts) {
        if (each.code == code) return &each;
    }
    return nullptr;
}

int own(const char* name, int ordinal, std::uint64_t otherwise) {
    const std::uint64_t all = knob_number(name, otherwise);
    return static_cast<int>(knob_number(std::string(name) + "_" + std::to_string(ordinal), all));
}

// "9.0", two digits of it.
int compute(int ordinal, std::size_t part) {
    const std::string told = knob("compute_" + std::to_string(ordinal), knob("compute", "9.0"));
    const auto dot = told.find('.');
    return std::atoi(part == 0 ? told.c_str() : told.c_str() + dot + 1);
}

int attribute_of(int attribute, int device, int* into) {
    switch (attribute) {
        case attribute_max_threads_per_block:
            return *into = 1024, 0;
        case attribute_max_shared_memory_per_block:
            return *into = 48 << 10, 0;
        case attribute_warp_size:
            return *into = 32, 0;
        case attribute_clock_rate:
            return *into = own("clock_khz", device, 1'000'000), 0;
        case attribute_multiprocessor_count:
            return *into = own("multiprocessors", device, 4), 0;
        case attribute_integrated:
            return *into = own("integrated", device, 0), 0;
        case attribute_compute_mode:
            return *into = own("compute_mode", device, 0), 0;
        case attribute_ecc_enabled:
            return *into = own("ecc", device, 1), 0;
        case attribute_memory_clock_rate:
            return *into = own("memory_clock_khz", device, 1'000'000), 0;
        case attribute_bus_width:
            return *into = own("bus_bits", device, 4096), 0;
        case attribute_l2_bytes:
            return *into = own("l2_bytes", device, 1U << 20U), 0;
        case attribute_max_threads_per_multiprocessor:
            return *into = 2048, 0;
        case attribute_copy_engines:
            return *into = own("copy_engines", device, 2), 0;
        case attribute_can_map_host_memory:
        case attribute_unified_addressing:
            return *into = 1, 0;
        case attribute_pci_bus:
            return *into = 0x3a + device, 0;
        case attribute_pci_device:
        case attribute_pci_domain:
        case attribute_managed_memory:
        case attribute_pageable_memory_access:
        case attribute_max_persisting_l2:
            return *into = 0, 0;
        case attribute_compute_major:
            return *into = compute(device, 0), 0;
        case attribute_compute_minor:
            return *into = compute(device, 1), 0;
        default:
            return cu_invalid_value;
    }
}

}  // namespace

STAND_IN CUresult cuInit(unsigned flags) {
    if (const int code = called(__func__)) return code;
    if (flags != 0) return cu_invalid_value;
    if (device_count() == 0) return cu_no_device;
    start();
    return 0;
}

STAND_IN CUresult cuDriverGetVersion(int* into) {
    if (const int code = called(__func__)) return code;
    *into = static_cast<int>(knob_number("cuda_version", 13000));
    return 0;
}

// The real NVRTC asks a driver of the same process for tables that no document describes.
STAND_IN CUresult cuGetExportTable(const void** into, const CUuuid*) {
    if (const int code = called(__func__)) return code;
    *into = nullptr;
    return cu_not_found;
}

STAND_IN CUresult cuGetErrorName(CUresult code, const char** into) {
    const Text* found = text_of(code);
    *into = found == nullptr ? nullptr : found->name;
    return found == nullptr ? cu_invalid_value : 0;
}

STAND_IN CUresult cuGetErrorString(CUresult code, const char** into) {
    const Text* found = text_of(code);
    *into = found == nullptr ? nullptr : found->words;
    return found == nullptr ? cu_invalid_value : 0;
}

STAND_IN CUresult cuDeviceGetCount(int* into) {
    ENTRY;
    *into = device_count();
    return 0;
}

STAND_IN CUresult cuDeviceGet(CUdevice* into, int ordinal) {
    ENTRY;
    if (device_at(ordinal) == nullptr) return cu_invalid_device;
    *into = ordinal;
    return 0;
}

STAND_IN CUresult cuDeviceGetName(char* into, int bytes, CUdevice device) {
    ENTRY;
    if (device_at(device) == nullptr) return cu_invalid_device;
    std::snprintf(into, static_cast<std::size_t>(bytes), "%s", device_at(device)->name.c_str());
    return 0;
}

STAND_IN CUresult cuDeviceGetUuid_v2(CUuuid* into, CUdevice device) {
    ENTRY;
    if (device_at(device) == nullptr) return cu_invalid_device;
    for (int at = 0; at < 16; ++at) into->bytes[at] = static_cast<char>(16 * device + at);
    return 0;
}

STAND_IN CUresult cuDeviceGetUuid(CUuuid* into, CUdevice device) {
    ENTRY;
    return cuDeviceGetUuid_v2(into, device);
}

STAND_IN CUresult cuDeviceGetPCIBusId(char* into, int bytes, CUdevice device) {
    ENTRY;
    if (device_at(device) == nullptr) return cu_invalid_device;
    std::snprintf(into, static_cast<std::size_t>(bytes), "0000:%02X:00.0", 0x3a + device);
    return 0;
}

STAND_IN CUresult cuDeviceTotalMem_v2(size_t* into, CUdevice device) {
    ENTRY;
    if (device_at(device) == nullptr) return cu_invalid_device;
    *into = device_at(device)->memory_bytes;
    return 0;
}

STAND_IN CUresult cuDeviceGetAttribute(int* into, int attribute, CUdevice device) {
    ENTRY;
    if (device_at(device) == nullptr) return cu_invalid_device;
    return attribute_of(attribute, device, into);
}

STAND_IN CUresult cuDeviceCanAccessPeer(int* into, CUdevice device, CUdevice peer) {
    ENTRY;
    if (device_at(device) == nullptr || device_at(peer) == nullptr) return cu_invalid_device;
    *into = device != peer && knob_number("peers", 1) != 0 ? 1 : 0;
    return 0;
}

STAND_IN CUresult cuDevicePrimaryCtxRetain(CUcontext* into, CUdevice device) {
    ENTRY;
    if (device_at(device) == nullptr) return cu_invalid_device;
    CUctx_st& context = device_at(device)->primary;
    ++context.retained;
    *into = &context;
    return 0;
}

STAND_IN CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    ENTRY;
    if (device_at(device) == nullptr) return cu_invalid_device;
    CUctx_st& context = device_at(device)->primary;
    if (context.retained == 0) return cu_invalid_context;
    --context.retained;
    return 0;
}

STAND_IN CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
    ENTRY;
    if (device_at(device) == nullptr) return cu_invalid_device;
    *flags = 0;
    *active = device_at(device)->primary.retained > 0 ? 1 : 0;
    return 0;
}

STAND_IN CUresult cuCtxSetCurrent(CUcontext context) {
    if (const int code = called(__func__)) return code;
    if (context != nullptr && context->retained == 0) return cu_invalid_context;
    current() = context;
    return 0;
}

STAND_IN CUresult cuCtxGetCurrent(CUcontext* into) {
    if (const int code = called(__func__)) return code;
    *into = current();
    return 0;
}

STAND_IN CUresult cuCtxGetDevice(CUdevice* into) {
    ENTRY;
    if (current() == nullptr) return cu_invalid_context;
    *into = current()->device;
    return 0;
}

STAND_IN CUresult cuCtxSynchronize() {
    ENTRY;
    Device* device = current_device();
    if (device == nullptr) return cu_invalid_context;
    drain(*device, false);
    return device->primary.sticky;
}

STAND_IN CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    ENTRY;
    Device* device = current_device();
    if (device == nullptr || peer == nullptr) return cu_invalid_context;
    if (flags != 0) return cu_invalid_value;
    if (peer->device == device->ordinal) return cu_invalid_device;
    if (knob_number("peers", 1) == 0) return cu_peer_access_unsupported;
    const std::lock_guard turn(device->turn);
    auto enabled = device->peers_enabled[static_cast<std::size_t>(peer->device)];
    if (enabled) return cu_peer_access_already_enabled;
    device->peers_enabled[static_cast<std::size_t>(peer->device)] = true;
    return 0;
}

STAND_IN CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    ENTRY;
    Device* device = current_device();
    if (device == nullptr || peer == nullptr) return cu_invalid_context;
    const std::lock_guard turn(device->turn);
    if (!device->peers_enabled[static_cast<std::size_t>(peer->device)]) {
        return cu_peer_access_not_enabled;
    }
    device->peers_enabled[static_cast<std::size_t>(peer->device)] = false;
    return 0;
}
