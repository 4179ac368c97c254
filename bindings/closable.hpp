#pragma once
// Owns a native object that Python may close early, from any thread.

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "memgauge/error.hpp"
#include "register.hpp"

namespace memgauge::bindings {

template <class Native>
class Closable {
public:
    Closable(std::unique_ptr<Native> native, const char* name)
        : native_(std::move(native)), name_(name) {}

    // Calls `use(native)` for what never changes, whoever else uses it. std::runtime_error: closed.
    template <class Use>
    auto look(Use&& use) {
        return use(static_cast<const Native&>(*get()));
    }

    // Calls `use(native)`; one thread at a time. std::runtime_error (RuntimeError in Python):
    // closed, or in use by another thread.
    template <class Use>
    auto with(Use&& use) {
        const std::shared_ptr<Native> native = get();  // outlives a close() during the call
        const std::unique_lock turn(in_use_, std::try_to_lock);
        if (!turn) {
            throw std::runtime_error(std::string(name_) +
                                     " is in use by another call; wait for that to end");
        }
        return use(*native);
    }

    // Methods of the native object as functions for Python, by look() and by with(); one that asks
    // whether to stop is answered by Python's signals.
    template <class Result, class Of>
    static auto getter(Result (Of::*called)() const) {
        return [called](Closable& self) {
            return self.look([&](const Native& native) { return (native.*called)(); });
        };
    }
    template <class Result, class Of>
    static auto method(Result (Of::*called)() const) {
        return [called](Closable& self) {
            return self.with([&](const Native& native) { return (native.*called)(); });
        };
    }
    template <class Result, class Of, class... Arguments>
    static auto method(Result (Of::*called)(Arguments...)) {
        return [called](Closable& self, Arguments... arguments) {
            return self.with([&](Native& native) {
                return (native.*called)(std::forward<Arguments>(arguments)...);
            });
        };
    }
    template <class Result, class Of>
    static auto method(Result (Of::*called)(const StopCheck&)) {
        return [called](Closable& self) {
            return self.with([&](Native& native) { return (native.*called)(is_wished_to_stop); });
        };
    }
    template <class Result, class Of, class Argument>
    static auto method(Result (Of::*called)(Argument, const StopCheck&)) {
        return [called](Closable& self, Argument argument) {
            return self.with(
                [&](Native& native) { return (native.*called)(argument, is_wished_to_stop); });
        };
    }

    void close() {
        std::shared_ptr<Native> closed;
        {
            const std::lock_guard lock(handle_);
            closed.swap(native_);
        }
    }

private:
    std::shared_ptr<Native> get() {
        const std::lock_guard lock(handle_);
        if (!native_) {
            throw std::runtime_error(std::string(name_) + " is closed; make a new one");
        }
        return native_;
    }

    std::mutex handle_;  // guards native_ itself
    std::mutex in_use_;
    std::shared_ptr<Native> native_;
    const char* name_;
};

}  // namespace memgauge::bindings
