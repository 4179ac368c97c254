#pragma once
// The part of CUPTI's binary interface that is used: names, constants and layouts as the CUPTI
// documentation gives them for CUDA 12.6 to 13. Every structure says how long it is, up to the end
// of its last member and without padding; a library that knows a longer one takes the shorter.

#include <cstddef>
#include <cstdint>

#include "gpu/driver/cuda_abi.hpp"

namespace memgauge::cupti {

using Result = int;                      // CUptiResult
using HostObject = struct HostTag*;      // CUpti_Profiler_Host_Object
using RangeObject = struct RangeTag*;    // CUpti_RangeProfiler_Object
using SampleObject = struct SampleTag*;  // CUpti_PmSampling_Object
using Names = const char**;
using Bytes = std::uint8_t*;

inline constexpr Result success = 0;
inline constexpr Result invalid_parameter = 1;
inline constexpr Result invalid_device = 2;
inline constexpr Result invalid_context = 3;
inline constexpr Result invalid_operation = 7;
inline constexpr Result out_of_memory = 8;
inline constexpr Result not_compatible = 14;
inline constexpr Result not_initialized = 15;
inline constexpr Result hardware_busy = 26;
inline constexpr Result not_supported = 27;
inline constexpr Result virtualized_device = 33;
inline constexpr Result insufficient_privileges = 35;
inline constexpr Result mig_device = 43;
inline constexpr Result sli_device = 44;
inline constexpr Result wsl_device = 45;
inline constexpr Result invalid_chip_name = 46;
inline constexpr Result unknown_error = 999;
// Not CUPTI's: what it did not call an error.
inline constexpr Result samples_lost = -1;
inline constexpr Result several_passes = -2;
inline constexpr Result no_count = -3;

inline constexpr int range_profiler = 0;  // CUpti_ProfilerType
inline constexpr int pm_sampling = 1;
inline constexpr int counter_metrics = 0;  // CUpti_MetricType

// CUpti_Profiler_Support_Level
inline constexpr int support_unknown = 0;
inline constexpr int support_disabled = 2;
inline constexpr int support_full = 3;
inline constexpr int support_limited = 4;

inline constexpr int api_range_profiling = 0;  // CUpti_Profiler_API
inline constexpr int api_pm_sampling = 3;

inline constexpr int user_range = 2;   // CUpti_ProfilerRange
inline constexpr int user_replay = 3;  // CUpti_ProfilerReplayMode

inline constexpr int trigger_clock = 0;    // CUpti_PmSampling_TriggerMode: every so many cycles, or
inline constexpr int trigger_time = 1;     // nanoseconds
inline constexpr int stop_image_full = 1;  // CUpti_PmSampling_DecodeStopReason

struct ProfilerInitialize {
    std::size_t size = 16;
    void* priv = nullptr;
};

struct ChipName {
    std::size_t size = 32;
    void* priv = nullptr;
    std::size_t device = 0;
    const char* chip = nullptr;  // out
};

struct DeviceSupported {
    std::size_t size = 52;
    void* priv = nullptr;
    cuda::DeviceHandle device = 0;
    int supported = 0;  // out, as all of the following
    int architecture = 0;
    int sli = 0;
    int virtual_gpu = 0;
    int confidential_computing = 0;
    int mining_processor = 0;
    int wsl = 0;
    int api = 0;
};

struct RangeAvailability {  // CUpti_Profiler_GetCounterAvailability_Params
    std::size_t size = 41;
    void* priv = nullptr;
    cuda::Context context = nullptr;
    std::size_t image_bytes = 0;  // in and out
    Bytes image = nullptr;
    std::uint8_t device_level = 1;  // those of the memory are; since CUDA 13.1, before always
};
inline constexpr std::size_t range_availability_bytes_before_13_1 = 40;
inline constexpr std::uint32_t version_13_1 = 130'100;

struct SampleAvailability {  // CUpti_PmSampling_GetCounterAvailability_Params
    std::size_t size = 40;
    void* priv = nullptr;
    std::size_t device = 0;
    std::size_t image_bytes = 0;  // in and out
    Bytes image = nullptr;
};

struct HostInitialize {
    std::size_t size = 48;
    void* priv = nullptr;
    int profiler = 0;
    const char* chip = nullptr;
    const std::uint8_t* availability = nullptr;
    HostObject host = nullptr;  // out
};

struct HostDeinitialize {
    std::size_t size = 24;
    void* priv = nullptr;
    HostObject host = nullptr;
};

struct SupportedChips {
    std::size_t size = 32;
    void* priv = nullptr;
    std::size_t count = 0;               // out
    const char* const* chips = nullptr;  // out
};

struct BaseMetrics {
    std::size_t size = 48;
    void* priv = nullptr;
    HostObject host = nullptr;
    int type = counter_metrics;
    Names names = nullptr;  // out
    std::size_t count = 0;  // out
};

struct MetricProperties {
    std::size_t size = 60;
    void* priv = nullptr;
    HostObject host = nullptr;
    const char* name = nullptr;
    const char* description = nullptr;  // out, as all of the following
    const char* hardware_unit = nullptr;
    const char* dimension = nullptr;
    int type = 0;
};

struct ConfigAddMetrics {
    std::size_t size = 40;
    void* priv = nullptr;
    HostObject host = nullptr;
    Names names = nullptr;
    std::size_t count = 0;
};

struct ConfigImageSize {
    std::size_t size = 32;
    void* priv = nullptr;
    HostObject host = nullptr;
    std::size_t image_bytes = 0;  // out
};

struct ConfigImage {
    std::size_t size = 40;
    void* priv = nullptr;
    HostObject host = nullptr;
    std::size_t image_bytes = 0;
    Bytes image = nullptr;  // filled
};

struct PassCount {
    std::size_t size = 40;
    void* priv = nullptr;
    std::size_t image_bytes = 0;
    Bytes image = nullptr;
    std::size_t passes = 0;  // out
};

struct Evaluate {
    std::size_t size = 72;
    void* priv = nullptr;
    HostObject host = nullptr;
    const std::uint8_t* image = nullptr;
    std::size_t image_bytes = 0;
    std::size_t range = 0;
    Names names = nullptr;
    std::size_t count = 0;
    double* values = nullptr;  // filled
};

struct RangeEnable {
    std::size_t size = 32;
    void* priv = nullptr;
    cuda::Context context = nullptr;
    RangeObject object = nullptr;  // out
};

// CUpti_RangeProfiler_Disable_Params, _Start_Params and _PopRange_Params
struct RangeOnly {
    std::size_t size = 24;
    void* priv = nullptr;
    RangeObject object = nullptr;
};

struct RangeStop {
    std::size_t size = 41;
    void* priv = nullptr;
    RangeObject object = nullptr;
    std::size_t pass = 0;  // out, as all of the following
    std::size_t nesting_level = 0;
    std::uint8_t all_submitted = 0;
};

struct RangePush {
    std::size_t size = 32;
    void* priv = nullptr;
    RangeObject object = nullptr;
    const char* name = nullptr;
};

struct RangeConfig {
    std::size_t size = 90;
    void* priv = nullptr;
    RangeObject object = nullptr;
    std::size_t config_bytes = 0;
    const std::uint8_t* config = nullptr;
    std::size_t image_bytes = 0;
    Bytes image = nullptr;
    int range = user_range;
    int replay = user_replay;
    std::size_t most_ranges = 1;
    std::uint16_t nesting_levels = 1;
    std::uint16_t least_nesting_level = 1;
    std::size_t pass = 0;
    std::uint16_t nesting_level = 1;
};

struct RangeDecode {
    std::size_t size = 32;
    void* priv = nullptr;
    RangeObject object = nullptr;
    std::size_t dropped = 0;  // out
};

struct RangeImageSize {
    std::size_t size = 64;
    void* priv = nullptr;
    RangeObject object = nullptr;
    Names names = nullptr;
    std::size_t count = 0;
    std::size_t most_ranges = 1;
    std::uint32_t most_nodes = 1;
    std::size_t image_bytes = 0;  // out
};

struct RangeImage {  // CUpti_RangeProfiler_CounterDataImage_Initialize_Params
    std::size_t size = 40;
    void* priv = nullptr;
    RangeObject object = nullptr;
    std::size_t image_bytes = 0;
    Bytes image = nullptr;  // filled
};

struct RangeInfo {
    std::size_t size = 40;
    void* priv = nullptr;
    const std::uint8_t* image = nullptr;
    std::size_t image_bytes = 0;
    std::size_t ranges = 0;  // out
};

struct SampleEnable {
    std::size_t size = 32;
    void* priv = nullptr;
    std::size_t device = 0;
    SampleObject object = nullptr;  // out
};

// CUpti_PmSampling_Disable_Params, _Start_Params and _Stop_Params
struct SampleOnly {
    std::size_t size = 24;
    void* priv = nullptr;
    SampleObject object = nullptr;
};

struct SampleConfig {
    std::size_t size = 64;
    void* priv = nullptr;
    SampleObject object = nullptr;
    std::size_t config_bytes = 0;
    const std::uint8_t* config = nullptr;
    std::size_t buffer_bytes = 0;
    std::uint64_t interval = 0;
    int trigger = trigger_time;
    int append = 0;  // keep the oldest; not in CUDA 12.6, see sample_config_bytes_before_13
};
inline constexpr std::size_t sample_config_bytes_before_13 = 60;
inline constexpr std::uint32_t version_13 = 130'000;  // what cuptiGetVersion gives for CUDA 13.0

struct SampleDecode {
    std::size_t size = 45;
    void* priv = nullptr;
    SampleObject object = nullptr;
    Bytes image = nullptr;  // filled
    std::size_t image_bytes = 0;
    int stop_reason = 0;        // out
    std::uint8_t overflow = 0;  // out
};

struct SampleImageSize {
    std::size_t size = 56;
    void* priv = nullptr;
    SampleObject object = nullptr;
    Names names = nullptr;
    std::size_t count = 0;
    std::uint32_t most_samples = 0;
    std::size_t image_bytes = 0;  // out
};

struct SampleImage {  // CUpti_PmSampling_CounterDataImage_Initialize_Params
    std::size_t size = 40;
    void* priv = nullptr;
    SampleObject object = nullptr;
    std::size_t image_bytes = 0;
    Bytes image = nullptr;  // filled
};

struct SampleCounts {  // CUpti_PmSampling_GetCounterDataInfo_Params
    std::size_t size = 56;
    void* priv = nullptr;
    const std::uint8_t* image = nullptr;
    std::size_t image_bytes = 0;
    std::size_t total = 0;  // out, as all of the following
    std::size_t populated = 0;
    std::size_t completed = 0;
};

struct SampleInfo {
    std::size_t size = 64;
    void* priv = nullptr;
    SampleObject object = nullptr;
    const std::uint8_t* image = nullptr;
    std::size_t image_bytes = 0;
    std::size_t sample = 0;
    std::uint64_t begin_ns = 0;  // out
    std::uint64_t end_ns = 0;    // out
};

// Each structure ends where its size says: what a compiler lays out otherwise does not compile.
// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define MEMGAUGE_ENDS_WITH(type, member) \
    static_assert(offsetof(type, member) + sizeof(decltype(type::member)) == type{}.size)
// NOLINTEND(bugprone-macro-parentheses)
MEMGAUGE_ENDS_WITH(ProfilerInitialize, priv);
MEMGAUGE_ENDS_WITH(ChipName, chip);
MEMGAUGE_ENDS_WITH(DeviceSupported, api);
MEMGAUGE_ENDS_WITH(RangeAvailability, device_level);
MEMGAUGE_ENDS_WITH(SampleAvailability, image);
MEMGAUGE_ENDS_WITH(HostInitialize, host);
MEMGAUGE_ENDS_WITH(HostDeinitialize, host);
MEMGAUGE_ENDS_WITH(SupportedChips, chips);
MEMGAUGE_ENDS_WITH(BaseMetrics, count);
MEMGAUGE_ENDS_WITH(MetricProperties, type);
MEMGAUGE_ENDS_WITH(ConfigAddMetrics, count);
MEMGAUGE_ENDS_WITH(ConfigImageSize, image_bytes);
MEMGAUGE_ENDS_WITH(ConfigImage, image);
MEMGAUGE_ENDS_WITH(PassCount, passes);
MEMGAUGE_ENDS_WITH(Evaluate, values);
MEMGAUGE_ENDS_WITH(RangeEnable, object);
MEMGAUGE_ENDS_WITH(RangeOnly, object);
MEMGAUGE_ENDS_WITH(RangeStop, all_submitted);
MEMGAUGE_ENDS_WITH(RangePush, name);
MEMGAUGE_ENDS_WITH(RangeConfig, nesting_level);
MEMGAUGE_ENDS_WITH(RangeDecode, dropped);
MEMGAUGE_ENDS_WITH(RangeImageSize, image_bytes);
MEMGAUGE_ENDS_WITH(RangeImage, image);
MEMGAUGE_ENDS_WITH(RangeInfo, ranges);
MEMGAUGE_ENDS_WITH(SampleEnable, object);
MEMGAUGE_ENDS_WITH(SampleOnly, object);
MEMGAUGE_ENDS_WITH(SampleConfig, append);
MEMGAUGE_ENDS_WITH(SampleDecode, overflow);
MEMGAUGE_ENDS_WITH(SampleImageSize, image_bytes);
MEMGAUGE_ENDS_WITH(SampleImage, image);
MEMGAUGE_ENDS_WITH(SampleCounts, completed);
MEMGAUGE_ENDS_WITH(SampleInfo, end_ns);
#undef MEMGAUGE_ENDS_WITH
static_assert(offsetof(SampleConfig, append) == sample_config_bytes_before_13);
static_assert(offsetof(RangeAvailability, device_level) == range_availability_bytes_before_13_1);

// Entry points. Those of ranges and of sampling are there since CUDA 12.6, or all null.
struct Calls {
    Result (*version)(std::uint32_t*) = nullptr;
    Result (*result_string)(Result, const char**) = nullptr;
    Result (*initialize)(ProfilerInitialize*) = nullptr;
    Result (*chip_name)(ChipName*) = nullptr;
    Result (*device_supported)(DeviceSupported*) = nullptr;
    Result (*range_availability)(RangeAvailability*) = nullptr;
    Result (*sample_availability)(SampleAvailability*) = nullptr;

