#include "memgauge/counters/stimulus.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <utility>

#include "register.hpp"

namespace nb = nanobind;

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
    nb::class_<StimulusSource, CounterSource>(module, "StimulusSource", nb::is_final())
        .def("__init__", &init_stimulus, nb::arg("act"));
}

}  // namespace memgauge::bindings
