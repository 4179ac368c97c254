/* What the stand-in driver says to other stand-ins of the same process (dlopen of libcuda.so.1 with
   RTLD_NOLOAD, then dlsym): running totals since the library was loaded, of finished work. */
#ifndef GPU_STAND_IN_COUNTS_H
#define GPU_STAND_IN_COUNTS_H

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_stand_in_totals {
    unsigned long long kernel_read_bytes;  /* loaded by kernels */
    unsigned long long kernel_write_bytes; /* stored by kernels and memsets */
    unsigned long long from_host_bytes;    /* copies, as seen from this device */
    unsigned long long to_host_bytes;
    unsigned long long from_peer_bytes;
    unsigned long long to_peer_bytes;
    unsigned long long within_bytes; /* device to device on the same one: read and written */
    unsigned long long launches;
    unsigned long long copies;
};

/* 0: done; else there is no such device. */
int gpu_stand_in_totals_of(int device, struct gpu_stand_in_totals* into);
/* How often an entry point was called, whatever came of it. */
unsigned long long gpu_stand_in_calls(const char* entry_point);
/* The value of a knob as text, "" where it was not set: GPU_STAND_IN_NAME, or the file of knobs. */
const char* gpu_stand_in_knob(const char* name);
/* Nanoseconds on the clock that events of this device are stamped with, at the end of its work. */
unsigned long long gpu_stand_in_device_ns(int device);

#ifdef __cplusplus
}
#endif
#endif
