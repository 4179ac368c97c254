// Errors of the core become those of memgauge.model.errors, looked up when one is raised.

#include <exception>

#include "memgauge/error.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

void raise(const char* type, const std::exception& error) {
    nb::object errors =
        nb::steal(PyImport_ImportModule("memgauge.model.errors"));  // null: its error is set
    if (!errors.is_valid()) return;
    nb::object class_ = nb::steal(PyObject_GetAttrString(errors.ptr(), type));
    if (class_.is_valid()) PyErr_SetString(class_.ptr(), error.what());
}

void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const RequestError& error) {
        raise("RequestError", error);
    } catch (const SystemError& error) {
        raise("SystemFailure", error);
    } catch (const Interrupted&) {
        // signal_raised() left the handler's exception set.
        if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
}

}  // namespace

void register_errors() {
    nb::register_exception_translator(translate);
}

bool signal_raised() {
    const nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
}

}  // namespace memgauge::bindings
