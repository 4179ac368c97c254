#include "memgauge/counters/nvml.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "memgauge/names.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

constexpr Names<8> call_names{"field",
                              "power",
                              "energy",
                              "clock",
                              "memory_used",
                              "gpu_utilisation",
                              "memory_utilisation",
                              "temperature"};

void make_query(NvmlQuery* self, unsigned device, const std::string& call, unsigned argument,
                unsigned scope) {
    new (self)
        NvmlQuery{device, value_of<NvmlCall>(call_names, "call of NVML", call), argument, scope};
}

void register_nvml_answers(nb::module_& module) {
    final_class<NvmlDevice>(module, "NvmlDevice")
        .def_ro("index", &NvmlDevice::index)
        .def_ro("name", &NvmlDevice::name)
        .def_ro("uuid", &NvmlDevice::uuid)
        .def_ro("bus_id", &NvmlDevice::bus_id,
                "As the library writes it, such as `00000000:3B:00.0`; empty: not known.")
        .def_ro("partitioned", &NvmlDevice::partitioned,
                "MIG is on: all figures are of the whole GPU.")
        .def_ro("error", &NvmlDevice::error, "Why the device cannot be used; empty: it can.");
    final_class<NvmlAnswer>(module, "NvmlAnswer")
        .def_ro("value", &NvmlAnswer::value)
        .def_ro("bits", &NvmlAnswer::bits,
                "Width of the driver's value: a counter of 32 wraps there.")
        .def_ro("code", &NvmlAnswer::code, "The library's own number for the outcome; 0: success.")
        .def_ro("error", &NvmlAnswer::error, "The library's own words; empty with a value.")
        .def_ro("took_ns", &NvmlAnswer::took_ns);
}

}  // namespace

void register_counters_nvml(nb::module_& module) {
    register_nvml_answers(module);
    final_class<NvmlQuery>(module, "NvmlQuery",
                           "What to read of one GPU.\n\n"
                           "`call`: `field` (of number `argument` in `scope`), `power`, `energy`, "
                           "`clock` (of type `argument`), `memory_used`, `gpu_utilisation`, "
                           "`memory_utilisation` or `temperature` (of sensor `argument`).")
        .def("__init__", &make_query, "device"_a, "call"_a, "argument"_a = 0, "scope"_a = 0);
    final_class<NvmlLibrary>(
        module, "NvmlLibrary",
        "The NVIDIA management library, initialised.\n\n"
        "Raises RequestError: not found, not that library, or it refuses to start.")
        .def(nb::init<const std::string&>(), "file"_a, ReleaseGil())
        .def_prop_ro("driver", &NvmlLibrary::driver)
        .def_prop_ro("devices", &NvmlLibrary::devices)
        .def("ask", &NvmlLibrary::ask, "query"_a, ReleaseGil(), "Ask once, and time it.");
    final_class<NvmlSource, CounterSource>(module, "NvmlSource",
                                           "One slot for each query; missing where a call fails.")
        .def(nb::init<std::shared_ptr<const NvmlLibrary>, std::vector<NvmlQuery>>(), "library"_a,
             "queries"_a);
}

}  // namespace memgauge::bindings
