// Errors of the core become those of memgauge.model.errors, looked up when one is raised.

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>

#include "memgauge/error.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

// Null: its Python error is set.
nb::object class_of(const char* type) {
    nb::object errors = nb::steal(PyImport_ImportModule("memgauge.model.errors"));
    if (!errors.is_valid()) return {};
    return nb::steal(PyObject_GetAttrString(errors.ptr(), type));
}

void raise(const char* type, const std::exception& error) {
    nb::object class_ = class_of(type);
    if (class_.is_valid()) PyErr_SetString(class_.ptr(), error.what());
}

void raise(const CounterRefused& error) {
    nb::object class_ = class_of("CounterRefused");
    if (!class_.is_valid()) return;
    nb::object instance = class_(error.what());
    instance.attr("error_number") = error.error_number();
    instance.attr("event_index") = error.index();
    PyErr_SetObject(class_.ptr(), instance.ptr());
}

// When long calls of this thread end, which alone asks: the runner's, and no other thread's.
constexpr double most_seconds = 1e9;
thread_local std::optional<std::chrono::steady_clock::time_point> end_of_calls;

void end_long_calls_in(std::optional<double> seconds) {
    if (!seconds) {
        end_of_calls.reset();
        return;
    }
    const std::chrono::duration<double> left(std::clamp(*seconds, 0.0, most_seconds));
    end_of_calls = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(left);
}

void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const CounterRefused& error) {
        raise(error);
    } catch (const DoesNotFit& error) {
        raise("DoesNotFit", error);
    } catch (const OutOfTime& error) {
        raise("OutOfTime", error);
    } catch (const RequestError& error) {
        raise("RequestError", error);
    } catch (const SystemError& error) {
        raise("SystemFailure", error);
    } catch (const Interrupted&) {
        // is_wished_to_stop() left the handler's exception set.
        if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
}

}  // namespace

void register_errors(nb::module_& module) {
    nb::register_exception_translator(translate);
    module.def("end_long_calls_in", end_long_calls_in, "seconds"_a.none(),
               "End the calls of this thread that look for signals after so many seconds from now, "
               "with OutOfTime; None: no longer.");
}

bool is_wished_to_stop() {
    if (end_of_calls && std::chrono::steady_clock::now() >= *end_of_calls) throw OutOfTime();
    const nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
}

}  // namespace memgauge::bindings
