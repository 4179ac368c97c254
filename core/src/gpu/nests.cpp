#include "memgauge/gpu/nests.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/timing.hpp"
#include "memgauge/counters/modelled.hpp"
#include "nests/contents.hpp"
#include "nests/description.hpp"
#include "round_up.hpp"

namespace memgauge {

using gpu::block_threads;
using gpu::Device;
using gpu::DeviceMemory;
using gpu::KernelText;
using nests::Body;
using nests::Difference;

namespace {

constexpr std::size_t array_alignment =
    512;                                  // what cuMemAlloc gives, and a whole line of any cache
constexpr std::size_t sector_bytes = 32;  // of a GPU's caches
constexpr const char* source = "nests.cu";
constexpr std::uint64_t array_r = nests::most_references;  // GEMM's check: see nests/contents.cpp

// NestLoops of kernels/nests.cu.
struct DeviceLoops {
    std::array<std::uint64_t, nests::most_loops> trips;
    std::array<std::uint64_t, nests::most_references> first;
    std::array<std::array<std::uint64_t, nests::most_loops>, nests::most_references> strides;
};

// NestFound there: of one thread.
struct Found {
    double sum;
    std::uint64_t compared;
    std::uint64_t failed;
    std::uint64_t first;
};

DeviceLoops on_device(const nests::Loops& loops) {
    DeviceLoops made{};
    for (std::size_t loop = 0; loop < nests::most_loops; ++loop) {
        made.trips[loop] = loops.trips[loop];
        for (std::size_t i = 0; i < nests::most_references; ++i) {
            made.strides[i][loop] = loops.references[i].strides[loop];
        }
    }
    for (std::size_t i = 0; i < nests::most_references; ++i) {
        made.first[i] = loops.references[i].first;
    }
    return made;
}

// Trips of the loops that threads are made of.
std::uint64_t threads_of(const nests::Nest& nest, const nests::Loops& loops) {
    const std::size_t loops_of_threads =
        nest.body == Body::dot ? nests::innermost : nests::most_loops;
    std::uint64_t count = 1;
    for (std::size_t loop = 0; loop < loops_of_threads; ++loop) count *= loops.trips[loop];
    return count;
}

std::string_view kernel_of(const nests::Nest& nest) {
    switch (nest.body) {
        case Body::scale:
            return "nest_scale_8";
        case Body::add:
            return "nest_add_8";
        case Body::triad:
            return "nest_triad_8";
        case Body::dot:
            return "nest_dot";
        default:
            return nest.element_bytes == sizeof(double) ? "nest_copy_8" : "nest_copy_16";
    }
}

// NestBody there.
std::uint64_t body_number(Body body) {
    return body == Body::dot ? 0 : static_cast<std::uint64_t>(body);
}
static_assert(static_cast<int>(Body::copy) == 0 && static_cast<int>(Body::scale) == 1 &&
              static_cast<int>(Body::add) == 2 && static_cast<int>(Body::triad) == 3);

NestSpec checked(const NestSpec& spec, std::size_t copies) {
    const std::string name = "loop nest " + std::string(to_string(spec.kind));
    if (spec.store_prefetch || spec.load_prefetch) {
        throw RequestError(
            name + ": a GPU prefetches nothing; leave store_prefetch and load_prefetch out");
    }
    if (copies == 0) {
        throw RequestError(name +
                           ": 0 copies of its arrays leave nothing to work on; give at least 1");
    }
    return spec;
}

}  // namespace

struct GpuNest::State {
    State(const Gpu& gpu, const NestSpec& asked, std::size_t sets)
        : device(gpu.device()),
          spec(checked(asked, sets)),
          nest(nests::as_run(nests::describe(asked))),
          arrays(arrays_of(asked)),
          copies(sets),
          memory(device, sets * lay_out()) {
        for (const NestArray& array : arrays) {
            (array.written ? written_bytes : read_bytes) +=
                nests::walked_bytes(spec, array, sector_bytes);
        }
    }

    std::size_t lay_out() {
        for (const NestArray& array : arrays) {
            begins.push_back(set_bytes);
            set_bytes += round_up(array.bytes, array_alignment);
        }
        return set_bytes;
    }
    [[nodiscard]] cuda::DevicePointer at(std::size_t copy, std::size_t array) const noexcept {
        return memory.at(copy * set_bytes + begins[array]);
    }
    [[nodiscard]] unsigned some_blocks() const noexcept {
        return 8 * static_cast<unsigned>(device->facts().multiprocessors);
    }
    [[nodiscard]] std::size_t used() const noexcept { return std::min(copies, executed); }

