// A stand-in of CUPTI for tests: its host half knows some chips by a few metrics, its device
// half counts what the stand-in of the driver beside it moved. Every kernel's access is a byte of
// device memory here: there is no cache.
//
// Knobs: cupti_version, cupti_chip (GH100; GA100: no timed trigger; GV100: no sampling; GB202:
// other names; TU102: sectors only), cupti_passes, cupti_unsupported (virtual_gpu, mig, ...),
// cupti_overflow_at (which decoding finds the buffer overflowed), cupti_full_at (or the image
// full), cupti_hole_at (or a sample lost), cupti_factor (what is counted for a byte).

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "abi.h"
#include "counters/cupti/abi.hpp"
#include "counts.h"
#include "knobs.hpp"

namespace cupti = memgauge::cupti;
using cupti::Result;

#define CUPTI_ENTRY(params, type, last)                               \
    if (const int code = stand_in::called(__func__)) return code;     \
    if ((params) == nullptr || (params)->priv != nullptr ||           \
        (params)->size < offsetof(type, last) + sizeof(type::last) || \
        (params)->size > sizeof(type))                                \
    return cupti::invalid_parameter

namespace {

struct Metric {
    const char* name;
    const char* description;
    const char* unit;
    const char* dimension;
};

constexpr Metric by_bytes[] = {
    {"dram__bytes_read", "# of bytes read from DRAM", "dram", "byte"},
    {"dram__bytes_write", "# of bytes written to DRAM", "dram", "byte"},
    {"dram__bytes", "# of bytes accessed in DRAM", "dram", "byte"},
    {"dram__sectors_read", "# of sectors read from DRAM", "dram", "l2_sector"},
    {"dram__sectors_write", "# of sectors written to DRAM", "dram", "l2_sector"},
    {"lts__t_sectors_op_read", "# of LTS sectors for reads", "lts", "sector"},
    {"pcie__read_bytes", "# of bytes of PCIe read data, at 512B granularity", "pcie", "byte"},
    {"pcie__write_bytes", "# of bytes of PCIe write data, at 512B granularity", "pcie", "byte"},
};
constexpr Metric by_other_names[] = {
    {"dram__bytes_op_read", "# of bytes read from DRAM", "dram", "byte"},
    {"dram__bytes_op_write", "# of bytes written to DRAM", "dram", "byte"},
};
constexpr Metric by_sectors[] = {
    {"dram__sectors_read", "# of sectors read from DRAM", "dram", "l2_sector"},
    {"dram__sectors_write", "# of sectors written to DRAM", "dram", "l2_sector"},
};
const char* const all_chips[] = {"GV100", "TU102", "GA100", "GH100", "GB202"};

std::vector<Metric> metrics_of(const std::string& chip) {
    if (chip == "GB202") return {std::begin(by_other_names), std::end(by_other_names)};
    if (chip == "TU102") return {std::begin(by_sectors), std::end(by_sectors)};
    return {std::begin(by_bytes), std::end(by_bytes)};
}

bool holds(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

using Totals = gpu_stand_in_totals;

// The driver's stand-in in the directory that this was loaded from.
Totals totals_of(int device) {
    static const auto ask = [] {
        Dl_info self{};
        dladdr(reinterpret_cast<void*>(&totals_of), &self);
        std::string path = self.dli_fname;
        path.erase(path.rfind('/') + 1);
        void* driver = dlopen((path + "libcuda.so.1").c_str(), RTLD_NOW | RTLD_NOLOAD);
        return driver == nullptr ? nullptr
                                 : reinterpret_cast<int (*)(int, Totals*)>(
                                       dlsym(driver, "gpu_stand_in_totals_of"));
    }();
    Totals now{};
    if (ask != nullptr) ask(device, &now);
    return now;
}

double count(const std::string& metric, const Totals& from, const Totals& to) {
    const auto moved = [&](unsigned long long Totals::* part) {
        return static_cast<double>(to.*part - from.*part);
    };
    const bool reads = holds(metric, "read");
    double bytes = moved(reads ? &Totals::from_host_bytes : &Totals::to_host_bytes);
    if (!holds(metric, "pcie")) {
        bytes = moved(reads ? &Totals::kernel_read_bytes : &Totals::kernel_write_bytes) +
                moved(reads ? &Totals::to_host_bytes : &Totals::from_host_bytes) +
                moved(reads ? &Totals::to_peer_bytes : &Totals::from_peer_bytes) +
                moved(&Totals::within_bytes);
    }
    return bytes * stand_in::knob_real("cupti_factor", 1.0) / (holds(metric, "sectors") ? 32 : 1);
}

// An image: a header, then for each range or sample its totals before and after, and its times.
struct Entry {
    Totals before{};
    Totals after{};
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
};
struct Image {
    std::uint64_t most = 0;
    std::uint64_t held = 0;
};

Image* image_at(const std::uint8_t* bytes) {
    return reinterpret_cast<Image*>(const_cast<std::uint8_t*>(bytes));
}
Entry* entries_of(const std::uint8_t* bytes) {
    return reinterpret_cast<Entry*>(const_cast<std::uint8_t*>(bytes) + sizeof(Image));
}
std::size_t bytes_for(std::size_t most) {
    return sizeof(Image) + most * sizeof(Entry);
}
void empty(std::uint8_t* bytes, std::size_t size) {
    std::memset(bytes, 0, size);
    image_at(bytes)->most = (size - sizeof(Image)) / sizeof(Entry);
}

std::uint64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

// Each device is counted in one way at a time.
bool take(int device) {
    static std::set<int>& taken = *new std::set<int>;
    return device >= 0 ? taken.insert(device).second : taken.erase(~device) > 0;
}
void leave(int device) {
    take(~device);
}

}  // namespace

struct memgauge::cupti::HostTag {
    std::string chip;
    bool samples = false;
    std::vector<Metric> metrics;
    std::vector<const char*> names;
    std::vector<std::string> added;
};
struct memgauge::cupti::RangeTag {
    int device = 0;
    std::uint8_t* image = nullptr;
    Entry range;
    bool configured = false, started = false, pushed = false;
};
struct memgauge::cupti::SampleTag {
    int device = 0;
    std::uint64_t interval_ns = 0, last_ns = 0;
    Totals last{};
    bool started = false, broken = false;
};

STAND_IN Result cuptiGetVersion(std::uint32_t* into) {
    *into = static_cast<std::uint32_t>(stand_in::knob_number("cupti_version", 130'000));
    return cupti::success;
}

STAND_IN Result cuptiGetResultString(Result result, const char** into) {
    static const std::map<Result, const char*> names{
        {1, "CUPTI_ERROR_INVALID_PARAMETER"},
        {7, "CUPTI_ERROR_INVALID_OPERATION"},
        {8, "CUPTI_ERROR_OUT_OF_MEMORY"},
        {17, "CUPTI_ERROR_INVALID_METRIC_NAME"},
        {26, "CUPTI_ERROR_HARDWARE_BUSY"},
        {27, "CUPTI_ERROR_NOT_SUPPORTED"},
        {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
        {46, "CUPTI_ERROR_INVALID_CHIP_NAME"},
    };
    const auto found = names.find(result);
    if (found == names.end()) return cupti::invalid_parameter;
    *into = found->second;
    return cupti::success;
}

STAND_IN Result cuptiProfilerInitialize(cupti::ProfilerInitialize* asked) {
    CUPTI_ENTRY(asked, cupti::ProfilerInitialize, priv);
    return cupti::success;
}

STAND_IN Result cuptiDeviceGetChipName(cupti::ChipName* asked) {
    CUPTI_ENTRY(asked, cupti::ChipName, chip);
    static const std::string chip = stand_in::knob("cupti_chip", "GH100");
    asked->chip = chip.c_str();
    return cupti::success;
}

STAND_IN Result cuptiProfilerDeviceSupported(cupti::DeviceSupported* asked) {
    CUPTI_ENTRY(asked, cupti::DeviceSupported, api);
    const std::string why = stand_in::knob("cupti_unsupported", "");
    asked->supported = why.empty() ? 3 : 1;
    asked->virtual_gpu = why == "virtual_gpu" ? 2 : 3;
    asked->confidential_computing = why == "confidential_computing" ? 1 : 3;
    asked->architecture = asked->sli = asked->mining_processor = asked->wsl = 3;
    return cupti::success;
}

STAND_IN Result cuptiProfilerGetCounterAvailability(cupti::RangeAvailability* asked) {
    CUPTI_ENTRY(asked, cupti::RangeAvailability, image);
    const bool old = stand_in::knob_number("cupti_version", 130'000) < 130'100;
    if (asked->size != (old ? 40 : 41)) return cupti::invalid_parameter;
    if (!old && asked->device_level != 1) return cupti::invalid_parameter;
    if (asked->context == nullptr) return cupti::invalid_context;
    asked->image_bytes = 16;
    return cupti::success;
}

STAND_IN Result cuptiPmSamplingGetCounterAvailability(cupti::SampleAvailability* asked) {
    CUPTI_ENTRY(asked, cupti::SampleAvailability, image);
    asked->image_bytes = 16;
    return cupti::success;
}

STAND_IN Result cuptiProfilerHostGetSupportedChips(cupti::SupportedChips* asked) {
    CUPTI_ENTRY(asked, cupti::SupportedChips, chips);
    asked->count = std::size(all_chips);
    asked->chips = all_chips;
    return cupti::success;
}

STAND_IN Result cuptiProfilerHostInitialize(cupti::HostInitialize* asked) {
    CUPTI_ENTRY(asked, cupti::HostInitialize, host);
    const std::string chip = asked->chip;
    const auto known = [&](const char* one) { return chip == one; };
    if (std::none_of(std::begin(all_chips), std::end(all_chips), known)) {
        return cupti::invalid_chip_name;
    }
    const bool samples = asked->profiler == cupti::pm_sampling;
    if (samples && chip == "GV100") return cupti::not_supported;
    auto* made = new cupti::HostTag{chip, samples, metrics_of(chip), {}, {}};
    for (const Metric& metric : made->metrics) made->names.push_back(metric.name);
    asked->host = made;
    return cupti::success;
}

STAND_IN Result cuptiProfilerHostDeinitialize(cupti::HostDeinitialize* asked) {
    CUPTI_ENTRY(asked, cupti::HostDeinitialize, host);
    delete asked->host;
    return cupti::success;
}

STAND_IN Result cuptiProfilerHostGetBaseMetrics(cupti::BaseMetrics* asked) {
    CUPTI_ENTRY(asked, cupti::BaseMetrics, count);
    asked->names = asked->host->names.data();
    asked->count = asked->host->names.size();
    return cupti::success;
}

STAND_IN Result cuptiProfilerHostGetMetricProperties(cupti::MetricProperties* asked) {
    CUPTI_ENTRY(asked, cupti::MetricProperties, type);
    for (const Metric& metric : asked->host->metrics) {
        if (std::string(metric.name) + ".sum" != asked->name) continue;
        asked->description = metric.description;
        asked->hardware_unit = metric.unit;
        asked->dimension = metric.dimension;
        return cupti::success;
    }
    return 17;
}

STAND_IN Result cuptiProfilerHostConfigAddMetrics(cupti::ConfigAddMetrics* asked) {
    CUPTI_ENTRY(asked, cupti::ConfigAddMetrics, count);
    bool memory = false;
    bool link = false;
    for (std::size_t at = 0; at < asked->count; ++at) {
        (holds(asked->names[at], "pcie") ? link : memory) = true;
        asked->host->added.emplace_back(asked->names[at]);
    }
    return memory && link && !asked->host->samples ? cupti::not_supported : cupti::success;
}

STAND_IN Result cuptiProfilerHostGetConfigImageSize(cupti::ConfigImageSize* asked) {
    CUPTI_ENTRY(asked, cupti::ConfigImageSize, image_bytes);
    asked->image_bytes = 64;
    return cupti::success;
}

STAND_IN Result cuptiProfilerHostGetConfigImage(cupti::ConfigImage* asked) {
    CUPTI_ENTRY(asked, cupti::ConfigImage, image);
    if (asked->image_bytes != 64) return cupti::invalid_parameter;
    std::memset(asked->image, 0x5a, 64);
    return cupti::success;
}

STAND_IN Result cuptiProfilerHostGetNumOfPasses(cupti::PassCount* asked) {
    CUPTI_ENTRY(asked, cupti::PassCount, passes);
    if (asked->image[63] != 0x5a) return cupti::invalid_parameter;
    asked->passes = stand_in::knob_number("cupti_passes", 1);
    return cupti::success;
}

STAND_IN Result cuptiProfilerHostEvaluateToGpuValues(cupti::Evaluate* asked) {
    CUPTI_ENTRY(asked, cupti::Evaluate, values);
    if (asked->range >= image_at(asked->image)->held) return cupti::invalid_parameter;
    const Entry& entry = entries_of(asked->image)[asked->range];
    for (std::size_t at = 0; at < asked->count; ++at) {
        asked->values[at] = count(asked->names[at], entry.before, entry.after);
    }
    return cupti::success;
}

STAND_IN Result cuptiRangeProfilerEnable(cupti::RangeEnable* asked) {
    CUPTI_ENTRY(asked, cupti::RangeEnable, object);
    if (asked->context == nullptr) return cupti::invalid_context;
    const int device = *reinterpret_cast<const int*>(asked->context);  // CUctx_st begins so
    if (!take(device)) return cupti::invalid_operation;
    asked->object = new cupti::RangeTag;
    asked->object->device = device;
    return cupti::success;
}

STAND_IN Result cuptiRangeProfilerDisable(cupti::RangeOnly* asked) {
    CUPTI_ENTRY(asked, cupti::RangeOnly, object);
    leave(asked->object->device);
    delete asked->object;
    return cupti::success;
}

STAND_IN Result cuptiRangeProfilerGetCounterDataSize(cupti::RangeImageSize* asked) {
    CUPTI_ENTRY(asked, cupti::RangeImageSize, image_bytes);
    asked->image_bytes = bytes_for(asked->most_ranges);
    return cupti::success;
}

STAND_IN Result cuptiRangeProfilerCounterDataImageInitialize(cupti::RangeImage* asked) {
    CUPTI_ENTRY(asked, cupti::RangeImage, image);
    empty(asked->image, asked->image_bytes);
    return cupti::success;
}

STAND_IN Result cuptiRangeProfilerSetConfig(cupti::RangeConfig* asked) {
    CUPTI_ENTRY(asked, cupti::RangeConfig, nesting_level);
    if (asked->range != 2 || asked->replay != 3 || asked->config_bytes != 64 ||
        asked->object->started) {
        return cupti::invalid_operation;
    }
    asked->object->image = asked->image;
    asked->object->configured = true;
    return cupti::success;
}

STAND_IN Result cuptiRangeProfilerStart(cupti::RangeOnly* asked) {
    CUPTI_ENTRY(asked, cupti::RangeOnly, object);
    if (!asked->object->configured || asked->object->started) return cupti::invalid_operation;
    asked->object->started = true;
    return cupti::success;
}

STAND_IN Result cuptiRangeProfilerPushRange(cupti::RangePush* asked) {
    CUPTI_ENTRY(asked, cupti::RangePush, name);
    if (!asked->object->started || asked->object->pushed) return cupti::invalid_operation;
    asked->object->pushed = true;
    asked->object->range.before = totals_of(asked->object->device);
    return cupti::success;
}

STAND_IN Result cuptiRangeProfilerPopRange(cupti::RangeOnly* asked) {
    CUPTI_ENTRY(asked, cupti::RangeOnly, object);
    if (!asked->object->pushed) return cupti::invalid_operation;
    asked->object->pushed = false;
    asked->object->range.after = totals_of(asked->object->device);
    return cupti::success;
}

STAND_IN Result cuptiRangeProfilerStop(cupti::RangeStop* asked) {
    CUPTI_ENTRY(asked, cupti::RangeStop, all_submitted);
    if (!asked->object->started) return cupti::invalid_operation;
    asked->object->started = asked->object->configured = false;
    asked->all_submitted = 1;
    return cupti::success;
}

STAND_IN Result cuptiRangeProfilerDecodeData(cupti::RangeDecode* asked) {
    CUPTI_ENTRY(asked, cupti::RangeDecode, dropped);
    Image* image = image_at(asked->object->image);
    if (image->held == image->most) return asked->dropped = 1, cupti::success;
    entries_of(asked->object->image)[image->held++] = asked->object->range;
    return cupti::success;
}

STAND_IN Result cuptiRangeProfilerGetCounterDataInfo(cupti::RangeInfo* asked) {
    CUPTI_ENTRY(asked, cupti::RangeInfo, ranges);
    asked->ranges = image_at(asked->image)->held;
    return cupti::success;
}

STAND_IN Result cuptiPmSamplingEnable(cupti::SampleEnable* asked) {
    CUPTI_ENTRY(asked, cupti::SampleEnable, object);
    const int device = static_cast<int>(asked->device);
    if (!take(device)) return cupti::invalid_operation;
    asked->object = new cupti::SampleTag;
    asked->object->device = device;
    return cupti::success;
}

STAND_IN Result cuptiPmSamplingDisable(cupti::SampleOnly* asked) {
    CUPTI_ENTRY(asked, cupti::SampleOnly, object);
    leave(asked->object->device);
    delete asked->object;
    return cupti::success;
}

STAND_IN Result cuptiPmSamplingSetConfig(cupti::SampleConfig* asked) {
    CUPTI_ENTRY(asked, cupti::SampleConfig, trigger);
    const bool old = stand_in::knob_number("cupti_version", 130'000) < 130'000;
    if (asked->size != (old ? 60 : 64)) return cupti::invalid_parameter;
    const bool timed = asked->trigger == cupti::trigger_time;
    if (timed && stand_in::knob("cupti_chip", "GH100") == "GA100") return cupti::not_supported;
    if (asked->object->started) return cupti::invalid_operation;
    asked->object->interval_ns = timed ? asked->interval : asked->interval * 2 / 3;
    return cupti::success;
}

STAND_IN Result cuptiPmSamplingGetCounterDataSize(cupti::SampleImageSize* asked) {
    CUPTI_ENTRY(asked, cupti::SampleImageSize, image_bytes);
    asked->image_bytes = bytes_for(asked->most_samples);
    return cupti::success;
}

STAND_IN Result cuptiPmSamplingCounterDataImageInitialize(cupti::SampleImage* asked) {
    CUPTI_ENTRY(asked, cupti::SampleImage, image);
    empty(asked->image, asked->image_bytes);
    return cupti::success;
}

STAND_IN Result cuptiPmSamplingStart(cupti::SampleOnly* asked) {
    CUPTI_ENTRY(asked, cupti::SampleOnly, object);
    if (asked->object->started) return cupti::invalid_operation;
    asked->object->started = true;
    asked->object->broken = false;
    asked->object->last = totals_of(asked->object->device);
    asked->object->last_ns = now_ns();
    return cupti::success;
}

STAND_IN Result cuptiPmSamplingStop(cupti::SampleOnly* asked) {
    CUPTI_ENTRY(asked, cupti::SampleOnly, object);
    asked->object->started = false;
    return cupti::success;
}

// What was moved since the last decoding is all in the last sample; the others are empty.
STAND_IN Result cuptiPmSamplingDecodeData(cupti::SampleDecode* asked) {
    CUPTI_ENTRY(asked, cupti::SampleDecode, overflow);
    cupti::SampleTag& object = *asked->object;
    const std::uint64_t decoding = stand_in::calls_of("cuptiPmSamplingDecodeData");
    object.broken = object.broken || decoding == stand_in::knob_number("cupti_overflow_at", 0);
    if (object.broken) return asked->overflow = 1, cupti::out_of_memory;
    const bool full = decoding == stand_in::knob_number("cupti_full_at", 0);
    asked->stop_reason = full ? cupti::stop_image_full : 2;
    if (decoding == stand_in::knob_number("cupti_hole_at", 0)) {
        object.last_ns += 2 * object.interval_ns;
        while (now_ns() < object.last_ns + object.interval_ns) {
        }
    }
    Image* image = image_at(asked->image);
    Entry* entries = entries_of(asked->image);
    const Totals now = totals_of(object.device);
    while (object.last_ns + object.interval_ns <= now_ns() && image->held < image->most) {
        Entry& sample = entries[image->held++];
        sample.before = sample.after = now;
        sample.begin_ns = object.last_ns;
        sample.end_ns = object.last_ns += object.interval_ns;
    }
    if (image->held > 0) {
        entries[0].before = object.last;
        object.last = now;
    }
    return cupti::success;
}

STAND_IN Result cuptiPmSamplingGetCounterDataInfo(cupti::SampleCounts* asked) {
    CUPTI_ENTRY(asked, cupti::SampleCounts, completed);
    asked->total = image_at(asked->image)->most;
    asked->populated = asked->completed = image_at(asked->image)->held;
    return cupti::success;
}

STAND_IN Result cuptiPmSamplingCounterDataGetSampleInfo(cupti::SampleInfo* asked) {
    CUPTI_ENTRY(asked, cupti::SampleInfo, end_ns);
    if (asked->sample >= image_at(asked->image)->held) return cupti::invalid_parameter;
    asked->begin_ns = entries_of(asked->image)[asked->sample].begin_ns;
    asked->end_ns = entries_of(asked->image)[asked->sample].end_ns;
    return cupti::success;
}

// How often an entry point was called.
STAND_IN unsigned long long cupti_stand_in_calls(const char* entry_point) {
    return stand_in::calls_of(entry_point);
}
