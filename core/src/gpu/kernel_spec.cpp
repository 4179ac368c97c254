#include "gpu/kernel_spec.hpp"

#include <array>
#include <string>

#include "memgauge/gpu/kernels.hpp"
#include "memgauge/names.hpp"

namespace memgauge {
namespace {

constexpr unsigned whole_vector_bytes = 16;
constexpr unsigned most_resident_blocks = 32;  // that a multiprocessor holds
// Registers of a block bound how many vectors it can hold: more would be spilled to memory, which
// nobody would count.
constexpr unsigned most_vectors_per_tile = 4096;

bool is_power_of_two_up_to(unsigned value, unsigned most) noexcept {
    return value != 0 && value <= most && (value & (value - 1)) == 0;
}

[[noreturn]] void refuse(const std::string& what) {
    throw RequestError("no such GPU kernel: " + what);
}

void check_standard(const GpuKernelSpec& spec) {
    if (spec.unroll != 1 || spec.hint != GpuHint::normal || spec.blocks_per_multiprocessor != 0 ||
        spec.vector_bytes != element_bytes(spec.element)) {
        refuse("a standard one has one element per thread and no hint; choose variant tuned");
    }
}

void check_tuned(const GpuKernelSpec& spec) {
    if (spec.vector_bytes != whole_vector_bytes) refuse("a tuned one has vectors of 16 bytes");
    if (!is_power_of_two_up_to(spec.unroll, 8)) {
        refuse("an unroll of " + std::to_string(spec.unroll) + "; choose 1, 2, 4 or 8");
    }
    if (spec.blocks_per_multiprocessor > most_resident_blocks) {
        refuse(std::to_string(spec.blocks_per_multiprocessor) +
               " blocks for a multiprocessor; it holds 32 at most");
    }
    if (spec.threads_per_block * spec.unroll > most_vectors_per_tile) {
        refuse(std::to_string(spec.threads_per_block) + " threads with " +
               std::to_string(spec.unroll) +
               " vectors each need more registers than there are; choose fewer of either");
    }
}

constexpr Names<3> hint_names{"default", "streaming", "no-allocate"};

}  // namespace

std::string_view to_string(GpuHint hint) noexcept {
    return name_of(hint_names, hint);
}

GpuHint gpu_hint_from_string(std::string_view name) {
    return value_of<GpuHint>(hint_names, "hint", name);
}

GpuKernelSpec checked(const GpuKernelSpec& asked) {
    GpuKernelSpec spec = asked;
    const bool standard = spec.variant == Variant::standard;
    if (spec.vector_bytes == 0) {
        spec.vector_bytes =
            standard ? static_cast<unsigned>(element_bytes(spec.element)) : whole_vector_bytes;
    }
    if (spec.threads_per_block < 64 || !is_power_of_two_up_to(spec.threads_per_block, 1024)) {
        refuse("blocks of " + std::to_string(spec.threads_per_block) +
               " threads; choose 64, 128, 256, 512 or 1024");
    }
    standard ? check_standard(spec) : check_tuned(spec);
    return spec;
}

// Bytes have to be under way all the time (Little's law): an H100 moves 3.35 TB/s with some 0.7 us
// between a load and its data, which is 2.3 MB, or 18 kB on each of 132 multiprocessors; an H200
// 25 kB, an A100 12 kB. A thread that loads 64 bytes before it stores any needs some 40 registers,
// so that 1536 threads fit and hold 98 kB. What goes beyond costs registers and gains nothing, so
// that the search tries it and the default does not. One block for each tile: a multiprocessor that
// is done takes the next, and none waits at the end. From documents, not from a measurement.
GpuKernelSpec gpu_default_tuned_spec(Operation operation, ElementType element) {
    const bool two_sources = operation == Operation::add || operation == Operation::triad ||
                             operation == Operation::update;
    return checked({.operation = operation,
                    .element = element,
                    .variant = Variant::tuned,
                    .unroll = two_sources ? 2U : 4U,
                    .threads_per_block = 512});
}

std::vector<GpuKernelSpec> gpu_tuned_specs(Operation operation, ElementType element) {
    GpuKernelSpec spec{.operation = operation, .element = element, .variant = Variant::tuned};
    std::vector<GpuKernelSpec> specs;
    const auto add = [&](unsigned threads, unsigned unroll, unsigned blocks, GpuHint hint) {
        spec.threads_per_block = threads;
        spec.unroll = unroll;
        spec.blocks_per_multiprocessor = blocks;
        spec.hint = hint;
        specs.push_back(checked(spec));
    };
    for (const unsigned threads : {128U, 256U, 512U, 1024U}) {
        for (const unsigned unroll : {1U, 2U, 4U, 8U}) {
            if (threads * unroll > most_vectors_per_tile) continue;
            add(threads, unroll, 0, GpuHint::normal);
            add(threads, unroll, 0, GpuHint::streaming);
        }
    }
    for (const unsigned threads : {256U, 1024U}) {
        for (const unsigned unroll : {1U, 2U, 4U}) add(threads, unroll, 0, GpuHint::no_allocate);
    }
    for (const unsigned threads : {256U, 512U, 1024U}) {
        const unsigned resident = 2048 / threads;  // blocks that fill a multiprocessor
        for (const unsigned unroll : {1U, 2U, 4U}) {
            add(threads, unroll, resident, GpuHint::normal);
            add(threads, unroll, resident, GpuHint::streaming);
        }
    }
    return specs;
}

ElementTraffic traffic(const GpuKernelSpec& spec) noexcept {
    const auto bytes = static_cast<unsigned>(element_bytes(spec.element));
    switch (spec.operation) {
        case Operation::copy:
        case Operation::scale:
            return {bytes, bytes, 0};
        case Operation::add:
        case Operation::triad:
        case Operation::update:
            return {2 * bytes, bytes, 0};
        case Operation::read:
            return {bytes, 0, 0};
        case Operation::write:
            return {0, bytes, 0};
    }
    return {0, 0, 0};
}

namespace gpu {
namespace {

const char* functor(Operation operation) noexcept {
    switch (operation) {
        case Operation::copy:
            return "Copy";
        case Operation::scale:
            return "Scale";
        case Operation::add:
            return "Add";
        case Operation::triad:
        case Operation::update:
            return "Triad";
        case Operation::read:
            return "Read";
        case Operation::write:
            return "Write";
    }
    return "";
}

const char* hint_name(GpuHint hint) noexcept {
    switch (hint) {
        case GpuHint::normal:
            return "as_usual";
        case GpuHint::streaming:
            return "streaming";
        case GpuHint::no_allocate:
            return "no_allocate";
    }
    return "";
}

std::string body(const GpuKernelSpec& spec) {
    const bool read = spec.operation == Operation::read;
    const std::string arguments = read ? "(x, out, count, s)" : "(x, y, out, count, s, first)";
    const std::string type(to_string(spec.element));
    if (spec.variant == Variant::standard) {
        if (read) return "standard_read<" + type + ">" + arguments;
        return std::string("standard<") + functor(spec.operation) + ", " + type + ">" + arguments;
    }
    const std::string shape = type + ", " + hint_name(spec.hint) + ", " +
                              std::to_string(spec.unroll) + ", " +
                              std::to_string(spec.threads_per_block) + ">";
    if (read) return "tuned_read<" + shape + arguments;
    return std::string("tuned<") + functor(spec.operation) + ", " + shape + arguments;
}

}  // namespace

std::string kernel_line(const std::string& name, unsigned threads, const std::string& parameters,
                        const std::string& body) {
    return "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads) + ") " +
           name + "(" + parameters + ") { " + body + "; }\n";
}

const char* hint_text(GpuHint hint) noexcept {
    return hint_name(hint);
}

KernelText text_of_spec(const GpuKernelSpec& spec) {
    const std::string type(to_string(spec.element));
    std::string name = std::string(to_string(spec.operation)) + "_" + type;
    if (spec.variant == Variant::standard) {
        name += "_standard";
    } else {
        name += std::string("_") + hint_name(spec.hint) + "_u" + std::to_string(spec.unroll);
    }
    name += "_t" + std::to_string(spec.threads_per_block);
    return {name, kernel_line(name, spec.threads_per_block,
                              "const " + type + "* x, const " + type + "* y, " + type +
                                  "* out, u64 count, " + type + " s, u64 first",
                              body(spec))};
}

std::uint64_t blocks_of(const GpuKernelSpec& spec, std::uint64_t elements,
                        unsigned multiprocessors) noexcept {
    const std::uint64_t per_thread =
        std::uint64_t{spec.unroll} * spec.vector_bytes / element_bytes(spec.element);
    const std::uint64_t tile = per_thread * spec.threads_per_block;
    const std::uint64_t tiles = (elements + tile - 1) / tile;
    const std::uint64_t most = std::uint64_t{spec.blocks_per_multiprocessor} * multiprocessors;
    return most != 0 && most < tiles ? most : tiles;
}

}  // namespace gpu
}  // namespace memgauge
