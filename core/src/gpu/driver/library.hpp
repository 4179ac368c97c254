#pragma once
// Shared libraries of the driver, loaded at run time.

#include <dlfcn.h>

#include <string>

#include "memgauge/error.hpp"
#include "shared_library.hpp"

namespace memgauge::gpu {

// Where containers and virtual machines are given the driver, known to the dynamic loader or not.
inline constexpr const char* given_driver = "/usr/local/nvidia/lib64/";

// Never unloaded: the driver's libraries keep threads and handlers of their own. Null: `why` says
// why.
inline void* opened(const std::string& file, std::string& why) {
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
    const char* const said = dlerror();
    why = said == nullptr ? file : said;
    if (file.find('/') != std::string::npos) return nullptr;
    return dlopen((given_driver + file).c_str(), RTLD_NOW | RTLD_LOCAL);
}

// RequestError beginning with `what`, with `remedy` at its end.
inline void* loaded(const std::string& file, const std::string& what, const std::string& remedy) {
    std::string why;
    void* const library = opened(file, why);
    if (library != nullptr) return library;
    throw RequestError(what + ": " + why + "; " + remedy);
}

}  // namespace memgauge::gpu
