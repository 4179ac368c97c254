#pragma once
// The part of the NVIDIA Management Library's binary interface that is used: names, constants and
// layouts as the NVML API Reference Guide documents them. All are the same on the architectures
// the driver exists for (64 bits, little endian).

#include <cstddef>
#include <cstdint>

namespace memgauge::nvml {

using Device = void*;
using Return = int;  // nvmlReturn_t

inline constexpr Return success = 0;
inline constexpr Return function_not_found = 13;

struct Memory {  // nvmlMemory_t, bytes
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

struct Utilization {  // nvmlUtilization_t, per cent
    unsigned gpu;
    unsigned memory;
};

struct PciInfo {  // nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3
    char bus_id_legacy[16];
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned pci_device_id;
    unsigned pci_subsystem_id;
    char bus_id[32];
};

enum class ValueType : int {  // nvmlValueType_t
    floating = 0,
    unsigned_int = 1,
    unsigned_long = 2,
    unsigned_long_long = 3,
    signed_long_long = 4,
    signed_int = 5,
    unsigned_short = 6,
};

union Value {  // nvmlValue_t
    double floating;
    unsigned unsigned_int;
    unsigned long unsigned_long;
    unsigned long long unsigned_long_long;
    long long signed_long_long;
    int signed_int;
    unsigned short unsigned_short;
};

struct FieldValue {  // nvmlFieldValue_t
    unsigned field;
    unsigned scope;
    long long timestamp_us;
    long long latency_us;
    ValueType type;
    Return result;
    Value value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value) == 32);

// Entry points; one that an older library lacks is null.
struct Calls {
    Return (*init)() = nullptr;
    Return (*shutdown)() = nullptr;
    const char* (*error_string)(Return) = nullptr;
    Return (*driver_version)(char*, unsigned) = nullptr;
    Return (*device_count)(unsigned*) = nullptr;
    Return (*device_by_index)(unsigned, Device*) = nullptr;
    Return (*name)(Device, char*, unsigned) = nullptr;
    Return (*uuid)(Device, char*, unsigned) = nullptr;
    Return (*pci_info)(Device, PciInfo*) = nullptr;
    Return (*mig_mode)(Device, unsigned* current, unsigned* pending) = nullptr;
    Return (*power)(Device, unsigned*) = nullptr;
    Return (*energy)(Device, unsigned long long*) = nullptr;
    Return (*clock)(Device, int type, unsigned*) = nullptr;
    Return (*memory)(Device, Memory*) = nullptr;
    Return (*utilization)(Device, Utilization*) = nullptr;
    Return (*temperature)(Device, int sensor, unsigned*) = nullptr;
    Return (*fields)(Device, int count, FieldValue*) = nullptr;
};

}  // namespace memgauge::nvml
