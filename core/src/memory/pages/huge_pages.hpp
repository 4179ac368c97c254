#pragma once
// Which page sizes this machine can back memory with, and how many of them are to be had.

#include <cstddef>
#include <optional>
#include <string>

namespace memgauge::memory {

// The size of one transparent huge page; zero when the kernel has none.
std::size_t transparent_page_bytes();

// Why madvise(MADV_HUGEPAGE) would not be honoured, with the remedy; empty when it would.
std::optional<std::string> transparent_pages_obstacle();

// RequestError unless `bytes` are to be had in explicit pages of `page_bytes`, on `node` if given:
// names how many are needed, how many are free and how to get more.
void require_explicit_pages(std::size_t page_bytes, std::size_t bytes, std::optional<int> node);

// "3 GiB": the largest unit that divides it, for messages.
std::string size_text(std::size_t bytes);

}  // namespace memgauge::memory
