#pragma once
// Shared libraries of the driver, loaded at run time.

#include <dlfcn.h>

#include <string>

#include "memgauge/error.hpp"

namespace memgauge::gpu {

// Never unloaded: the driver's libraries keep threads and handlers of their own. RequestError
// beginning with `what`, with `remedy` at its end.
inline void* loaded(const std::string& file, const std::string& what, const std::string& remedy) {
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
    const char* const why = dlerror();
    throw RequestError(what + ": " + (why == nullptr ? file : std::string(why)) + "; " + remedy);
}

// False: the library has no entry point of that name.
template <typename Call>
bool find(void* library, const char* name, Call*& into) {
    // NOLINTNEXTLINE(bugprone-casting-through-void): how dlsym gives functions
    into = reinterpret_cast<Call*>(dlsym(library, name));
    return into != nullptr;
}

}  // namespace memgauge::gpu
