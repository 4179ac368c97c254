#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memgauge/counters/pcp.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

const char* type_name(PcpType type) {
    switch (type) {
        case PcpType::i32:
            return "i32";
        case PcpType::u32:
            return "u32";
        case PcpType::i64:
            return "i64";
        case PcpType::u64:
            return "u64";
        case PcpType::f32:
            return "f32";
        case PcpType::f64:
            return "f64";
        case PcpType::other:
            break;
    }
    return "other";
}

void register_answers(nb::module_& module) {
    nb::class_<PcpInstance>(module, "PcpInstance", nb::is_final())
        .def_ro("name", &PcpInstance::name)
        .def_ro("available", &PcpInstance::available);
    nb::class_<PcpMetric>(module, "PcpMetric", nb::is_final())
        .def_ro("name", &PcpMetric::name)
        .def_ro("error", &PcpMetric::error)
        .def_prop_ro("type", [](const PcpMetric& metric) { return type_name(metric.type); })
        .def_ro("counts", &PcpMetric::counts)
        .def_ro("space", &PcpMetric::space)
        .def_ro("time", &PcpMetric::time)
        .def_ro("count", &PcpMetric::count)
        .def_ro("space_scale", &PcpMetric::space_scale)
        .def_ro("time_scale", &PcpMetric::time_scale)
        .def_ro("count_scale", &PcpMetric::count_scale)
        .def_ro("instances", &PcpMetric::instances)
        .def_ro("no_value", &PcpMetric::no_value);
}

void make_column(PcpColumn* into, std::string metric, std::string instance, bool counts,
                 std::optional<unsigned> fraction_bits, std::optional<std::size_t> duty,
                 bool gated) {
    new (into)
        PcpColumn{std::move(metric), std::move(instance), fraction_bits, counts, duty, gated};
}

void make_source(PcpSource* into, std::shared_ptr<const PcpLibrary> library, std::string host,
                 std::vector<PcpColumn> columns, std::string gate) {
    new (into)
        PcpSource(std::move(library), std::move(host), {std::move(columns), std::move(gate)});
}

}  // namespace

void register_counters_pcp(nb::module_& module) {
    register_answers(module);
    nb::class_<PcpLibrary>(module, "PcpLibrary", nb::is_final())
        .def(nb::init<const std::vector<std::string>&>(), nb::arg("files"), ReleaseGil())
        .def_prop_ro("file", &PcpLibrary::file);
    nb::class_<PcpDirectory>(module, "PcpDirectory", nb::is_final())
        .def(nb::init<std::shared_ptr<const PcpLibrary>, std::string>(), nb::arg("library"),
             nb::arg("host"), ReleaseGil())
        .def("host_name", &PcpDirectory::host_name, ReleaseGil())
        .def("names", &PcpDirectory::names, nb::arg("below"), ReleaseGil())
        .def("describe", &PcpDirectory::describe, nb::arg("names"), ReleaseGil());
    nb::class_<PcpColumn>(module, "PcpColumn", nb::is_final())
        .def("__init__", &make_column, nb::arg("metric"), nb::arg("instance"), nb::arg("counts"),
             nb::arg("fraction_bits") = nb::none(), nb::arg("duty") = nb::none(),
             nb::arg("gated") = false);
    nb::class_<PcpSource, CounterSource>(module, "PcpSource", nb::is_final())
        .def("__init__", &make_source, nb::arg("library"), nb::arg("host"), nb::arg("columns"),
             nb::arg("gate") = "", ReleaseGil());
}

}  // namespace memgauge::bindings
