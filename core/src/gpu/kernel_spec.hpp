#pragma once
// From what a kernel is to be, to its name and the line that instantiates it.

#include <cstdint>
#include <string>

#include "gpu/device.hpp"
#include "memgauge/gpu/kernels.hpp"

namespace memgauge::gpu {

// `extern "C"` makes the name plain, for cuModuleGetFunction.
std::string kernel_line(const std::string& name, unsigned threads, const std::string& parameters,
                        const std::string& body);
const char* hint_text(GpuHint hint) noexcept;  // as kernels/access.cu has it

// In the text of stream.cu; `spec` is a checked() one.
KernelText text_of_spec(const GpuKernelSpec& spec);
// Blocks of a launch over so many elements.
std::uint64_t blocks_of(const GpuKernelSpec& spec, std::uint64_t elements,
                        unsigned multiprocessors) noexcept;

}  // namespace memgauge::gpu