    void fill() const;
    void queue(cuda::Function function, std::size_t copy) const;
    [[nodiscard]] Difference maps(std::size_t copy, const DeviceMemory& found,
                                  const StopCheck& stop) const;
    // Rows of contents times contents, or times `factors` that lie on the device.
    void products(const DeviceMemory& into, std::uint64_t rows, std::uint64_t array,
                  cuda::DevicePointer factors, std::uint64_t factors_of) const;
    [[nodiscard]] std::vector<double> expected_rows(const StopCheck& stop) const;
    [[nodiscard]] Difference rows(std::size_t copy, const std::vector<double>& expected,
                                  const StopCheck& stop) const;

    std::shared_ptr<Device> device;
    NestSpec spec;
    nests::Nest nest;
    std::vector<NestArray> arrays;
    std::size_t copies;
    std::vector<std::size_t> begins;  // of arrays in a set
    std::size_t set_bytes = 0;
    DeviceMemory memory;
    std::uint64_t read_bytes = 0;  // of one execution, as is known
    std::uint64_t written_bytes = 0;
    std::size_t next = 0;  // set
    std::size_t executed = 0;
};

void GpuNest::State::fill() const {
    const cuda::Function function = device->kernel("nest_fill");
    for (std::size_t copy = 0; copy < copies; ++copy) {
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            gpu::launch(*device, function, some_blocks(), block_threads, at(copy, i),
                        std::uint64_t{arrays[i].bytes / sizeof(double)}, std::uint64_t{i});
        }
    }
}

void GpuNest::State::queue(cuda::Function function, std::size_t copy) const {
    for (std::size_t part = 0; part < nest.part_count; ++part) {
        const std::uint64_t count = threads_of(nest, nest.parts[part]);
        const cuda::DevicePointer second = nest.references == 3 ? at(copy, 1) : at(copy, 0);
        gpu::launch(*device, function, (count + block_threads - 1) / block_threads, block_threads,
                    on_device(nest.parts[part]), count, at(copy, 0), second,
                    at(copy, nest.written()));
    }
}

GpuNest::GpuNest(const Gpu& gpu, const NestSpec& spec, std::size_t copies, const StopCheck& stop)
    : state_(std::make_unique<State>(gpu, spec, copies)) {
    State& state = *state_;
    const std::scoped_lock turn(state.device->turn());
    const std::array<KernelText, 10> kernels{{{"nest_copy_8", ""},
                                              {"nest_copy_16", ""},
                                              {"nest_scale_8", ""},
                                              {"nest_add_8", ""},
                                              {"nest_triad_8", ""},
                                              {"nest_dot", ""},
                                              {"nest_fill", ""},
                                              {"nest_check", ""},
                                              {"nest_products", ""},
                                              {"nest_row_sums", ""}}};
    state.device->prepare(source, kernels);
    state.device->enter();
    state.fill();
    state.device->wait(stop);
}

GpuNest::~GpuNest() = default;

Slice GpuNest::run(std::size_t repetitions, const StopCheck& stop) {
    State& state = *state_;
    if (repetitions == 0) throw RequestError("a loop nest is executed at least once; not 0 times");
    Device& device = *state.device;
    const std::scoped_lock turn(device.turn());
    device.enter();
    const cuda::Function function = device.kernel(std::string(kernel_of(state.nest)));
    const gpu::TimedWork work{
        .iterations = repetitions, .lead_in = {}, .iterate = [&](std::size_t k) {
            state.queue(function, (state.next + k) % state.copies);
            KnownTraffic::instance().add(state.read_bytes, state.written_bytes);
        }};
    Slice slice = gpu::timed(device, work, stop);
    state.next = (state.next + repetitions) % state.copies;
    state.executed += repetitions;
    return slice;
}

