#pragma once
// The text of kernels/*.cu, as it was when this was built.

#include <string_view>

namespace memgauge::gpu {

// Of one file, such as "stream.cu". Defined in what core/CMakeLists.txt generates.
std::string_view text_of(std::string_view file) noexcept;

}  // namespace memgauge::gpu
