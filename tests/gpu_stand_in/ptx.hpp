#pragma once
// Inline PTX in a kernel's source, made into C++.

#include <string>
#include <vector>

namespace stand_in {

// The source with each asm statement of a kind that is known (ld, st, mov of a special register,
// fences, hints) replaced; std::runtime_error names another.
std::string without_ptx(const std::string& source);
// The kernels of a preprocessed source, in order: what stands before their parameters.
std::vector<std::string> kernels_of(const std::string& source);

}  // namespace stand_in
