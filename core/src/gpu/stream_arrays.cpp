#include "memgauge/gpu/stream_arrays.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/kernel_spec.hpp"
#include "gpu/stream_memory.hpp"
#include "gpu/timing.hpp"
#include "memgauge/counters/modelled.hpp"

namespace memgauge {

using gpu::Device;
using gpu::KernelText;
using gpu::StreamMemory;
using kernels::BlockState;
using kernels::Deviation;

namespace {

constexpr std::size_t most_blocks = 64;

// Equal ones but for the last, of whole grains.
std::size_t block_elements_of(std::size_t elements) noexcept {
    const std::size_t grains = elements / StreamMemory::grain;
    return (grains + most_blocks - 1) / most_blocks * StreamMemory::grain;
}

void check_prefix(const GpuKernelSpec& spec, const GpuSliceRequest& request, std::size_t elements) {
    if (spec.operation != Operation::read) {
        throw RequestError("only read walks a prefix of the arrays");
    }
    if (request.prefix_elements % StreamMemory::grain != 0 || request.prefix_elements > elements) {
        throw RequestError("cannot walk the first " + std::to_string(request.prefix_elements) +
                           " of " + std::to_string(elements) +
                           " elements; ask for whole 32, and no more than there are");
    }
}

// Of a prefix nothing is booked: it is walked to stay in a cache.
void book(const GpuKernelSpec& spec, std::uint64_t elements) noexcept {
    const ElementTraffic moved = traffic(spec);
    KnownTraffic::instance().add(elements * (moved.counted_read + moved.write_allocate),
                                 elements * moved.counted_write);
}

}  // namespace

struct GpuStreamArrays::State {
    State(const Gpu& gpu, std::size_t asked, ElementType element)
        : memory(gpu.device(), asked, element),
          block_elements(block_elements_of(memory.elements())),
          blocks((memory.elements() + block_elements - 1) / block_elements) {}

    [[nodiscard]] std::size_t first_of(std::size_t block) const noexcept {
        return std::min(block * block_elements, memory.elements());
    }
    [[nodiscard]] std::size_t lead_in_blocks(std::size_t bytes) const noexcept;
    [[nodiscard]] std::vector<BlockState> replayed(const GpuKernelSpec& spec,
                                                   std::size_t lead_in_block,
                                                   std::size_t iterations, double scalar) const;
    void refill_unsound(const std::vector<BlockState>& after);
    void refill_stale();

    void check_request(const GpuKernelSpec& spec, const GpuSliceRequest& request) const;
    [[nodiscard]] Slice run_whole(const GpuKernelSpec& spec, const GpuSliceRequest& request,
                                  const StopCheck& stop);
    [[nodiscard]] Slice run_prefix(const GpuSliceRequest& request, const StopCheck& stop) const;
    [[nodiscard]] Deviation compare_all(std::size_t array, const StopCheck& stop);

