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
    nb::class_<CounterSource>(
        module, "CounterSource",
        "What can be read at once: a group of a PMU, kept-open files, a daemon's answer.")
        .def_prop_ro("slots", &CounterSource::slots);
    final_class<Reading>(module, "Reading")
        .def_prop_ro(
            "begin_ns", [](const Reading& taken) { return Clock::instance().to_ns(taken.begin); },
            "Before the first source was read, on the clock of all stamps.")
        .def_prop_ro("end_ns",
                     [](const Reading& taken) { return Clock::instance().to_ns(taken.end); })
        .def_prop_ro("values", &values,
                     "Raw value of each slot, no scale applied; None: could not be read.");
    final_class<Reader>(module, "Reader")
        .def(nb::init<std::vector<std::shared_ptr<CounterSource>>>(), "sources"_a,
             "Sources read one after the other, their slots in that order.\n\n"
             "Raises RequestError: no source, or one listed twice.")
        .def_prop_ro("slots", &Reader::slots)
        .def("read", &read, ReleaseGil());
}

}  // namespace memgauge::bindings
