// Which kernels this process can run, and where they are.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernels/processor.hpp"
#include "kernels/table.hpp"
#include "kernels/translated.hpp"

namespace memgauge {

namespace {

using kernels::KernelTable;
using kernels::Slot;

std::size_t position(const Slot& slot) noexcept {
    std::size_t index = slot.operation;
    index = index * kernels::element_count + slot.element;
    index = index * kernels::store_count + slot.store;
    index = index * kernels::width_count + slot.log_unroll;
    index = index * kernels::width_count + slot.log_streams;
    return index * kernels::prefetch_count + slot.prefetch;
}

// 1, 2 and 4 as 0, 1 and 2.
std::optional<std::size_t> log_width(unsigned width) noexcept {
    if (width != 1 && width != 2 && width != 4) return std::nullopt;
    return static_cast<std::size_t>(std::countr_zero(width));
}

bool prefetches_far_only(const KernelSpec& spec) noexcept {
    return spec.prefetch_far_bytes > 0 && spec.prefetch_near_bytes == 0;
}

KernelFunction tuned_kernel(const KernelSpec& spec) noexcept {
    const auto unroll = log_width(spec.unroll);
    const auto streams = log_width(spec.streams);
    const KernelTable* const table = kernels::table_of(spec.isa);
    if (!unroll || !streams || table == nullptr) return nullptr;
    if (prefetches_far_only(spec)) return nullptr;
    if (spec.store == StoreKind::non_temporal && !kernels::can_stream(spec.isa)) return nullptr;
    // Lines are written back around the kernel, see flushed.cpp.
    const StoreKind store = spec.store == StoreKind::flushed ? StoreKind::temporal : spec.store;
    const std::size_t prefetch =
        (spec.prefetch_near_bytes > 0 ? 1U : 0U) + (spec.prefetch_far_bytes > 0 ? 1U : 0U);
    return table->functions[position(
        {static_cast<std::size_t>(spec.operation), static_cast<std::size_t>(spec.element),
         static_cast<std::size_t>(store), *unroll, *streams, prefetch})];
}

bool runs_here(Isa isa) {
    const std::vector<Isa> isas = supported_isas();
    return std::ranges::find(isas, isa) != isas.end();
}

std::string joined(const std::vector<Isa>& isas) {
    std::string names;
    for (const Isa isa : isas) names.append(names.empty() ? "" : ", ").append(to_string(isa));
    return names;
}

std::string description(const KernelSpec& spec) {
    std::string text{to_string(spec.operation)};
    text.append(" (").append(to_string(spec.element)).append(", ").append(to_string(spec.isa));
    text.append(", ").append(to_string(spec.store)).append(" stores, unroll ");
    text.append(std::to_string(spec.unroll)).append(", ").append(std::to_string(spec.streams));
    text.append(" streams");
    if (spec.prefetch_near_bytes > 0) text.append(", prefetch near");
    if (spec.prefetch_far_bytes > 0) text.append(" and far");
    return text.append(")");
}

KernelFunction standard_kernel(const KernelSpec& spec) {
    const kernels::StandardTable* const table = kernels::standard_table_of(spec.isa);
    if (table == nullptr) {
        throw RequestError("cannot run kernel " + description(spec) +
                           ": this processor has plain loops for " + joined(standard_isas()));
    }
    return table->functions[static_cast<std::size_t>(spec.operation)]
                           [static_cast<std::size_t>(spec.element)];
}

// Every combination there could be, whether it was compiled or not.
std::vector<KernelSpec> tuned_shapes(Operation operation, ElementType element) {
    std::vector<KernelSpec> shapes;
    for (const Isa isa : supported_isas()) {
        for (const StoreKind store : {StoreKind::non_temporal, StoreKind::temporal}) {
            for (const unsigned unroll : {4U, 2U, 1U}) {
                for (const unsigned streams : {1U, 2U, 4U}) {
                    shapes.push_back({.operation = operation,
                                      .element = element,
                                      .variant = Variant::tuned,
                                      .isa = isa,
                                      .store = store,
                                      .unroll = unroll,
                                      .streams = streams});
                }
            }
        }
    }
    return shapes;
}

}  // namespace

std::vector<Isa> supported_isas() {
    std::vector<Isa> isas;
    for (const Isa isa : {Isa::avx2, Isa::avx512, Isa::sse2, Isa::neon, Isa::vsx, Isa::generic}) {
        if (kernels::table_of(isa) != nullptr && kernels::processor_has(isa)) isas.push_back(isa);
    }
    return isas;
}

std::vector<Isa> standard_isas() {
    std::vector<Isa> isas{standard_isa()};
    for (const Isa isa : supported_isas()) {
        if (isa != isas.front() && kernels::standard_table_of(isa) != nullptr) isas.push_back(isa);
    }
    return isas;
}

KernelFunction find_kernel(const KernelSpec& spec) {
    if (spec.access != Access::direct) {
        if (spec.variant != Variant::standard) {
            throw RequestError("cannot translate the address of every element in kernel " +
                               description(spec) +
                               ": vectors have no such thing; take the standard variant");
        }
        return kernels::translated_kernel(spec.operation, spec.element, spec.access);
    }
    if (spec.variant == Variant::standard) return standard_kernel(spec);
    if (prefetches_far_only(spec)) {
        throw RequestError("cannot prefetch far without near for kernel " + description(spec) +
                           ": give a near distance too");
    }
    if (!runs_here(spec.isa)) {
        throw RequestError("cannot run kernel " + description(spec) + ": this processor has only " +
                           joined(supported_isas()));
    }
    const KernelFunction function = tuned_kernel(spec);
    if (function == nullptr) {
        throw RequestError("no such kernel: " + description(spec) +
                           "; take one of those that tuned_specs lists");
    }
    return function;
}

std::vector<KernelSpec> tuned_specs(Operation operation, ElementType element,
                                    const std::vector<PrefetchDistances>& distances) {
    std::vector<KernelSpec> specs;
    for (KernelSpec spec : tuned_shapes(operation, element)) {
        for (const PrefetchDistances& distance : distances) {
            spec.prefetch_near_bytes = distance.near_bytes;
            spec.prefetch_far_bytes = distance.far_bytes;
            if (tuned_kernel(spec) != nullptr) specs.push_back(spec);
        }
    }
    return specs;
}

// Stores: AVX2 before AVX-512. 256-bit non-temporal stores are 7-15% faster than 512-bit ones on
// Zen 4 and as fast on Zen 5. Two sub-streams of one line each: against one, on Zen 5, +7% for copy
// and scale, -1% for add and triad; on Zen 4 +4% for triad. Four cost triad 10% (twelve address
// streams). An update reads its destination anyway, so that a non-temporal store saves nothing and
// loses the cached line. Prefetch is left to the search: on Zen 4 it won up to 5%, on Zen 5 it
// costs these shapes 2-8%.
//
// Reads: the widest loads. From memory they equal AVX2's, from the first level they are twice as
// fast (390 against 210 GB/s on Zen 5). Two sub-streams are 2-7% faster than one from memory.
//
// On Arm and POWER the same shapes are assumed, not measured.
KernelSpec default_tuned_spec(Operation operation, ElementType element) {
    const std::vector<KernelSpec> specs = tuned_specs(operation, element);
    const auto preference = [operation](const KernelSpec& spec) {
        const bool reads = operation == Operation::read;
        const bool streams_stores = spec.store == StoreKind::non_temporal;
        const bool wants_streaming = operation != Operation::update && !reads;
        const unsigned streams = wants_streaming || reads ? 2 : 1;
        return std::array{reads == (spec.isa == Isa::avx512), streams_stores == wants_streaming,
                          spec.streams == streams, spec.unroll == (wants_streaming ? 2U : 4U)};
    };
    return *std::ranges::max_element(specs, {}, preference);
}

}  // namespace memgauge