Difference GpuNest::State::maps(std::size_t copy, const DeviceMemory& found,
                                const StopCheck& stop) const {
    Difference total;
    std::vector<Found> of_threads(std::size_t{some_blocks()} * block_threads);
    for (std::size_t part = 0; part < nest.part_count; ++part) {
        gpu::launch(*device, device->kernel("nest_check"), some_blocks(), block_threads,
                    on_device(nest.parts[part]), threads_of(nest, nest.parts[part]),
                    at(copy, nest.written()), std::uint64_t{nest.element_bytes / sizeof(double)},
                    body_number(nest.body), std::uint64_t{nest.references},
                    nests::epsilon_of(spec, nest), found.at());
        device->wait(stop);
        found.to_host(of_threads.data(), 0, of_threads.size() * sizeof(Found));
        for (const Found& one : of_threads) {
            Difference mine;
            mine.sum = one.sum;
            mine.compared = one.compared;
            mine.failed = one.failed;
            mine.first_failed = one.first;
            total.add(mine);
        }
    }
    return total;
}

void GpuNest::State::products(const DeviceMemory& into, std::uint64_t rows, std::uint64_t array,
                              cuda::DevicePointer factors, std::uint64_t factors_of) const {
    gpu::launch(*device, device->kernel("nest_products"), some_blocks(), block_threads, into.at(),
                rows, std::uint64_t{spec.shape.n}, array, factors, factors_of);
}

// As nests::Products.
std::vector<double> GpuNest::State::expected_rows(const StopCheck& stop) const {
    const bool is_gemv = spec.kind == NestKind::gemv;
    std::vector<double> values(is_gemv ? nests::rows_of_a(spec.shape) : spec.shape.n);
    const std::size_t bytes = values.size() * sizeof(double);
    const DeviceMemory result(device, bytes);
    const DeviceMemory b_r(device, is_gemv ? sizeof(double) : bytes);
    if (is_gemv) {
        products(result, values.size(), 0, 0, 1);
    } else {
        products(b_r, values.size(), 1, 0, array_r);
        products(result, values.size(), 0, b_r.at(), 0);
    }
    device->wait(stop);
    result.to_host(values.data(), 0, bytes);
    return values;
}

Difference GpuNest::State::rows(std::size_t copy, const std::vector<double>& expected,
                                const StopCheck& stop) const {
    const std::size_t begin = copy * set_bytes + begins[nest.written()];
    std::vector<double> found(spec.kind == NestKind::gemv ? spec.shape.m : spec.shape.n);
    if (spec.kind == NestKind::gemv) {
        memory.to_host(found.data(), begin, found.size() * sizeof(double));
    } else {
        const DeviceMemory sums(device, found.size() * sizeof(double));
        gpu::launch(*device, device->kernel("nest_row_sums"), some_blocks(), block_threads,
                    sums.at(), memory.at(begin), std::uint64_t{spec.shape.n},
                    std::uint64_t{spec.shape.n}, array_r);
        device->wait(stop);
        sums.to_host(found.data(), 0, found.size() * sizeof(double));
    }
    Difference total;
    const double epsilon = nests::epsilon_of(spec, nest);
    for (std::size_t i = 0; i < found.size(); ++i) {
        total.add(found[i], expected[i % expected.size()], epsilon, i);
    }
    return total;
}

std::vector<NestValidation> GpuNest::validate(const StopCheck& stop) {
    State& state = *state_;
    if (state.used() == 0) return {};
    const std::scoped_lock turn(state.device->turn());
    state.device->enter();
    const bool is_map = state.nest.body != Body::dot;
    const DeviceMemory found(state.device,
                             std::size_t{state.some_blocks()} * block_threads * sizeof(Found));
    const std::vector<double> expected = is_map ? std::vector<double>{} : state.expected_rows(stop);
    Difference total;
    for (std::size_t copy = 0; copy < state.used(); ++copy) {
        total.add(is_map ? state.maps(copy, found, stop) : state.rows(copy, expected, stop));
    }
    return {nests::validation_of(state.spec, state.nest, state.arrays.back().name, total)};
}

void GpuNest::corrupt(std::size_t array, std::size_t element) {
    State& state = *state_;
    if (array >= state.arrays.size() ||
        element >= state.arrays[array].bytes / state.arrays[array].element_bytes) {
        throw RequestError("loop nest " + std::string(to_string(state.spec.kind)) +
                           " has no element " + std::to_string(element) + " in array " +
                           std::to_string(array) + " to corrupt");
    }
    const std::scoped_lock turn(state.device->turn());
    state.device->enter();
    const std::size_t begin = state.begins[array] + element * state.arrays[array].element_bytes;
    std::uint64_t word = 0;
    state.memory.to_host(&word, begin, sizeof word);
    word ^= std::uint64_t{1} << 40U;
    state.memory.from_host(&word, begin, sizeof word);
}

}  // namespace memgauge
