#pragma once
// The loaded CUDA driver, and what its results mean to a user.

#include <cstddef>
#include <string>

#include "gpu/driver/cuda_abi.hpp"

namespace memgauge::cuda {

// Loads the library and looks up its entry points. RequestError: not found, or not CUDA's.
[[nodiscard]] Calls load(const std::string& file);

// What the driver calls a result, in its own words and by its name: "out of memory
// (CUDA_ERROR_OUT_OF_MEMORY)".
[[nodiscard]] std::string text(const Calls& calls, Result result);

// Throws for a call that gave `result`: RequestError or SystemError, whose one line says on which
// object (such as "cuda:0"; empty: none), what and what to do next.
[[noreturn]] void fail(const Calls& calls, Result result, const std::string& call,
                       const std::string& object);

inline void check(const Calls& calls, Result result, const char* call, const std::string& object) {
    if (result != success) fail(calls, result, call, object);
}

}  // namespace memgauge::cuda
