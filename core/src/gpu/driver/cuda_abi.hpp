#pragma once
// The part of the CUDA driver's binary interface that is used: types, constants and entry points as
// the CUDA Driver API reference documents them, from CUDA 11 to 13. All are the same on every
// architecture the driver exists for (64 bits, little endian). Where an entry point has a version
// in its name, that is the one looked up.

#include <cstddef>

namespace memgauge::cuda {

using Result = int;                        // CUresult
using DeviceHandle = int;                  // CUdevice
using Context = struct ContextTag*;        // CUcontext
using Module = struct ModuleTag*;          // CUmodule
using Function = struct FunctionTag*;      // CUfunction
using Stream = struct StreamTag*;          // CUstream
using Event = struct EventTag*;            // CUevent
using DevicePointer = unsigned long long;  // CUdeviceptr

struct Uuid {  // CUuuid
    unsigned char bytes[16];
};

inline constexpr Result success = 0;
inline constexpr Result invalid_value = 1;
inline constexpr Result out_of_memory = 2;
inline constexpr Result stub_library = 34;
inline constexpr Result device_unavailable = 46;
inline constexpr Result no_device = 100;
inline constexpr Result invalid_device = 101;
inline constexpr Result device_not_licensed = 102;
inline constexpr Result invalid_image = 200;
inline constexpr Result no_binary_for_gpu = 209;
inline constexpr Result ecc_uncorrectable = 214;
inline constexpr Result invalid_ptx = 218;
inline constexpr Result nvlink_uncorrectable = 220;
inline constexpr Result jit_compiler_not_found = 221;
inline constexpr Result unsupported_ptx_version = 222;
inline constexpr Result jit_compilation_disabled = 223;
inline constexpr Result contained = 226;
inline constexpr Result not_ready = 600;
inline constexpr Result illegal_address = 700;
inline constexpr Result launch_out_of_resources = 701;
inline constexpr Result launch_timeout = 702;
inline constexpr Result peer_access_already_enabled = 704;
inline constexpr Result hardware_stack_error = 714;
inline constexpr Result illegal_instruction = 715;
inline constexpr Result misaligned_address = 716;
inline constexpr Result invalid_address_space = 717;
inline constexpr Result invalid_pc = 718;
inline constexpr Result launch_failed = 719;
inline constexpr Result not_permitted = 800;
inline constexpr Result not_supported = 801;
inline constexpr Result system_not_ready = 802;
inline constexpr Result system_driver_mismatch = 803;
inline constexpr Result compat_not_supported_on_device = 804;
inline constexpr Result mps_client_terminated = 810;
inline constexpr Result unknown = 999;

enum class Attribute : int {  // CUdevice_attribute
    clock_rate_khz = 13,
    multiprocessors = 16,
    integrated = 18,
    compute_mode = 20,
    ecc_enabled = 32,
    memory_clock_rate_khz = 36,
    memory_bus_bits = 37,
    l2_bytes = 38,
    copy_engines = 40,
    compute_major = 75,
    compute_minor = 76,
};
inline constexpr int compute_mode_prohibited = 2;         // CU_COMPUTEMODE_PROHIBITED
inline constexpr int compute_mode_exclusive_process = 3;  // CU_COMPUTEMODE_EXCLUSIVE_PROCESS

inline constexpr int function_max_threads_per_block = 0;  // CU_FUNC_ATTRIBUTE_...
inline constexpr unsigned stream_non_blocking = 1;        // CU_STREAM_NON_BLOCKING
inline constexpr unsigned event_default = 0;              // CU_EVENT_DEFAULT: with times
inline constexpr unsigned host_alloc_portable = 1;        // CU_MEMHOSTALLOC_PORTABLE
inline constexpr unsigned host_register_portable = 1;     // CU_MEMHOSTREGISTER_PORTABLE

// Entry points. Those marked optional are null where the driver lacks them.
struct Calls {
    Result (*init)(unsigned flags) = nullptr;
    Result (*driver_version)(int*) = nullptr;
    Result (*error_name)(Result, const char**) = nullptr;
    Result (*error_string)(Result, const char**) = nullptr;

    Result (*device_count)(int*) = nullptr;
    Result (*device)(DeviceHandle*, int ordinal) = nullptr;
    Result (*device_name)(char*, int bytes, DeviceHandle) = nullptr;
    Result (*device_uuid)(Uuid*, DeviceHandle) = nullptr;  // optional
    Result (*device_bus_id)(char*, int bytes, DeviceHandle) = nullptr;
    Result (*device_memory)(std::size_t*, DeviceHandle) = nullptr;
    Result (*device_attribute)(int*, Attribute, DeviceHandle) = nullptr;
    Result (*can_access_peer)(int*, DeviceHandle, DeviceHandle peer) = nullptr;

    Result (*context_retain)(Context*, DeviceHandle) = nullptr;  // the primary one
    Result (*context_release)(DeviceHandle) = nullptr;
    Result (*context_set)(Context) = nullptr;
    Result (*context_get)(Context*) = nullptr;
    Result (*context_synchronize)() = nullptr;
    Result (*enable_peer_access)(Context peer, unsigned flags) = nullptr;

    Result (*memory_info)(std::size_t* free, std::size_t* total) = nullptr;
    Result (*allocate)(DevicePointer*, std::size_t) = nullptr;
    Result (*free)(DevicePointer) = nullptr;
    Result (*host_allocate)(void**, std::size_t, unsigned flags) = nullptr;
    Result (*host_free)(void*) = nullptr;
    Result (*host_register)(void*, std::size_t, unsigned flags) = nullptr;
    Result (*host_unregister)(void*) = nullptr;
    Result (*copy_to_host)(void*, DevicePointer, std::size_t) = nullptr;
    Result (*copy_to_device_async)(DevicePointer, const void*, std::size_t, Stream) = nullptr;
    Result (*copy_to_host_async)(void*, DevicePointer, std::size_t, Stream) = nullptr;
    Result (*copy_to_peer_async)(DevicePointer to, Context, DevicePointer from, Context,
                                 std::size_t, Stream) = nullptr;

    Result (*stream_create)(Stream*, unsigned flags) = nullptr;
    Result (*stream_destroy)(Stream) = nullptr;
    Result (*stream_synchronize)(Stream) = nullptr;
    Result (*stream_query)(Stream) = nullptr;
    Result (*stream_wait_event)(Stream, Event, unsigned flags) = nullptr;
    Result (*event_create)(Event*, unsigned flags) = nullptr;
    Result (*event_destroy)(Event) = nullptr;
    Result (*event_record)(Event, Stream) = nullptr;
    Result (*event_query)(Event) = nullptr;
    Result (*event_synchronize)(Event) = nullptr;
    Result (*event_elapsed_ms)(float*, Event begin, Event end) = nullptr;

    Result (*module_load)(Module*, const void* image) = nullptr;
    Result (*module_unload)(Module) = nullptr;
    Result (*module_function)(Function*, Module, const char* name) = nullptr;
    Result (*function_load)(Function) = nullptr;  // optional: since CUDA 12.4
    Result (*function_attribute)(int*, int attribute, Function) = nullptr;
    Result (*launch)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                     unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream,
                     void** parameters, void** extra) = nullptr;
};

}  // namespace memgauge::cuda
