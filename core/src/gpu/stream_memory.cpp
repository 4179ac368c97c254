#include "gpu/stream_memory.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gpu/kernel_spec.hpp"
#include "round_up.hpp"

namespace memgauge::gpu {

using kernels::Deviation;

namespace {

constexpr std::size_t most_elements = std::size_t{1} << 40U;  // over which doubles do not repeat
constexpr double never_a_sum = -1.0;  // contents and their multiples are above zero
constexpr std::size_t none = 3;

// What one thread of check() in kernels/stream.cu found.
struct Found {
    double sum;
    std::uint64_t failed;
    std::uint64_t first;
    std::uint64_t compared;
};

// Arrays a kernel reads, and the one it writes.
struct Roles {
    std::size_t x;
    std::size_t y;
    std::size_t out;
};

Roles roles(Operation operation) noexcept {
    switch (operation) {
        case Operation::copy:
            return {0, none, 2};
        case Operation::scale:
            return {2, none, 1};
        case Operation::add:
            return {0, 1, 2};
        case Operation::triad:
            return {1, 2, 0};
        case Operation::update:
            return {0, 1, 0};
        case Operation::read:
            return {0, none, none};
        case Operation::write:
            return {none, none, 0};
    }
    return {none, none, none};
}

std::size_t rounded(std::size_t elements) {
    if (elements == 0 || elements > most_elements) {
        throw RequestError("cannot make arrays of " + std::to_string(elements) +
                           " elements in device memory; ask for 1 to 2^40");
    }
    return round_up(elements, StreamMemory::grain);
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
    return {name,
            kernel_line(name, block_threads,
                        "const " + type +
                            "* values, u64 count, u64 first, double factor, double tolerance, "
                            "Found* found",
                        "check<" + type + ">(values, count, first, factor, tolerance, found)")};
}

KernelText repeating(ElementType element) {
    const std::string type(to_string(element));
    const std::string name = "repeated_read_" + type;
    return {name, kernel_line(name, block_threads,
                              "const " + type + "* x, " + type + "* out, u64 count, " + type +
                                  " s, u64 repeats",
                              "repeated_read<" + type + ">(x, out, count, s, repeats)")};
}

Deviation added_up(const std::vector<Found>& of_threads, std::uint64_t& compared) {
    Deviation total;
    for (const Found& one : of_threads) {
        compared += one.compared;
        total.sum += one.sum;
        if (one.failed == 0) continue;
        total.first_failed =
            total.failed == 0 ? one.first : std::min<std::size_t>(total.first_failed, one.first);
        total.failed += one.failed;
    }
    return total;
}

}  // namespace

StreamMemory::StreamMemory(std::shared_ptr<Device> device, std::size_t elements,
                           ElementType element)
    : device_(std::move(device)),
      element_(element),
      elements_(rounded(elements)),
      arrays_{{{device_, elements_ * element_bytes(element)},
               {device_, elements_ * element_bytes(element)},
               {device_, elements_ * element_bytes(element)}}} {}

void StreamMemory::prepare() {
    const std::array<KernelText, 3> always{text_of_spec(filling(element_)), checking(element_),
                                           repeating(element_)};
    device_->prepare("stream.cu", always);
}

// Of no array: somewhere that nothing is read from or written to.
cuda::DevicePointer StreamMemory::at(std::size_t array, std::size_t first) const noexcept {
    if (array >= array_count) return device_->scratch();
    return arrays_[array].at(first * element_bytes(element_));
}

// A kernel's scalar is of the type of its elements.
void StreamMemory::launch_scaled(cuda::Function function, std::uint64_t blocks, unsigned threads,
                                 cuda::DevicePointer x, cuda::DevicePointer y,
                                 cuda::DevicePointer out, std::size_t count, double scalar,
                                 std::uint64_t first) const {
    const std::uint64_t length = count;
    if (element_ == ElementType::f32) {
        launch(*device_, function, blocks, threads, x, y, out, length, static_cast<float>(scalar),
               first);
    } else {
        launch(*device_, function, blocks, threads, x, y, out, length, scalar, first);
    }
}

void StreamMemory::queue(const GpuKernelSpec& spec, cuda::Function function, std::size_t first,
                         std::size_t count, double scalar) const {
    const Roles role = roles(spec.operation);
    double given = scalar;
    if (spec.operation == Operation::read) given = never_a_sum;
    if (spec.operation == Operation::write) given = 1.0;  // times the ramp
    launch_scaled(function, blocks_of(spec, count, multiprocessors()), spec.threads_per_block,
                  at(role.x, first), at(role.y, first), at(role.out, first), count, given, first);
}

cuda::Function StreamMemory::repeated() const {
    return device_->kernel(repeating(element_).name);
}

void StreamMemory::queue_repeated(cuda::Function function, std::size_t count,
                                  std::size_t repeats) const {
    const std::uint64_t blocks = 4ULL * multiprocessors();  // at work at once
    const std::uint64_t length = count;
    const std::uint64_t walks = repeats;
    if (element_ == ElementType::f32) {
        launch(*device_, function, blocks, block_threads, at(0, 0), device_->scratch(), length,
               static_cast<float>(never_a_sum), walks);
    } else {
        launch(*device_, function, blocks, block_threads, at(0, 0), device_->scratch(), length,
               never_a_sum, walks);
    }
}

void StreamMemory::fill(std::size_t first, std::size_t count) const {
    const kernels::BlockState fresh;
    const GpuKernelSpec spec = filling(element_);
    const cuda::Function function = device_->kernel(text_of_spec(spec).name);
    for (std::size_t array = 0; array < array_count; ++array) {
        launch_scaled(function, blocks_of(spec, count, multiprocessors()), spec.threads_per_block,
                      at(none, 0), at(none, 0), at(array, first), count, fresh.arrays[array].factor,
                      first);
    }
}

Deviation StreamMemory::compare(std::size_t array, std::size_t first, std::size_t count,
                                const kernels::Multiple& multiple, const StopCheck& stop) {
    const unsigned blocks = 8 * multiprocessors();
    std::vector<Found> of_threads(std::size_t{blocks} * block_threads);
    const std::size_t bytes = of_threads.size() * sizeof(Found);
    if (!found_) found_ = std::make_unique<DeviceMemory>(device_, bytes);
    const double tolerance =
        std::max(kernels::stream_epsilon(element_), kernels::rounding_bound(multiple, element_));
    launch(*device_, device_->kernel(checking(element_).name), blocks, block_threads,
           at(array, first), std::uint64_t{count}, std::uint64_t{first}, multiple.factor, tolerance,
           found_->at());
    device_->wait(stop);
    found_->to_host(of_threads.data(), 0, bytes);
    std::uint64_t compared = 0;
    const Deviation total = added_up(of_threads, compared);
    if (compared != count) {
        throw SystemError(device_->name() + ": validation compared " + std::to_string(compared) +
                          " of " + std::to_string(count) + " elements");
    }
    return total;
}

void StreamMemory::flip(std::size_t array, std::size_t at_element) const {
    const std::size_t bytes = element_bytes(element_);
    std::array<std::byte, sizeof(double)> value{};
    arrays_[array].to_host(value.data(), at_element * bytes, bytes);
    kernels::flip_bit(element_, value.data());
    arrays_[array].from_host(value.data(), at_element * bytes, bytes);
}

}  // namespace memgauge::gpu
