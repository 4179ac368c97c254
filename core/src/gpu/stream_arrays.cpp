#include "memgauge/gpu/stream_arrays.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/kernel_spec.hpp"
#include "gpu/timing.hpp"
#include "kernels/ramp.hpp"
#include "kernels/replay.hpp"
#include "memgauge/counters/modelled.hpp"

namespace memgauge {

using gpu::Device;
using gpu::DeviceMemory;
using gpu::KernelText;
using kernels::BlockState;
using kernels::Deviation;

namespace {

constexpr std::size_t array_count = 3;
constexpr std::size_t grain = 32;                             // elements; 128 bytes of floats
constexpr std::size_t most_blocks = 64;                       // of equal contents, of an array
constexpr std::size_t most_elements = std::size_t{1} << 40U;  // over which doubles do not repeat
constexpr unsigned checking_threads = 256;
constexpr double never_a_sum = -1.0;  // contents and their multiples are above zero

// What one thread of check() in kernels/stream.cu found.
struct Found {
    double sum;
    std::uint64_t failed;
    std::uint64_t first;
    std::uint64_t compared;
};

// Arrays a kernel reads and the one it writes; 3: none of them.
struct Roles {
    std::size_t x;
    std::size_t y;
    std::size_t out;
};

Roles roles(Operation operation) noexcept {
    switch (operation) {
        case Operation::copy:
            return {0, 3, 2};
        case Operation::scale:
            return {2, 3, 1};
        case Operation::add:
            return {0, 1, 2};
        case Operation::triad:
            return {1, 2, 0};
        case Operation::update:
            return {0, 1, 0};
        case Operation::read:
            return {0, 3, 3};
        case Operation::write:
            return {3, 3, 0};
    }
    return {3, 3, 3};
}

std::size_t rounded(std::size_t elements) {
    if (elements == 0 || elements > most_elements) {
        throw RequestError("cannot make arrays of " + std::to_string(elements) +
                           " elements in device memory; ask for 1 to 2^40");
    }
    return (elements + grain - 1) / grain * grain;
}

GpuKernelSpec filling(ElementType element) {
    return checked({.operation = Operation::write,
                    .element = element,
                    .variant = Variant::tuned,
                    .unroll = 2});
}

KernelText checking(ElementType element) {
    const std::string type(to_string(element));
    const std::string name = "check_" + type;
    return {name, gpu::kernel_line(
                      name, checking_threads,
                      "const " + type +
                          "* values, u64 count, u64 first, double factor, double "
                          "tolerance, Found* found",
                      "check<" + type + ">(values, count, first, factor, tolerance, found)")};
}

KernelText repeating(ElementType element) {
    const std::string type(to_string(element));
    const std::string name = "repeated_read_" + type;
    return {name, gpu::kernel_line(name, checking_threads,
                                   "const " + type + "* x, " + type + "* out, u64 count, " + type +
                                       " s, u64 repeats",
                                   "repeated_read<" + type + ">(x, out, count, s, repeats)")};
}

}  // namespace

struct GpuStreamArrays::State {
    State(const Gpu& gpu, std::size_t asked, ElementType element_type)
        : device(gpu.device()),
          element(element_type),
          elements(rounded(asked)),
          block_elements(block_of(elements)),
          arrays{{{device, elements * element_bytes(element)},
                  {device, elements * element_bytes(element)},
                  {device, elements * element_bytes(element)}}},
          blocks((elements + block_elements - 1) / block_elements) {}

    // Equal ones but for the last, of whole grains.
    static std::size_t block_of(std::size_t elements) noexcept {
        const std::size_t grains = elements / grain;
        return (grains + most_blocks - 1) / most_blocks * grain;
    }

    [[nodiscard]] cuda::DevicePointer at(std::size_t array, std::size_t first) const noexcept;
    void queue(const GpuKernelSpec& spec, cuda::Function function, std::size_t first,
               std::size_t count, double scalar) const;
    void queue_repeated(cuda::Function function, std::size_t count, std::size_t repeats) const;
    void fill(std::size_t first, std::size_t count) const;
    void refill(const std::vector<std::size_t>& unsound);
    [[nodiscard]] std::size_t first_of(std::size_t block) const noexcept {
        return block * block_elements;
    }
    [[nodiscard]] std::size_t count_of(std::size_t block) const noexcept {
        return std::min(block_elements, elements - first_of(block));
    }

