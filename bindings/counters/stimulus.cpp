#include "memgauge/counters/stimulus.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <utility>

#include "register.hpp"

namespace memgauge::bindings {
namespace {

// Called on a team's thread, and released on whichever drops the source last.
class PythonFunction {
public:
    explicit PythonFunction(nb::callable function)
        : function_(new nb::callable(std::move(function)), [](nb::callable* held) {
              const nb::gil_scoped_acquire gil;
              delete held;
          }) {}

    void operator()() const noexcept {
        const nb::gil_scoped_acquire gil;
        try {
            (*function_)();
        } catch (nb::python_error& error) {
            error.discard_as_unraisable("the stimulus of a counter reading");
        }
    }

private:
    std::shared_ptr<nb::callable> function_;
};

void init_stimulus(StimulusSource* self, nb::typed<nb::callable, void()> act) {
    new (self) StimulusSource(PythonFunction(std::move(act)));
}

}  // namespace

void register_stimulus(nb::module_& module) {
    final_class<StimulusSource, CounterSource>(
        module, "StimulusSource",
        "Without slots; calls `act` at every reading, on the reading thread.\n\n"
        "Placed first in a reader, what it causes in the reading after a region is counted in the "
        "region. What it raises is reported as unraisable.")
        .def("__init__", &init_stimulus, "act"_a);
}

}  // namespace memgauge::bindings
