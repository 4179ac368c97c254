#pragma once
// Typed errors of the core. Every message is one line: what failed, on which object, why, and the
// next step. The bindings map each type to the Python class of the same name.

#include <cstddef>
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

// There is not enough memory or address space for the request; a smaller one may be met.
class DoesNotFit : public RequestError {
public:
    using RequestError::RequestError;
};

// The kernel did not open a counter. The message names the object and the errno's text; the reason
// and the remedy depend on what it is for, which the caller knows.
class CounterRefused : public RequestError {
public:
    // `index`: which of the things that were to be opened together.
    CounterRefused(const std::string& what, int error_number, std::size_t index);
    [[nodiscard]] int error_number() const noexcept { return error_number_; }
    [[nodiscard]] std::size_t index() const noexcept { return index_; }

private:
    int error_number_;
    std::size_t index_;
};

// The operating system or a device refused something that should have worked (exit code 1).
class SystemError : public Error {
public:
    SystemError(const std::string& what, int error_number);
    // Where the message says all: a device's or library's failure, which has no errno.
    explicit SystemError(const std::string& what) : Error(what), error_number_(0) {}
    [[nodiscard]] int error_number() const noexcept { return error_number_; }

private:
    int error_number_;
};

// A StopCheck found that the time which the caller has for a call is over.
class OutOfTime : public RequestError {
public:
    OutOfTime();
};

// A StopCheck returned true while a long call ran; whatever the call allocated is already freed.
class Interrupted : public Error {
public:
    Interrupted();
};

// Asked every few tens of milliseconds from the thread that entered the core, never from a worker.
// Returns true when the caller wants the call to end, or throws what the call is to end with. May
// be empty.
using StopCheck = std::function<bool()>;

}  // namespace memgauge
