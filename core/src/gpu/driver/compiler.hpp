#pragma once
// NVRTC: CUDA C++ to what the driver loads.

#include <string>
#include <vector>

#include "gpu/driver/nvrtc_abi.hpp"

namespace memgauge::gpu {

// What the driver loads: machine code of one architecture (a cubin), or PTX, which it compiles.
struct Image {
    std::vector<char> bytes;
    bool ptx = false;
};

class Compiler {
public:
    // RequestError: not found, or not NVRTC.
    explicit Compiler(const std::string& file);

    [[nodiscard]] std::string version() const;  // "13.0"
    // For a device of compute capability `arch` / 10. PTX of the newest architecture below it where
    // this compiler is older than the chip. No fused multiply-add: results are to be the same as
    // the host's replay of them. RequestError: the chip is older than all it knows; SystemError: it
    // does not compile, which is our fault.
    [[nodiscard]] Image compile(const std::string& text, int arch) const;

private:
    [[nodiscard]] std::vector<int> archs() const;
    [[nodiscard]] std::string target(int arch) const;
    void check(nvrtc::Result result, const char* call) const;

    std::string file_;
    nvrtc::Calls calls_;
};

}  // namespace memgauge::gpu
