#pragma once
// What one instruction-set file gives to the dispatcher: a dense table of functions, null where a
// combination was not compiled. Included by files built with wider instruction sets, so it holds
// nothing that could be emitted as code there.

#include <cstddef>

#include "kernels/traffic_table.hpp"
#include "memgauge/kernels.hpp"

namespace memgauge::kernels {

inline constexpr std::size_t operation_count = 7;
inline constexpr std::size_t element_count = 2;
inline constexpr std::size_t store_count = 2;
inline constexpr std::size_t width_count = 3;     // unroll and streams: 1, 2 or 4, kept as log2
inline constexpr std::size_t prefetch_count = 3;  // none, near, near and far
inline constexpr std::size_t table_size =
    operation_count * element_count * store_count * width_count * width_count * prefetch_count;

// Position of a kernel in a table, as mixed-radix digits.
struct Slot {
    std::size_t operation;
    std::size_t element;
    std::size_t store;
    std::size_t log_unroll;
    std::size_t log_streams;
    std::size_t prefetch;
};

struct KernelTable {
    Isa isa;
    const KernelFunction* functions;  // table_size of them
    const TrafficTable* traffic;
};

// Defined by isa_<name>.cpp where the target processor has that instruction set.
extern const KernelTable generic_table;
extern const KernelTable sse2_table;
extern const KernelTable avx2_table;
extern const KernelTable avx512_table;
extern const KernelTable neon_table;
extern const KernelTable vsx_table;

// The plain loops, compiled as STREAM is, for one instruction set.
struct StandardTable {
    KernelFunction functions[operation_count][element_count];
};

// Defined by standard/standard_<name>.cpp where the target processor has that instruction set.
extern const StandardTable standard_baseline_table;
extern const StandardTable standard_avx2_table;
extern const StandardTable standard_avx512_table;

}  // namespace memgauge::kernels