    StreamMemory memory;
    std::size_t block_elements;
    std::vector<BlockState> blocks;  // what each part of the arrays holds
    bool negative = false;           // sign of the next update's scalar
    bool stale = false;              // a run did not end: nobody knows what the arrays hold
};

GpuStreamArrays::GpuStreamArrays(const Gpu& gpu, std::size_t elements, ElementType element,
                                 const StopCheck& stop)
    : state_(std::make_unique<State>(gpu, elements, element)) {
    StreamMemory& memory = state_->memory;
    const std::scoped_lock turn(memory.device().turn());
    memory.prepare();
    memory.device().enter();
    memory.fill(0, memory.elements());
    memory.device().wait(stop);
}

GpuStreamArrays::~GpuStreamArrays() = default;

std::size_t GpuStreamArrays::elements() const noexcept {
    return state_->memory.elements();
}

void GpuStreamArrays::prepare(const std::vector<GpuKernelSpec>& specs) {
    Device& device = state_->memory.device();
    const std::scoped_lock turn(device.turn());
    std::vector<KernelText> texts;
    texts.reserve(specs.size());
    for (const GpuKernelSpec& spec : specs) texts.push_back(gpu::text_of_spec(checked(spec)));
    device.prepare("stream.cu", texts);
}

void GpuStreamArrays::State::check_request(const GpuKernelSpec& spec,
                                           const GpuSliceRequest& request) const {
    if (spec.element != memory.element()) {
        throw RequestError("cannot run a kernel for " + std::string(to_string(spec.element)) +
                           " on arrays of " + std::string(to_string(memory.element())));
    }
    if (request.iterations == 0 || request.repeats == 0) {
        throw RequestError("a run has at least one iteration and one walk in it");
    }
    if (request.prefix_elements > 0) {
        check_prefix(spec, request, memory.elements());
    } else if (request.repeats != 1) {
        throw RequestError("only walks of a prefix are repeated within a launch");
    }
}

std::size_t GpuStreamArrays::State::lead_in_blocks(std::size_t bytes) const noexcept {
    const std::size_t block_bytes = block_elements * element_bytes(memory.element());
    return std::min(blocks.size(), bytes / block_bytes + (bytes % block_bytes != 0 ? 1 : 0));
}

// What the blocks will hold after a lead-in over those from `lead_in_block` on, and the iterations.
std::vector<BlockState> GpuStreamArrays::State::replayed(const GpuKernelSpec& spec,
                                                         std::size_t lead_in_block,
                                                         std::size_t iterations,
                                                         double scalar) const {
    const bool flips = spec.operation == Operation::update;
    std::vector<BlockState> after = blocks;
    for (std::size_t block = 0; block < after.size(); ++block) {
        if (block >= lead_in_block) kernels::replay(after[block], spec.operation, scalar);
        for (std::size_t k = 0; k < iterations; ++k) {
            kernels::replay(after[block], spec.operation, flips && k % 2 == 1 ? -scalar : scalar);
        }
    }
    return after;
}

void GpuStreamArrays::State::refill_unsound(const std::vector<BlockState>& after) {
    for (std::size_t block = 0; block < blocks.size(); ++block) {
        if (kernels::is_sound(after[block], memory.element())) continue;
        memory.fill(first_of(block), first_of(block + 1) - first_of(block));
        blocks[block] = {};
    }
}

void GpuStreamArrays::State::refill_stale() {
    if (!stale) return;
    memory.fill(0, memory.elements());
    blocks.assign(blocks.size(), {});
    stale = false;
}

Slice GpuStreamArrays::State::run_whole(const GpuKernelSpec& spec, const GpuSliceRequest& request,
                                        const StopCheck& stop) {
    const cuda::Function function = memory.device().kernel(gpu::text_of_spec(spec).name);
    const bool flips = spec.operation == Operation::update;
    const double s = kernels::replay_scalar(memory.element());
    const double scalar = flips && negative ? -s : s;
    const std::size_t lead_in_block = blocks.size() - lead_in_blocks(request.lead_in_bytes);
    refill_stale();
    refill_unsound(replayed(spec, lead_in_block, request.iterations, scalar));
    std::vector<BlockState> after = replayed(spec, lead_in_block, request.iterations, scalar);
    stale = true;
    const auto walk = [&](std::size_t first, double with) {
        const std::size_t elements = memory.elements() - first;
        if (elements == 0) return;
        memory.queue(spec, function, first, elements, with);
        book(spec, elements);
    };
    const gpu::TimedWork work{
        .iterations = request.iterations,
        .lead_in = [&] { walk(first_of(lead_in_block), scalar); },
        .iterate = [&](std::size_t k) { walk(0, flips && k % 2 == 1 ? -scalar : scalar); }};
    Slice slice = gpu::timed(memory.device(), work, stop);
    blocks.swap(after);
    negative = !negative;
    stale = false;
    return slice;
}

Slice GpuStreamArrays::State::run_prefix(const GpuSliceRequest& request,
                                         const StopCheck& stop) const {
    const cuda::Function function = memory.repeated();
    const gpu::TimedWork work{
        .iterations = request.iterations,
        .lead_in = [&] { memory.queue_repeated(function, request.prefix_elements, 1); },
        .iterate =
            [&](std::size_t) {
                memory.queue_repeated(function, request.prefix_elements, request.repeats);
            }};
    return gpu::timed(memory.device(), work, stop);
}

Slice GpuStreamArrays::run(const GpuKernelSpec& asked, const GpuSliceRequest& request,
                           const StopCheck& stop) {
    const GpuKernelSpec spec = checked(asked);
    State& state = *state_;
    state.check_request(spec, request);
    prepare({spec});
    const std::scoped_lock turn(state.memory.device().turn());
    state.memory.device().enter();
    return request.prefix_elements > 0 ? state.run_prefix(request, stop)
                                       : state.run_whole(spec, request, stop);
}

// Blocks of equal contents that lie together are compared at once.
Deviation GpuStreamArrays::State::compare_all(std::size_t array, const StopCheck& stop) {
    Deviation total;
    for (std::size_t begin = 0; begin < blocks.size();) {
        const kernels::Multiple& multiple = blocks[begin].arrays[array];
        std::size_t end = begin + 1;
        while (end < blocks.size() && blocks[end].arrays[array].factor == multiple.factor &&
               blocks[end].arrays[array].error == multiple.error) {
            ++end;
        }
        total.add(memory.compare(array, first_of(begin), first_of(end) - first_of(begin), multiple,
                                 stop));
        begin = end;
    }
    return total;
}

std::vector<ArrayValidation> GpuStreamArrays::validate(const StopCheck& stop) {
    State& state = *state_;
    const std::scoped_lock turn(state.memory.device().turn());
    state.memory.device().enter();
    state.refill_stale();
    const double epsilon = kernels::stream_epsilon(state.memory.element());
    std::vector<ArrayValidation> validations;
    for (std::size_t array = 0; array < StreamMemory::array_count; ++array) {
        const Deviation total = state.compare_all(array, stop);
        const double average = total.sum / static_cast<double>(elements());
        validations.push_back({static_cast<char>('a' + array), average, epsilon, elements(),
                               total.failed, total.first_failed,
                               total.failed == 0 && average <= epsilon});
    }
    return validations;
}

void GpuStreamArrays::corrupt(char array, std::size_t element) {
    if (array < 'a' || array > 'c' || element >= elements()) {
        throw RequestError("no element " + std::to_string(element) + " in array '" + array +
                           "': arrays a, b and c have " + std::to_string(elements()));
    }
    StreamMemory& memory = state_->memory;
    const std::scoped_lock turn(memory.device().turn());
    memory.device().enter();
    memory.flip(static_cast<std::size_t>(array - 'a'), element);
}

}  // namespace memgauge
