#pragma once
// Numbers in small files of the kernel (sysfs, procfs, cgroup, resctrl, telemetry of devices),
// through descriptors that stay open: 0.9 us a file instead of 19 us for open, read and close.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "memgauge/counters/source.hpp"

namespace memgauge {

// Where in a file of lines a number stands. The line is the first that begins, after white space,
// with `row` and then white space or a colon: `eth0: 12 34`, `pgfault 12`, `Node 0 MemFree: 12 kB`.
struct NumberCell {
    std::string row;
    unsigned column = 0;  // 0: the first word after the row's name; unused where there is a field
    std::string field;    // `rbytes`: the word `rbytes=12` of the line
};

// Without cells and words the whole file is one number and gives one slot; else each gives one.
struct NumberFile {
    std::string path;
    std::vector<NumberCell> cells;
    // The file is binary: each is the offset in bytes of a little-endian word of 64 bits.
    // NOLINTNEXTLINE(readability-redundant-member-init): for those who leave it out
    std::vector<std::uint64_t> words{};
};

// A number is decimal or 0x and hexadecimal, below 2^63, with white space around it. Anything else
// is missing: text (`Unavailable`, `max`), a sign, a fraction, a line that is not there, a device
// or process that went away, text beyond the first 64 KiB of a file. A word from 2^63 on is missing
// too: a device that is gone or asleep reads as all ones.
//
// Slots: those of each file in order. All cells or words of a file come from one pass over it (one
// pread(2) where the kernel gives it in one piece). Reading takes what the kernel's handlers take.
//
// CounterRefused: a file cannot be opened; it carries the errno and which file, and names its path.
// RequestError: no file, a cell without a row, a file with both cells and words, or words that are
// more than 64 KiB apart.
std::unique_ptr<CounterSource> open_number_files(std::span<const NumberFile> files);

}  // namespace memgauge
