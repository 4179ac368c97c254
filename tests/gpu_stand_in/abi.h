#ifndef GPU_STAND_IN_ABI_H
#define GPU_STAND_IN_ABI_H
/* The types of the CUDA driver's binary interface that the stand-in serves, and its error codes, as
   the CUDA Driver API reference documents them. */

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef void (*CUhostFn)(void*);

typedef struct {
    char bytes[16];
} CUuuid;

enum {
    cu_success = 0,
    cu_invalid_value = 1,
    cu_out_of_memory = 2,
    cu_not_initialized = 3,
    cu_no_device = 100,
    cu_invalid_device = 101,
    cu_invalid_image = 200,
    cu_invalid_context = 201,
    cu_no_binary_for_gpu = 209,
    cu_peer_access_unsupported = 217,
    cu_invalid_handle = 400,
    cu_not_found = 500,
    cu_not_ready = 600,
    cu_illegal_address = 700,
    cu_peer_access_already_enabled = 704,
    cu_peer_access_not_enabled = 705,
    cu_host_memory_already_registered = 712,
    cu_host_memory_not_registered = 713,
    cu_misaligned_address = 716
};

enum { event_disable_timing = 2, event_blocking_sync = 1, stream_non_blocking = 1 };

/* CUdevice_attribute */
enum {
    attribute_max_threads_per_block = 1,
    attribute_max_shared_memory_per_block = 8,
    attribute_warp_size = 10,
    attribute_clock_rate = 13,
    attribute_multiprocessor_count = 16,
    attribute_integrated = 18,
    attribute_can_map_host_memory = 19,
    attribute_compute_mode = 20,
    attribute_ecc_enabled = 32,
    attribute_pci_bus = 33,
    attribute_pci_device = 34,
    attribute_memory_clock_rate = 36,
    attribute_bus_width = 37,
    attribute_l2_bytes = 38,
    attribute_max_threads_per_multiprocessor = 39,
    attribute_copy_engines = 40,
    attribute_unified_addressing = 41,
    attribute_pci_domain = 50,
    attribute_compute_major = 75,
    attribute_compute_minor = 76,
    attribute_managed_memory = 83,
    attribute_pageable_memory_access = 88,
    attribute_max_persisting_l2 = 108
};

#define STAND_IN extern "C" __attribute__((visibility("default")))
/* First in each entry point: counts the call, and fails where a knob says so. */
#define ENTRY \
    if (const int code = stand_in::entered(__func__)) return code

#endif
