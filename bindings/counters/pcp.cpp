#include "memgauge/counters/pcp.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memgauge/names.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

constexpr Names<7> type_names{"i32", "u32", "i64", "u64", "f32", "f64", "other"};

void register_pcp_answers(nb::module_& module) {
    final_class<PcpInstance>(module, "PcpInstance")
        .def_ro("name", &PcpInstance::name, "Empty: the metric has one value and no instances.")
        .def_ro("available", &PcpInstance::available, "It had a value when asked.");
    final_class<PcpMetric>(module, "PcpMetric")
        .def_ro("name", &PcpMetric::name)
        .def_ro("error", &PcpMetric::error, "Why nothing is known of it; empty: the rest is valid.")
        .def_prop_ro(
            "type", [](const PcpMetric& metric) { return name_of(type_names, metric.type); },
            "One of i32, u32, i64, u64, f32, f64, other.")
        .def_ro("counts", &PcpMetric::counts, "It only grows; else it is a level.")
        .def_ro("space", &PcpMetric::space, "Exponent of bytes in its unit.")
        .def_ro("time", &PcpMetric::time, "Exponent of seconds.")
        .def_ro("count", &PcpMetric::count, "Exponent of counts.")
        .def_ro("space_scale", &PcpMetric::space_scale,
                "Power of 1024 that its bytes are scaled by.")
        .def_ro("time_scale", &PcpMetric::time_scale, "Place of its time in ns, us, ms, s, min, h.")
        .def_ro("count_scale", &PcpMetric::count_scale, "Power of 10 of its counts.")
        .def_ro("instances", &PcpMetric::instances)
        .def_ro("no_value", &PcpMetric::no_value,
                "Why it has no value, where it has none, in the library's words.");
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
    register_pcp_answers(module);
    final_class<PcpLibrary>(
        module, "PcpLibrary",
        "The client library of Performance Co-Pilot: the first of `files` that can be loaded.\n\n"
        "It bounds each answer it waits for by 1 s, unless PMCD_REQUEST_TIMEOUT and "
        "PMCD_CONNECT_TIMEOUT say otherwise. Raises RequestError: no library, or its "
        "configuration, without which it would end the process, cannot be read.")
        .def(nb::init<const std::vector<std::string>&>(), "files"_a, ReleaseGil())
        .def_prop_ro("file", &PcpLibrary::file, "The name it was found by.");
    final_class<PcpDirectory>(module, "PcpDirectory",
                              "What can be asked of a daemon. Raises RequestError: no connection.")
        .def(nb::init<std::shared_ptr<const PcpLibrary>, std::string>(), "library"_a, "host"_a,
             ReleaseGil())
        .def("host_name", &PcpDirectory::host_name, ReleaseGil(),
             "The name of the machine whose metrics these are; empty: not known.")
        .def("names", &PcpDirectory::names, "below"_a, ReleaseGil(),
             "All metrics at or below a name.")
        .def("describe", &PcpDirectory::describe, "names"_a, ReleaseGil(),
             "One for each name, in their order.");
    final_class<PcpColumn>(
        module, "PcpColumn",
        "One value to read.\n\n"
        "`fraction_bits`: what is no integer is kept in parts of 2^-bits. `counts`: a lower value "
        "than before is of a new generation. `duty`: the column of its share of time; at zero "
        "there is no value. `gated`: no value while the source's gate is zero.")
        .def("__init__", &make_column, "metric"_a, "instance"_a, "counts"_a,
             "fraction_bits"_a = nb::none(), "duty"_a = nb::none(), "gated"_a = false);
    final_class<PcpSource, CounterSource>(
        module, "PcpSource",
        "Slot 0 is the generation, then one for each column; each reading is one fetch.\n\n"
        "A lost connection is made again in the background. Between values of two generations "
        "there is always a missing one. Raises RequestError: no connection, or none of the columns "
        "exists.")
        .def("__init__", &make_source, "library"_a, "host"_a, "columns"_a, "gate"_a = "",
             ReleaseGil());
}

}  // namespace memgauge::bindings
