// Errors of the core become those of memgauge.model.errors, looked up when one is raised.

#include <exception>

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

void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const CounterRefused& error) {
        raise(error);
    } catch (const DoesNotFit& error) {
        raise("DoesNotFit", error);
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
