#include "gpu/driver/compiler.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "gpu/driver/library.hpp"
#include "memgauge/error.hpp"

namespace memgauge::gpu {
namespace {

constexpr const char* remedy = "pip install 'memgauge[cuda]', or set CUDA_HOME to a toolkit's";

bool find_all(void* library, nvrtc::Calls& calls) {
    return find(library, "nvrtcGetErrorString", calls.error_string) &&
           find(library, "nvrtcVersion", calls.version) &&
           find(library, "nvrtcGetNumSupportedArchs", calls.arch_count) &&
           find(library, "nvrtcGetSupportedArchs", calls.archs) &&
           find(library, "nvrtcCreateProgram", calls.create) &&
           find(library, "nvrtcDestroyProgram", calls.destroy) &&
           find(library, "nvrtcCompileProgram", calls.compile) &&
           find(library, "nvrtcGetProgramLogSize", calls.log_bytes) &&
           find(library, "nvrtcGetProgramLog", calls.log) &&
           find(library, "nvrtcGetCUBINSize", calls.cubin_bytes) &&
           find(library, "nvrtcGetCUBIN", calls.cubin) &&
           find(library, "nvrtcGetPTXSize", calls.ptx_bytes) &&
           find(library, "nvrtcGetPTX", calls.ptx);
}

// NVRTC opens this by its plain name when it first compiles, and some packages of it (CUDA 13.0)
// say nowhere that it lies beside. What is loaded already is found by its name.
void load_builtins(const nvrtc::Calls& calls) {
    int major = 0;
    int minor = 0;
    Dl_info found{};
    if (calls.version(&major, &minor) != nvrtc::success ||
        dladdr(reinterpret_cast<void*>(calls.version), &found) == 0 || found.dli_fname == nullptr) {
        return;
    }
    const std::string file = found.dli_fname;
    const std::size_t slash = file.rfind('/');
    if (slash == std::string::npos) return;
    const std::string beside = file.substr(0, slash + 1) + "libnvrtc-builtins.so.";
    dlopen((beside + std::to_string(major) + "." + std::to_string(minor)).c_str(),
           RTLD_NOW | RTLD_LOCAL);
}

// A program, for as long as it is compiled and read.
class Program {
public:
    explicit Program(const nvrtc::Calls& calls) : calls_(calls) {}
    ~Program() { calls_.destroy(&handle); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    nvrtc::Program handle = nullptr;

private:
    const nvrtc::Calls& calls_;
};

// The first line of the log that reports an error, else the first.
std::string first_error(const std::string& log) {
    const std::size_t error = log.find("error");
    const std::size_t begin = error == std::string::npos ? 0 : log.rfind('\n', error) + 1;
    return log.substr(begin, std::min(log.find('\n', begin) - begin, std::size_t{300}));
}

}  // namespace

Compiler::Compiler(const std::string& file) : file_(file) {
    void* const library = loaded(file, "cannot load NVRTC, the compiler of GPU kernels", remedy);
    if (!find_all(library, calls_)) {
        throw RequestError(file + ": not NVRTC, or one older than CUDA 11.2; " + remedy);
    }
    load_builtins(calls_);
}

void Compiler::check(nvrtc::Result result, const char* call) const {
    if (result == nvrtc::success) return;
    throw SystemError(std::string(call) + " of " + file_ + ": " + calls_.error_string(result));
}

std::string Compiler::version() const {
    int major = 0;
    int minor = 0;
    check(calls_.version(&major, &minor), "nvrtcVersion");
    return std::to_string(major) + "." + std::to_string(minor);
}

std::vector<int> Compiler::archs() const {
    int count = 0;
    check(calls_.arch_count(&count), "nvrtcGetNumSupportedArchs");
    std::vector<int> known(static_cast<std::size_t>(std::max(count, 0)));
    if (!known.empty()) check(calls_.archs(known.data()), "nvrtcGetSupportedArchs");
    return known;
}

std::string Compiler::target(int arch) const {
    const std::vector<int> known = archs();
    if (std::ranges::find(known, arch) != known.end()) return "sm_" + std::to_string(arch);
    int newest = 0;
    for (const int one : known) {
        if (one < arch) newest = std::max(newest, one);
    }
    if (newest != 0) return "compute_" + std::to_string(newest);
    throw RequestError("NVRTC " + version() + " makes no code for GPUs of compute capability " +
                       std::to_string(arch / 10) + "." + std::to_string(arch % 10) +
                       "; install an NVRTC of an older CUDA");
}

Image Compiler::compile(const std::string& text, int arch) const {
    const std::string architecture = "--gpu-architecture=" + target(arch);
    const std::array<const char*, 3> options{architecture.c_str(), "--std=c++17", "--fmad=false"};
    Program program(calls_);
    check(calls_.create(&program.handle, text.c_str(), "memgauge.cu", 0, nullptr, nullptr),
          "nvrtcCreateProgram");
    const nvrtc::Result compiled =
        calls_.compile(program.handle, static_cast<int>(options.size()), options.data());
    if (compiled != nvrtc::success) {
        std::size_t bytes = 0;
        check(calls_.log_bytes(program.handle, &bytes), "nvrtcGetProgramLogSize");
        std::string log(std::max(bytes, std::size_t{1}), '\0');
        check(calls_.log(program.handle, log.data()), "nvrtcGetProgramLog");
        log.resize(std::min(log.find('\0'), log.size()));
        throw SystemError("cannot compile kernels for " + target(arch) + " with NVRTC " +
                          version() + ": " + calls_.error_string(compiled) + ": " +
                          first_error(log));
    }
    Image image;
    image.ptx = architecture.find("compute_") != std::string::npos;
    std::size_t bytes = 0;
    if (image.ptx) {
        check(calls_.ptx_bytes(program.handle, &bytes), "nvrtcGetPTXSize");
        image.bytes.resize(bytes);
        check(calls_.ptx(program.handle, image.bytes.data()), "nvrtcGetPTX");
    } else {
        check(calls_.cubin_bytes(program.handle, &bytes), "nvrtcGetCUBINSize");
        image.bytes.resize(bytes);
        check(calls_.cubin(program.handle, image.bytes.data()), "nvrtcGetCUBIN");
    }
    return image;
}

}  // namespace memgauge::gpu
