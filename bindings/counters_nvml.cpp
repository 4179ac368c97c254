#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "memgauge/counters/nvml.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

NvmlCall call_of(const std::string& name) {
    if (name == "field") return NvmlCall::field;
    if (name == "power") return NvmlCall::power;
    if (name == "energy") return NvmlCall::energy;
    if (name == "clock") return NvmlCall::clock;
    if (name == "memory_used") return NvmlCall::memory_used;
    if (name == "gpu_utilisation") return NvmlCall::gpu_utilisation;
    if (name == "memory_utilisation") return NvmlCall::memory_utilisation;
    if (name == "temperature") return NvmlCall::temperature;
    throw RequestError("nvml: unknown call '" + name + "'");
}

void make_query(NvmlQuery* self, unsigned device, const std::string& call, unsigned argument,
                unsigned scope) {
    new (self) NvmlQuery{device, call_of(call), argument, scope};
}

void register_answers(nb::module_& module) {
    nb::class_<NvmlDevice>(module, "NvmlDevice", nb::is_final())
        .def_ro("index", &NvmlDevice::index)
        .def_ro("name", &NvmlDevice::name)
        .def_ro("uuid", &NvmlDevice::uuid)
        .def_ro("bus_id", &NvmlDevice::bus_id)
        .def_ro("partitioned", &NvmlDevice::partitioned)
        .def_ro("error", &NvmlDevice::error);
    nb::class_<NvmlAnswer>(module, "NvmlAnswer", nb::is_final())
        .def_ro("value", &NvmlAnswer::value)
        .def_ro("bits", &NvmlAnswer::bits)
        .def_ro("code", &NvmlAnswer::code)
        .def_ro("error", &NvmlAnswer::error)
        .def_ro("took_ns", &NvmlAnswer::took_ns);
}

}  // namespace

void register_counters_nvml(nb::module_& module) {
    register_answers(module);
    nb::class_<NvmlQuery>(module, "NvmlQuery", nb::is_final())
        .def("__init__", &make_query, nb::arg("device"), nb::arg("call"), nb::arg("argument") = 0,
             nb::arg("scope") = 0);
    nb::class_<NvmlLibrary>(module, "NvmlLibrary", nb::is_final())
        .def(nb::init<const std::string&>(), nb::arg("file"), ReleaseGil())
        .def_prop_ro("driver", &NvmlLibrary::driver)
        .def_prop_ro("devices", &NvmlLibrary::devices)
        .def("ask", &NvmlLibrary::ask, nb::arg("query"), ReleaseGil());
    nb::class_<NvmlSource, CounterSource>(module, "NvmlSource", nb::is_final())
        .def(nb::init<std::shared_ptr<const NvmlLibrary>, std::vector<NvmlQuery>>(),
             nb::arg("library"), nb::arg("queries"));
}

}  // namespace memgauge::bindings
