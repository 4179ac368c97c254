#pragma once
// Space of a file system for a file, taken before it is used. All of it throws RequestError that
// begins with `what` and says how much there is.

#include <cstddef>
#include <string>

#include "memgauge/buffer.hpp"

namespace memgauge::memory {

// Takes space for the bytes from `begin` to `end` of a file that ends at or before `begin`, or has
// them already. What was taken of it goes back when it throws.
void take_space(const std::string& what, int descriptor, std::size_t begin, std::size_t end);

// Makes the file at least that long; takes no space.
void lengthen(const std::string& what, int descriptor, std::size_t end);

void require_free(const std::string& what, int descriptor, std::size_t bytes);

// Makes every page of a mapping of the file exist.
void populate(const std::string& what, int descriptor, const MappedPages& range);

}  // namespace memgauge::memory
