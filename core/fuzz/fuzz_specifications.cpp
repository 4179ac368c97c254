// What kernels and loop nests are asked to be: refused, or wholly inside of their arrays.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "gpu/kernel_spec.hpp"
#include "memgauge/cache_model.hpp"
#include "memgauge/error.hpp"
#include "memgauge/gpu/kernels.hpp"
#include "memgauge/nests.hpp"
#include "nests/description.hpp"

namespace memgauge::fuzz {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr std::uint64_t most_simulated_trips = 4096;

// Small ones mostly, and some of every length of bits.
std::size_t extent(Input& input) {
    if (input.below(4) != 0) return input.below(20);
    return input.take<std::uint64_t>() >> input.below(64);
}

NestSpec nest_of(Input& input) {
    const std::vector<NestKind> kinds = nest_kinds();
    NestSpec spec;
    spec.kind = kinds[input.below(kinds.size())];
    NestShape& shape = spec.shape;
    for (std::size_t* one : {&shape.m, &shape.n, &shape.cap, &shape.stride, &shape.planes,
                             &shape.rows, &shape.cols, &shape.x, &shape.y, &shape.tile}) {
        if (input.below(2) == 0) *one = extent(input);
    }
    spec.store_prefetch = input.below(2) == 0;
    spec.load_prefetch = input.below(2) == 0;
    if (input.below(2) == 0) spec.prefetch_lines = extent(input);
    if (input.below(4) == 0) spec.prefetch_far_lines = extent(input);
    return spec;
}

Wide trips(const nests::Loops& loops) {
    Wide made = 1;
    for (const std::size_t count : loops.trips) made *= count;
    return made;
}

// The last element that any trip touches lies in the array.
void check_inside(const nests::Loops& loops, const std::vector<NestArray>& arrays) {
    if (trips(loops) == 0) return;
    for (std::size_t which = 0; which < arrays.size(); ++which) {
        const nests::Reference& reference = loops.references[which];
        Wide last = reference.first;
        for (std::size_t loop = 0; loop < nests::most_loops; ++loop) {
            last += Wide{loops.trips[loop] - 1} * reference.strides[loop];
        }
        require((last + 1) * arrays[which].element_bytes <= arrays[which].bytes,
                "a loop nest reaches beyond its array");
    }
}

void check_parts(const nests::Nest& nest, const std::vector<NestArray>& arrays, Wide whole) {
    Wide made = 0;
    for (std::size_t part = 0; part < nest.part_count; ++part) {
        check_inside(nest.parts[part], arrays);
        made += trips(nest.parts[part]);
    }
    require(made == whole, "loops that are joined make other trips");
}

void check_simulated(const NestSpec& spec, const std::vector<NestArray>& arrays,
                     const nests::Nest& nest, std::uint64_t made) {
    CacheMachine machine;
    machine.levels = {{.name = "L1", .bytes = 1024, .ways = 2}};
    CacheModel model{machine};
    std::vector<std::uint64_t> bases;
    std::uint64_t base = 1U << 20U;
    for (const NestArray& array : arrays) {
        bases.push_back(base);
        base += (array.bytes + 4095) / 4096 * 4096;
    }
    simulate(spec, bases, 0, model);
    const CacheCounts counts = model.counts();
    if (nest.body == nests::Body::dot) return;
    require(counts.stores == made, "not every trip stores once");
    require(counts.loads == made * (arrays.size() - 1), "not every trip loads each operand once");
}

void check_nest(const NestSpec& spec) {
    const std::vector<NestArray> arrays = arrays_of(spec);
    const nests::Nest nest = nests::describe(spec);
    require(arrays.size() == nest.references, "arrays and references are not as many");
    const std::uint64_t made = trips_of(spec);
    check_parts(nest, arrays, made);
    check_parts(nests::as_run(nest), arrays, made);
    if (made <= most_simulated_trips) check_simulated(spec, arrays, nest, made);
}

GpuKernelSpec kernel_of(Input& input) {
    GpuKernelSpec spec;
    spec.operation = static_cast<Operation>(input.below(7));
    spec.element = input.below(2) == 0 ? ElementType::f64 : ElementType::f32;
    spec.variant = input.below(2) == 0 ? Variant::standard : Variant::tuned;
    spec.hint = static_cast<GpuHint>(input.below(3));
    const auto number = [&input] {
        return input.below(3) == 0 ? input.take<std::uint32_t>()
                                   : std::uint32_t{1} << input.below(12);
    };
    spec.threads_per_block = number();
    spec.unroll = number();
    spec.vector_bytes = input.below(2) == 0 ? 0 : number();
    spec.blocks_per_multiprocessor = input.below(2) == 0 ? 0 : number();
    return spec;
}

void check_kernel(const GpuKernelSpec& asked, std::uint64_t elements) {
    const GpuKernelSpec spec = checked(asked);
    require(checked(spec) == spec, "a checked kernel is not one");
    const gpu::KernelText text = gpu::text_of_spec(spec);
    require(text.line.find(text.name) != std::string::npos, "a kernel's text lacks its name");
    const std::uint64_t tile = std::uint64_t{spec.threads_per_block} * spec.unroll *
                               spec.vector_bytes / element_bytes(spec.element);
    const std::uint64_t blocks = gpu::blocks_of(spec, elements, 132);
    require(spec.blocks_per_multiprocessor != 0 || Wide{blocks} * tile >= elements,
            "blocks leave elements out");
    require(elements == 0 || blocks > 0, "no block is started");
}

}  // namespace

void run(Data data) {
    Input input(data);
    for (unsigned tries = 0; tries < 8 && !input.empty(); ++tries) {
        try {
            input.below(2) == 0
                ? check_nest(nest_of(input))
                : check_kernel(kernel_of(input), input.take<std::uint64_t>() >> 20U);
        } catch (const RequestError& refusal) {
            const std::string message = refusal.what();
            require(!message.empty() && message.size() < 1000,
                    "a refusal says nothing, or too much");
        }
    }
}

}  // namespace memgauge::fuzz
