#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "memgauge/counters/source.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

using Values = nb::typed<nb::list, std::optional<std::uint64_t>>;

Values values(const Reading& reading) {
    nb::list list;
    for (std::size_t slot = 0; slot < reading.values.size(); ++slot) {
        if (reading.present[slot] != 0) {
            list.append(reading.values[slot]);
        } else {
            list.append(nb::none());
        }
    }
    return nb::borrow<Values>(list);
}

Reading read(Reader& reader) {
    Reading reading = reader.make_reading();
    reader.read(reading);
    return reading;
}

}  // namespace

void register_counters(nb::module_& module) {
    nb::class_<CounterSource>(module, "CounterSource").def_prop_ro("slots", &CounterSource::slots);
    nb::class_<Reading>(module, "Reading", nb::is_final())
        .def_prop_ro("begin_ns",
                     [](const Reading& taken) { return Clock::instance().to_ns(taken.begin); })
        .def_prop_ro("end_ns",
                     [](const Reading& taken) { return Clock::instance().to_ns(taken.end); })
        .def_prop_ro("values", &values);
    nb::class_<Reader>(module, "Reader", nb::is_final())
        .def(nb::init<std::vector<std::shared_ptr<CounterSource>>>(), nb::arg("sources"))
        .def_prop_ro("slots", &Reader::slots)
        .def("read", &read, ReleaseGil());
}

}  // namespace memgauge::bindings