    Result (*host_initialize)(HostInitialize*) = nullptr;
    Result (*host_deinitialize)(HostDeinitialize*) = nullptr;
    Result (*chips)(SupportedChips*) = nullptr;
    Result (*base_metrics)(BaseMetrics*) = nullptr;
    Result (*properties)(MetricProperties*) = nullptr;
    Result (*add_metrics)(ConfigAddMetrics*) = nullptr;
    Result (*config_image_size)(ConfigImageSize*) = nullptr;
    Result (*config_image)(ConfigImage*) = nullptr;
    Result (*passes)(PassCount*) = nullptr;
    Result (*evaluate)(Evaluate*) = nullptr;

    Result (*range_enable)(RangeEnable*) = nullptr;
    Result (*range_disable)(RangeOnly*) = nullptr;
    Result (*range_config)(RangeConfig*) = nullptr;
    Result (*range_start)(RangeOnly*) = nullptr;
    Result (*range_stop)(RangeStop*) = nullptr;
    Result (*range_push)(RangePush*) = nullptr;
    Result (*range_pop)(RangeOnly*) = nullptr;
    Result (*range_decode)(RangeDecode*) = nullptr;
    Result (*range_image_size)(RangeImageSize*) = nullptr;
    Result (*range_image)(RangeImage*) = nullptr;
    Result (*range_info)(RangeInfo*) = nullptr;

    Result (*sample_enable)(SampleEnable*) = nullptr;
    Result (*sample_disable)(SampleOnly*) = nullptr;
    Result (*sample_config)(SampleConfig*) = nullptr;
    Result (*sample_start)(SampleOnly*) = nullptr;
    Result (*sample_stop)(SampleOnly*) = nullptr;
    Result (*sample_decode)(SampleDecode*) = nullptr;
    Result (*sample_image_size)(SampleImageSize*) = nullptr;
    Result (*sample_image)(SampleImage*) = nullptr;
    Result (*sample_counts)(SampleCounts*) = nullptr;
    Result (*sample_info)(SampleInfo*) = nullptr;
};

}  // namespace memgauge::cupti
