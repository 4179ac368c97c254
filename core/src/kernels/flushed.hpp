#pragma once
// Flushed stores: what was written is written back to memory line by line, without leaving the
// caches, and then waited for: how stores are made durable where caches lose their contents with
// the power. The sequence is Intel's for persistent memory (SDM volume 1, 11.4.5; CLWB), Arm's with
// DC CVAP (Arm ARM, D7.4.4) and POWER's with dcbstps and phwsync (Power ISA 3.1, II 4.3.2).

#include <cstddef>
#include <optional>

#include "memgauge/kernels.hpp"

namespace memgauge::kernels {

// Which of the arrays a, b, c the operation writes.
std::optional<std::size_t> written_array(Operation operation) noexcept;

// How much from this address on to write before writing it back: as much as surely is in the first
// level still, up to a boundary of whole lines.
std::size_t before_flush_bytes(const std::byte* address) noexcept;

// Every line that holds some of these bytes.
void write_back(const std::byte* begin, std::size_t bytes) noexcept;
// Returns when all that was written back before has arrived.
void finish_write_backs() noexcept;

}  // namespace memgauge::kernels