    void check_request(const GpuKernelSpec& spec, const GpuSliceRequest& request) const;
    [[nodiscard]] std::vector<BlockState> replayed(const GpuKernelSpec& spec,
                                                   std::size_t lead_in_block,
                                                   std::size_t iterations, double scalar,
                                                   std::vector<BlockState> from) const;
    [[nodiscard]] Slice run_whole(const GpuKernelSpec& spec, const GpuSliceRequest& request,
                                  const StopCheck& stop);
    [[nodiscard]] Slice run_prefix(const GpuSliceRequest& request, const StopCheck& stop) const;
    [[nodiscard]] Deviation compare(std::size_t array, std::size_t first, std::size_t count,
                                    const kernels::Multiple& multiple, const DeviceMemory& found,
                                    const StopCheck& stop) const;
    [[nodiscard]] Deviation compare_all(std::size_t array, const DeviceMemory& found,
                                        const StopCheck& stop) const;

    [[nodiscard]] unsigned multiprocessors() const noexcept {
        return static_cast<unsigned>(device->facts().multiprocessors);
    }
    [[nodiscard]] unsigned checking_blocks() const noexcept { return 8 * multiprocessors(); }

    std::shared_ptr<Device> device;
    ElementType element;
    std::size_t elements;
    std::size_t block_elements;
    std::array<DeviceMemory, array_count> arrays;
    std::vector<BlockState> blocks;
    bool negative = false;  // sign of the next update's scalar
    bool stale = false;     // a run did not end: nobody knows what the arrays hold
};

cuda::DevicePointer GpuStreamArrays::State::at(std::size_t array,
                                               std::size_t first) const noexcept {
    if (array >= arrays.size()) return device->scratch();
    return arrays[array].at(first * element_bytes(element));
}

void GpuStreamArrays::State::queue(const GpuKernelSpec& spec, cuda::Function function,
                                   std::size_t first, std::size_t count, double scalar) const {
    const Roles role = roles(spec.operation);
    const cuda::DevicePointer x = at(role.x, first);
    const cuda::DevicePointer y = at(role.y, first);
    const cuda::DevicePointer out = at(role.out, first);
    const std::uint64_t blocks_needed = gpu::blocks_of(spec, count, multiprocessors());
    const std::uint64_t length = count;
    const std::uint64_t begin = first;
    if (element == ElementType::f32) {
        gpu::launch(*device, function, blocks_needed, spec.threads_per_block, x, y, out, length,
                    static_cast<float>(scalar), begin);
    } else {
        gpu::launch(*device, function, blocks_needed, spec.threads_per_block, x, y, out, length,
                    scalar, begin);
    }
}

void GpuStreamArrays::State::queue_repeated(cuda::Function function, std::size_t count,
                                            std::size_t repeats) const {
    // As many threads as are at work at once.
    const std::uint64_t resident = 4ULL * multiprocessors();
    const cuda::DevicePointer x = at(0, 0);
    const cuda::DevicePointer out = device->scratch();
    const std::uint64_t length = count;
    const std::uint64_t walks = repeats;
    if (element == ElementType::f32) {
        gpu::launch(*device, function, resident, checking_threads, x, out, length,
                    static_cast<float>(never_a_sum), walks);
    } else {
        gpu::launch(*device, function, resident, checking_threads, x, out, length, never_a_sum,
                    walks);
    }
}

void GpuStreamArrays::State::fill(std::size_t first, std::size_t count) const {
    const BlockState fresh;
    const GpuKernelSpec spec = filling(element);
    const cuda::Function function = device->kernel(gpu::text_of_spec(spec).name);
    for (std::size_t array = 0; array < array_count; ++array) {
        const double factor = fresh.arrays[array].factor;
        const cuda::DevicePointer to = at(array, first);
        const cuda::DevicePointer nothing = device->scratch();
        const std::uint64_t length = count;
        const std::uint64_t begin = first;
        const std::uint64_t tiles = gpu::blocks_of(spec, count, multiprocessors());
        if (element == ElementType::f32) {
            gpu::launch(*device, function, tiles, spec.threads_per_block, nothing, nothing, to,
                        length, static_cast<float>(factor), begin);
        } else {
            gpu::launch(*device, function, tiles, spec.threads_per_block, nothing, nothing, to,
                        length, factor, begin);
        }
    }
}

void GpuStreamArrays::State::refill(const std::vector<std::size_t>& unsound) {
    for (const std::size_t block : unsound) {
        fill(first_of(block), count_of(block));
        blocks[block] = {};
    }
}

GpuStreamArrays::GpuStreamArrays(const Gpu& gpu, std::size_t elements, ElementType element,
                                 const StopCheck& stop)
    : state_(std::make_unique<State>(gpu, elements, element)) {
    Device& device = *state_->device;
    const std::lock_guard turn(device.turn());
    const std::array<KernelText, 3> always{gpu::text_of_spec(filling(element)), checking(element),
                                           repeating(element)};
    device.prepare("stream.cu", always);
    state_->fill(0, state_->elements);
    device.wait(stop);
}

GpuStreamArrays::~GpuStreamArrays() = default;

std::size_t GpuStreamArrays::elements() const noexcept {
    return state_->elements;
}

void GpuStreamArrays::prepare(const std::vector<GpuKernelSpec>& specs) {
    const std::lock_guard turn(state_->device->turn());
    std::vector<KernelText> texts;
    texts.reserve(specs.size());
    for (const GpuKernelSpec& spec : specs) texts.push_back(gpu::text_of_spec(checked(spec)));
    state_->device->prepare("stream.cu", texts);
}

void GpuStreamArrays::State::check_request(const GpuKernelSpec& spec,
                                           const GpuSliceRequest& request) const {
    if (spec.element != element) {
        throw RequestError("cannot run a kernel for " + std::string(to_string(spec.element)) +
                           " on arrays of " + std::string(to_string(element)));
    }
    if (request.iterations == 0 || request.repeats == 0) {
        throw RequestError("a run has at least one iteration and one walk in it");
    }
    if (request.prefix_elements == 0) {
        if (request.repeats == 1) return;
        throw RequestError("only walks of a prefix are repeated within a launch");
    }
    if (spec.operation != Operation::read) {
        throw RequestError("only read walks a prefix of the arrays");
    }
    if (request.prefix_elements % grain != 0 || request.prefix_elements > elements) {
        throw RequestError("cannot walk the first " + std::to_string(request.prefix_elements) +
                           " of " + std::to_string(elements) +
                           " elements; ask for whole 32, and no more than there are");
    }
}

std::vector<BlockState> GpuStreamArrays::State::replayed(const GpuKernelSpec& spec,
                                                         std::size_t lead_in_block,
                                                         std::size_t iterations, double scalar,
                                                         std::vector<BlockState> from) const {
    const bool flips = spec.operation == Operation::update;
    for (std::size_t block = 0; block < from.size(); ++block) {
        if (block >= lead_in_block) kernels::replay(from[block], spec.operation, scalar);
        for (std::size_t k = 0; k < iterations; ++k) {
            const double sign = flips && k % 2 == 1 ? -1.0 : 1.0;
            kernels::replay(from[block], spec.operation, sign * scalar);
        }
    }
    return from;
}

Slice GpuStreamArrays::State::run_whole(const GpuKernelSpec& spec, const GpuSliceRequest& request,
                                        const StopCheck& stop) {
    const cuda::Function function = device->kernel(gpu::text_of_spec(spec).name);
    const bool flips = spec.operation == Operation::update;
    const double s = kernels::replay_scalar(element);
    const double scalar = flips && negative ? -s : s;
    const std::size_t block_bytes = block_elements * element_bytes(element);
    const std::size_t lead_in =
        std::min(blocks.size(), (request.lead_in_bytes + block_bytes - 1) / block_bytes);
    const std::size_t lead_in_block = blocks.size() - lead_in;
    // What the kernel is given in the place of s.
    const auto operand = [&](double replay_scalar) {
        if (spec.operation == Operation::read) return never_a_sum;
        return spec.operation == Operation::write ? 1.0 : replay_scalar;
    };
    std::vector<BlockState> after =
        replayed(spec, lead_in_block, request.iterations, scalar, blocks);
    std::vector<std::size_t> unsound;
    for (std::size_t block = 0; block < blocks.size(); ++block) {
        if (stale || !kernels::is_sound(after[block], element)) unsound.push_back(block);
    }
    if (!unsound.empty()) {
        refill(unsound);
        after = replayed(spec, lead_in_block, request.iterations, scalar, blocks);
    }
    stale = true;
    const ElementTraffic each = traffic(spec);
    const gpu::TimedWork work{
        .iterations = request.iterations,
        .lead_in =
            [&] {
                if (lead_in == 0) return;
                const std::size_t first = first_of(lead_in_block);
                queue(spec, function, first, elements - first, operand(scalar));
            },
        .iterate =
            [&](std::size_t k) {
                queue(spec, function, 0, elements, operand(flips && k % 2 == 1 ? -scalar : scalar));
                KnownTraffic::instance().add(elements * each.counted_read,
                                             elements * each.counted_write);
            }};
    Slice slice = gpu::timed(*device, work, stop);
    blocks.swap(after);
    negative = !negative;
    stale = false;
    return slice;
}

Slice GpuStreamArrays::State::run_prefix(const GpuSliceRequest& request,
                                         const StopCheck& stop) const {
    const cuda::Function function = device->kernel(repeating(element).name);
    const gpu::TimedWork work{
        .iterations = request.iterations,
        .lead_in = [&] { queue_repeated(function, request.prefix_elements, 1); },
        .iterate =
            [&](std::size_t) {
                queue_repeated(function, request.prefix_elements, request.repeats);
            }};
    return gpu::timed(*device, work, stop);
}

Slice GpuStreamArrays::run(const GpuKernelSpec& asked, const GpuSliceRequest& request,
                           const StopCheck& stop) {
    const GpuKernelSpec spec = checked(asked);
    State& state = *state_;
    state.check_request(spec, request);
    prepare({spec});
    const std::lock_guard turn(state.device->turn());
    state.device->enter();
    return request.prefix_elements > 0 ? state.run_prefix(request, stop)
                                       : state.run_whole(spec, request, stop);
}

Deviation GpuStreamArrays::State::compare(std::size_t array, std::size_t first, std::size_t count,
                                          const kernels::Multiple& multiple,
                                          const DeviceMemory& found, const StopCheck& stop) const {
    const double tolerance =
        std::max(kernels::stream_epsilon(element), kernels::rounding_bound(multiple, element));
    gpu::launch(*device, device->kernel(checking(element).name), checking_blocks(),
                checking_threads, at(array, first), std::uint64_t{count}, std::uint64_t{first},
                multiple.factor, tolerance, found.at());
    device->wait(stop);
    std::vector<Found> of_threads(std::size_t{checking_blocks()} * checking_threads);
    found.to_host(of_threads.data(), 0, of_threads.size() * sizeof(Found));
    Deviation total;
    std::uint64_t compared = 0;
    for (const Found& one : of_threads) {
        compared += one.compared;
        total.sum += one.sum;
        if (one.failed == 0) continue;
        total.first_failed =
            total.failed == 0 ? one.first : std::min<std::size_t>(total.first_failed, one.first);
        total.failed += one.failed;
    }
    if (compared != count) {
        throw SystemError(device->name() + ": validation compared " + std::to_string(compared) +
                          " of " + std::to_string(count) + " elements");
    }
    return total;
}

// Blocks of equal contents that lie together are compared at once.
Deviation GpuStreamArrays::State::compare_all(std::size_t array, const DeviceMemory& found,
                                              const StopCheck& stop) const {
    Deviation total;
    for (std::size_t begin = 0; begin < blocks.size();) {
        const kernels::Multiple& multiple = blocks[begin].arrays[array];
        std::size_t end = begin + 1;
        while (end < blocks.size() && blocks[end].arrays[array].factor == multiple.factor &&
               blocks[end].arrays[array].error == multiple.error) {
            ++end;
        }
        const std::size_t last = std::min(first_of(end), elements);
        total.add(compare(array, first_of(begin), last - first_of(begin), multiple, found, stop));
        begin = end;
    }
    return total;
}

std::vector<ArrayValidation> GpuStreamArrays::validate(const StopCheck& stop) {
    State& state = *state_;
    const std::lock_guard turn(state.device->turn());
    state.device->enter();
    if (state.stale) {
        state.fill(0, state.elements);
        state.blocks.assign(state.blocks.size(), {});
        state.stale = false;
    }
    const DeviceMemory found(
        state.device, std::size_t{state.checking_blocks()} * checking_threads * sizeof(Found));
    const double epsilon = kernels::stream_epsilon(state.element);
    std::vector<ArrayValidation> validations;
    for (std::size_t array = 0; array < array_count; ++array) {
        const Deviation total = state.compare_all(array, found, stop);
        const double average = total.sum / static_cast<double>(state.elements);
        validations.push_back({static_cast<char>('a' + array), average, epsilon, state.elements,
                               total.failed, total.first_failed,
                               total.failed == 0 && average <= epsilon});
    }
    return validations;
}

void GpuStreamArrays::corrupt(char array, std::size_t element) {
    State& state = *state_;
    if (array < 'a' || array > 'c' || element >= state.elements) {
        throw RequestError("no element " + std::to_string(element) + " in array '" + array +
                           "': arrays a, b and c have " + std::to_string(state.elements));
    }
    const std::lock_guard turn(state.device->turn());
    state.device->enter();
    const std::size_t bytes = element_bytes(state.element);
    const DeviceMemory& memory = state.arrays[static_cast<std::size_t>(array - 'a')];
    std::array<std::byte, sizeof(double)> value{};
    memory.to_host(value.data(), element * bytes, bytes);
    kernels::flip_bit(state.element, value.data());
    memory.from_host(value.data(), element * bytes, bytes);
}

}  // namespace memgauge
