#pragma once
// Typed errors of the core. Every message is one line: what failed, on which object, why, and the
// next step. The bindings map each type to the Python class of the same name.

#include <functional>
#include <stdexcept>
#include <string>

namespace memgauge {

class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The request cannot be met on this machine: bad input or a missing resource (exit code 2).
class RequestError : public Error {
public:
    using Error::Error;
};

// The operating system refused something that should have worked (exit code 1).
class SystemError : public Error {
public:
    SystemError(const std::string& what, int error_number);
    [[nodiscard]] int error_number() const noexcept { return error_number_; }

private:
    int error_number_;
};

// A StopCheck returned true while a long call ran; whatever the call allocated is already freed.
class Interrupted : public Error {
public:
    Interrupted();
};

// Asked every few tens of milliseconds from the thread that entered the core, never from a worker.
// Returns true when the caller wants the call to end. May be empty.
using StopCheck = std::function<bool()>;

}  // namespace memgauge
