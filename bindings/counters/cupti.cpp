#include "memgauge/counters/cupti.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memgauge/names.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

using Library = std::shared_ptr<const CuptiLibrary>;
using Metrics = std::vector<std::string>;

constexpr Names<2> way_names{"range", "sampling"};

void make_metrics(CuptiMetrics* self, Library library, const std::string& chip,
                  const std::string& way) {
    new (self) CuptiMetrics(std::move(library), chip,
                            value_of<CuptiWay>(way_names, "way of CUPTI to count", way));
}

void register_cupti_answers(nb::module_& module) {
    final_class<CuptiMetric>(module, "CuptiMetric",
                             "What CUPTI says of a metric, in its own words.")
        .def_ro("name", &CuptiMetric::name)
        .def_ro("description", &CuptiMetric::description)
        .def_ro("hardware_unit", &CuptiMetric::hardware_unit, "What counts, such as `dram`.")
        .def_ro("dimension", &CuptiMetric::dimension, "Of one count: `byte`, `l2_sector`.");
    final_class<CuptiDevice>(module, "CuptiDevice", "A GPU as CUPTI sees it.")
        .def_ro("index", &CuptiDevice::index, "As the driver numbers what it shows.")
        .def_ro("chip", &CuptiDevice::chip, "Such as `GH100`; empty: not known.")
        .def_ro("range_error", &CuptiDevice::range_error,
                "Why it cannot be counted by ranges; empty: nothing stands against it.")
        .def_ro("sampling_error", &CuptiDevice::sampling_error);
}

void register_sources(nb::module_& module) {
    final_class<CuptiRangeSource, CounterSource>(
        module, "CuptiRangeSource",
        "Sums of metrics over what this process does on a device, a slot for each metric.\n\n"
        "The counters run from the end of a reading to the begin of the next. A reading waits "
        "until the device has done all work of this process, and takes milliseconds itself.")
        .def(nb::init<Library, unsigned, Metrics>(), "library"_a, "device"_a, "metrics"_a,
             ReleaseGil())
        .def_prop_ro("error", &CuptiRangeSource::error,
                     "Of the last reading that failed; empty: none did.")
        .def("close", &CuptiRangeSource::close, ReleaseGil(),
             "Free the device's counters now: later readings are missing.");
    final_class<CuptiSamplingSource, CounterSource>(
        module, "CuptiSamplingSource",
        "Sums of metrics over what any process does on a device, sampled by the hardware.\n\n"
        "A slot for each metric, and one for the number of times that samples were lost.")
        .def(nb::init<Library, unsigned, Metrics, std::uint64_t, std::uint64_t>(), "library"_a,
             "device"_a, "metrics"_a, "interval_ns"_a, "longest_gap_ns"_a, ReleaseGil())
        .def_prop_ro("error", &CuptiSamplingSource::error,
                     "Of the last reading that failed; empty: none did.")
        .def("close", &CuptiSamplingSource::close, ReleaseGil(),
             "Free the device's counters now: later readings are missing.")
        .def_prop_ro(
            "by_clock", &CuptiSamplingSource::by_clock,
            "Whether the interval is of cycles of the GPU's clock, and so only roughly as asked.");
}

}  // namespace

void register_counters_cupti(nb::module_& module) {
    register_cupti_answers(module);
    final_class<CuptiLibrary>(
        module, "CuptiLibrary",
        "CUPTI, loaded and never unloaded.\n\n"
        "Raises RequestError: not found, not CUPTI, or older than that of CUDA 12.6.")
        .def(nb::init<const std::string&, const std::string&>(), "file"_a,
             "driver"_a = "libcuda.so.1", ReleaseGil())
        .def_prop_ro(
            "version", &CuptiLibrary::version,
            "As cuptiGetVersion gives it: 28 with CUDA 12.9, 130001 with 13.0; 0: not known.")
        .def_prop_ro("chips", &CuptiLibrary::chips,
                     "Whose metrics it knows, with or without a GPU.")
        .def("devices", &CuptiLibrary::devices, ReleaseGil(),
             "Starts the driver when first called, which takes up to a second.\n\n"
             "Raises RequestError: no driver, or CUPTI does not start with it.");
    final_class<CuptiMetrics>(
        module, "CuptiMetrics",
        "Questions about one chip, counted by `range` or by `sampling`; no GPU is needed.\n\n"
        "Raises RequestError: the library does not know the chip, or not this way for it.")
        .def("__init__", &make_metrics, "library"_a, "chip"_a, "way"_a)
        .def("names", &CuptiMetrics::names, "Of all counters, without their rollups.")
        .def("describe", &CuptiMetrics::describe, "name"_a,
             "Of a name with its rollup, such as `dram__bytes_read.sum`.")
        .def("passes", &CuptiMetrics::passes, "names"_a,
             "Over the same work, to count all of them. RequestError: not together at all.");
    register_sources(module);
}

}  // namespace memgauge::bindings
