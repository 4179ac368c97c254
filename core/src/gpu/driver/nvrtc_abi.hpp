#pragma once
// The part of NVRTC, CUDA's run-time compiler, that is used, as its user guide documents it (CUDA
// 11.2 to 13).

#include <cstddef>

namespace memgauge::nvrtc {

using Result = int;                  // nvrtcResult
using Program = struct ProgramTag*;  // nvrtcProgram

inline constexpr Result success = 0;
inline constexpr Result compilation_failed = 6;  // NVRTC_ERROR_COMPILATION

struct Calls {
    const char* (*error_string)(Result) = nullptr;
    Result (*version)(int* major, int* minor) = nullptr;
    Result (*arch_count)(int*) = nullptr;
    Result (*archs)(int*) = nullptr;  // such as 90, ascending
    Result (*create)(Program*, const char* source, const char* name, int headers,
                     const char* const* header_texts, const char* const* header_names) = nullptr;
    Result (*destroy)(Program*) = nullptr;
    Result (*compile)(Program, int options, const char* const* option_texts) = nullptr;
    Result (*log_bytes)(Program, std::size_t*) = nullptr;
    Result (*log)(Program, char*) = nullptr;
    Result (*cubin_bytes)(Program, std::size_t*) = nullptr;
    Result (*cubin)(Program, char*) = nullptr;
    Result (*ptx_bytes)(Program, std::size_t*) = nullptr;
    Result (*ptx)(Program, char*) = nullptr;
};

}  // namespace memgauge::nvrtc
