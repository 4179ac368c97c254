#pragma once
// Which STREAM kernels there are for a GPU. Their text is src/gpu/kernels/*.cu.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "memgauge/kernels.hpp"

namespace memgauge {

// How loads and stores treat the caches (PTX ISA, "Cache Operators"). normal: plain ones, through
// L1 and L2. streaming: ld.cs and st.cs, likely used once, evicted first. no_allocate: ld.cg and
// st.cg, in the L2 only.
enum class GpuHint : std::uint8_t { normal, streaming, no_allocate };
std::string_view to_string(GpuHint) noexcept;  // "default", "streaming", "no-allocate"
GpuHint gpu_hint_from_string(std::string_view);

// standard: one element per thread and as many threads as elements, as BabelStream's CUDA model and
// other simple STREAMs have it. tuned: each thread loads `unroll` vectors of 16 bytes before it
// stores any; a block's tile is threads * unroll vectors.
struct GpuKernelSpec {
    Operation operation = Operation::triad;
    ElementType element = ElementType::f64;
    Variant variant = Variant::standard;
    unsigned vector_bytes = 0;  // 0: what the variant has: one element, or 16
    unsigned unroll = 1;        // tuned: 1, 2, 4 or 8
    GpuHint hint = GpuHint::normal;
    unsigned threads_per_block = 256;        // a multiple of 32, 64 to 1024
    unsigned blocks_per_multiprocessor = 0;  // tuned: 0: one block for each tile; up to 32

    bool operator==(const GpuKernelSpec&) const = default;
};

// The spec with 0 replaced in vector_bytes. RequestError: there is no such kernel.
GpuKernelSpec checked(const GpuKernelSpec& asked);
// What a search tries, a few dozen.
std::vector<GpuKernelSpec> gpu_tuned_specs(Operation operation, ElementType element);
// Where nothing was searched; see src/gpu/kernel_spec.cpp for why.
GpuKernelSpec gpu_default_tuned_spec(Operation operation, ElementType element);
// Bytes per element. Nothing is read for what is written: the L2 keeps sectors of 32 bytes, and all
// that is stored here is whole sectors.
ElementTraffic traffic(const GpuKernelSpec& spec) noexcept;

}  // namespace memgauge
