#pragma once
// Entry points of shared libraries that are loaded at run time.

#include <dlfcn.h>

namespace memgauge {

// False: the library has no entry point of that name.
template <typename Call>
bool find(void* library, const char* name, Call*& into) {
    // NOLINTNEXTLINE(bugprone-casting-through-void): how dlsym gives functions
    into = reinterpret_cast<Call*>(dlsym(library, name));
    return into != nullptr;
}

}  // namespace memgauge
