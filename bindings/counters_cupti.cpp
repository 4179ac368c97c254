#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memgauge/counters/cupti.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

using Library = std::shared_ptr<const CuptiLibrary>;
using Names = std::vector<std::string>;

CuptiWay way_of(const std::string& name) {
    if (name == "range") return CuptiWay::range;
    if (name == "sampling") return CuptiWay::sampling;
    throw RequestError("cupti: unknown way '" + name + "'; it is range or sampling");
}

void make_metrics(CuptiMetrics* self, Library library, const std::string& chip,
                  const std::string& way) {
    new (self) CuptiMetrics(std::move(library), chip, way_of(way));
}

void register_answers(nb::module_& module) {
    nb::class_<CuptiMetric>(module, "CuptiMetric", nb::is_final())
        .def_ro("name", &CuptiMetric::name)
        .def_ro("description", &CuptiMetric::description)
        .def_ro("hardware_unit", &CuptiMetric::hardware_unit)
        .def_ro("dimension", &CuptiMetric::dimension);
    nb::class_<CuptiDevice>(module, "CuptiDevice", nb::is_final())
        .def_ro("index", &CuptiDevice::index)
        .def_ro("chip", &CuptiDevice::chip)
        .def_ro("range_error", &CuptiDevice::range_error)
        .def_ro("sampling_error", &CuptiDevice::sampling_error);
}

void register_sources(nb::module_& module) {
    nb::class_<CuptiRangeSource, CounterSource>(module, "CuptiRangeSource", nb::is_final())
        .def(nb::init<Library, unsigned, Names>(), nb::arg("library"), nb::arg("device"),
             nb::arg("metrics"), ReleaseGil())
        .def_prop_ro("error", &CuptiRangeSource::error)
        .def("close", &CuptiRangeSource::close, ReleaseGil());
    nb::class_<CuptiSamplingSource, CounterSource>(module, "CuptiSamplingSource", nb::is_final())
        .def(nb::init<Library, unsigned, Names, std::uint64_t, std::uint64_t>(), nb::arg("library"),
             nb::arg("device"), nb::arg("metrics"), nb::arg("interval_ns"),
             nb::arg("longest_gap_ns"), ReleaseGil())
        .def_prop_ro("error", &CuptiSamplingSource::error)
        .def("close", &CuptiSamplingSource::close, ReleaseGil())
        .def_prop_ro("by_clock", &CuptiSamplingSource::by_clock);
}

}  // namespace

void register_counters_cupti(nb::module_& module) {
    register_answers(module);
    nb::class_<CuptiLibrary>(module, "CuptiLibrary", nb::is_final())
        .def(nb::init<const std::string&, const std::string&>(), nb::arg("file"),
             nb::arg("driver") = "libcuda.so.1", ReleaseGil())
        .def_prop_ro("version", &CuptiLibrary::version)
        .def_prop_ro("chips", &CuptiLibrary::chips)
        .def("devices", &CuptiLibrary::devices, ReleaseGil());
    nb::class_<CuptiMetrics>(module, "CuptiMetrics", nb::is_final())
        .def("__init__", &make_metrics, nb::arg("library"), nb::arg("chip"), nb::arg("way"))
        .def("names", &CuptiMetrics::names)
        .def("describe", &CuptiMetrics::describe, nb::arg("name"))
        .def("passes", &CuptiMetrics::passes, nb::arg("names"));
    register_sources(module);
}

}  // namespace memgauge::bindings
