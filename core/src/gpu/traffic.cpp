#include "memgauge/gpu/traffic.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/kernel_spec.hpp"
#include "gpu/timing.hpp"
#include "round_up.hpp"

namespace memgauge {

using gpu::block_threads;
using gpu::Device;
using gpu::DeviceMemory;
using gpu::KernelText;

namespace {

constexpr std::size_t vector_bytes = 16;
constexpr unsigned least_accesses = 8;  // of a thread, so that many loads are under way
constexpr unsigned most_tile_accesses = 1000;
constexpr std::size_t grain_bytes = std::size_t{1} << 20U;
constexpr std::uint64_t never = ~std::uint64_t{0};

// What one thread of check_told in kernels/traffic.cu found.
struct Mismatches {
    std::uint64_t failed;
    std::uint64_t first;
};

// Accesses of one thread in one tile.
struct Mix {
    unsigned reads;
    unsigned writes;

    [[nodiscard]] std::uint64_t tile_reads() const noexcept {
        return std::uint64_t{reads} * block_threads;
    }
    [[nodiscard]] std::uint64_t tile_writes() const noexcept {
        return std::uint64_t{writes} * block_threads;
    }
    [[nodiscard]] std::uint64_t tile_bytes() const noexcept {
        return (tile_reads() + tile_writes()) * vector_bytes;
    }
};

Mix mix_of(unsigned reads, unsigned writes) {
    if (reads + writes == 0 || reads > most_tile_accesses || writes > most_tile_accesses ||
        reads + writes > most_tile_accesses) {
        throw RequestError("cannot mix " + std::to_string(reads) + " reads with " +
                           std::to_string(writes) + " writes; ask for 1 to 1000 in all");
    }
    const unsigned common = std::gcd(reads, writes);
    const unsigned least = (reads + writes) / common;
    const unsigned times = (least_accesses + least - 1) / least;
    return {reads / common * times, writes / common * times};
}

KernelText text_of_mix(const Mix& mix, GpuHint hint) {
    const std::string reads = std::to_string(mix.reads);
    const std::string writes = std::to_string(mix.writes);
    const std::string name =
        "mixed_" + reads + "_" + writes + "_" + std::string(gpu::hint_text(hint));
    return {name,
            gpu::kernel_line(name, block_threads,
                             "const uint4* from, uint4* to, u64 vectors, u64 read_index, u64 "
                             "write_index, u64 write_position, uint4* sink, u64 never",
                             "mixed<" + reads + ", " + writes + ", " + gpu::hint_text(hint) + ", " +
                                 std::to_string(block_threads) +
                                 ">(from, to, vectors, read_index, write_index, write_position, "
                                 "sink, never)")};
}

}  // namespace

struct GpuTraffic::State {
    State(const Gpu& gpu, std::size_t bytes)
        : device(gpu.device()),
          from(device, round_up(std::max(bytes, std::size_t{1}), grain_bytes)),
          to(device, from.bytes()),
          vectors(from.bytes() / vector_bytes),
          written(vectors) {}

    void fill(const DeviceMemory& memory) const;
    // Queues so many tiles, in as many launches as wraps ask for.
    void queue(const Mix& mix, cuda::Function function, std::uint64_t tiles);
    void compare(std::uint64_t begin, std::uint64_t count, std::uint64_t position,
                 const DeviceMemory& found, ArrayValidation& into, const StopCheck& stop) const;
    [[nodiscard]] unsigned checking_blocks() const noexcept {
        return 8 * static_cast<unsigned>(device->facts().multiprocessors);
    }

    std::shared_ptr<Device> device;
    DeviceMemory from;
    DeviceMemory to;
    std::uint64_t vectors;  // of each
    // Positions at which the next accesses are. The contents at first are those of 0 and on, as if
    // they had been stored.
    std::uint64_t read = 0;
    std::uint64_t written;
};

void GpuTraffic::State::fill(const DeviceMemory& memory) const {
    gpu::launch(*device, device->kernel("fill_told"), checking_blocks(), block_threads, memory.at(),
                vectors, std::uint64_t{0});
}

void GpuTraffic::State::queue(const Mix& mix, cuda::Function function, std::uint64_t tiles) {
    const std::uint64_t most =
        vectors / std::max({mix.tile_reads(), mix.tile_writes(), std::uint64_t{1}});
    while (tiles > 0) {
        const std::uint64_t part = std::min(tiles, most);
        gpu::launch(*device, function, part, block_threads, from.at(), to.at(), vectors,
                    read % vectors, written % vectors, written, device->scratch(), never);
        read += part * mix.tile_reads();
        written += part * mix.tile_writes();
        tiles -= part;
    }
}

GpuTraffic::GpuTraffic(const Gpu& gpu, std::size_t bytes, const StopCheck& stop)
    : state_(std::make_unique<State>(gpu, bytes)) {
    Device& device = *state_->device;
    const std::scoped_lock turn(device.turn());
    const std::array<KernelText, 2> always{KernelText{"fill_told", ""},
                                           KernelText{"check_told", ""}};
    device.prepare("traffic.cu", always);
    device.enter();
    state_->fill(state_->from);
    state_->fill(state_->to);
    device.wait(stop);
}

GpuTraffic::~GpuTraffic() = default;

std::size_t GpuTraffic::bytes() const noexcept {
    return state_->from.bytes();
}

void GpuTraffic::prepare(const std::vector<std::pair<unsigned, unsigned>>& mixes) {
    const std::scoped_lock turn(state_->device->turn());
    std::vector<KernelText> texts;
    texts.reserve(mixes.size());
    for (const auto& [reads, writes] : mixes) {
        texts.push_back(text_of_mix(mix_of(reads, writes), GpuHint::normal));
    }
    state_->device->prepare("traffic.cu", texts);
}

Slice GpuTraffic::run(const GpuTrafficRequest& request, const StopCheck& stop) {
    State& state = *state_;
    const Mix mix = mix_of(request.reads, request.writes);
    if (request.bytes == 0 || request.iterations == 0) {
        throw RequestError("traffic needs bytes to move, and at least one iteration");
    }
    if (std::max(mix.tile_reads(), mix.tile_writes()) > state.vectors) {
        throw RequestError("a mix of " + std::to_string(request.reads) + ":" +
                           std::to_string(request.writes) + " needs more memory than " +
                           std::to_string(bytes()) + " bytes; ask for more, or for a simpler mix");
    }
    Device& device = *state.device;
    const std::scoped_lock turn(device.turn());
    const std::array<KernelText, 1> text{text_of_mix(mix, request.hint)};
    device.prepare("traffic.cu", text);
    device.enter();
    const cuda::Function function = device.kernel(text[0].name);
    const auto tiles_for = [&](std::size_t bytes_asked) {
        return (bytes_asked + mix.tile_bytes() - 1) / mix.tile_bytes();
    };
    const std::uint64_t tiles = tiles_for(request.bytes);
    const std::uint64_t lead_in = tiles_for(request.lead_in_bytes);
    const gpu::TimedWork work{.iterations = request.iterations,
                              .lead_in = [&] { state.queue(mix, function, lead_in); },
                              .iterate = [&](std::size_t) { state.queue(mix, function, tiles); }};
    Slice slice = gpu::timed(device, work, stop);
    const std::uint64_t all = tiles * request.iterations * vector_bytes;
    slice.threads[0].read_bytes = all * mix.tile_reads();
    slice.threads[0].write_bytes = all * mix.tile_writes();
    return slice;
}

void GpuTraffic::State::compare(std::uint64_t begin, std::uint64_t count, std::uint64_t position,
                                const DeviceMemory& found, ArrayValidation& into,
                                const StopCheck& stop) const {
    if (count == 0) return;
    gpu::launch(*device, device->kernel("check_told"), checking_blocks(), block_threads,
                to.at(begin * vector_bytes), count, position, found.at());
    device->wait(stop);
    std::vector<Mismatches> of_threads(std::size_t{checking_blocks()} * block_threads);
    found.to_host(of_threads.data(), 0, of_threads.size() * sizeof(Mismatches));
    const bool none_before = into.failed_elements == 0;
    std::size_t first = 0;
    std::size_t failed = 0;
    for (const Mismatches& one : of_threads) {
        if (one.failed == 0) continue;
        first = failed == 0 ? one.first : std::min<std::size_t>(first, one.first);
        failed += one.failed;
    }
    into.failed_elements += failed;
    if (none_before && failed > 0) into.first_failed = begin + first;
}

std::vector<ArrayValidation> GpuTraffic::validate(const StopCheck& stop) {
    State& state = *state_;
    const std::scoped_lock turn(state.device->turn());
    state.device->enter();
    const DeviceMemory found(
        state.device, std::size_t{state.checking_blocks()} * block_threads * sizeof(Mismatches));
    ArrayValidation made{.array = 'w',
                         .average_relative_error = 0.0,
                         .epsilon = 0.0,
                         .elements = state.vectors,
                         .failed_elements = 0,
                         .first_failed = 0,
                         .passed = false};
    // Those before the next one were stored in this round, the others in the one before.
    const std::uint64_t next = state.written % state.vectors;
    const std::uint64_t round = state.written - next;
    state.compare(0, next, round, found, made, stop);
    state.compare(next, state.vectors - next, round - state.vectors + next, found, made, stop);
    made.average_relative_error =
        static_cast<double>(made.failed_elements) / static_cast<double>(state.vectors);
    made.passed = made.failed_elements == 0;
    return {made};
}

void GpuTraffic::corrupt(std::size_t element) {
    State& state = *state_;
    if (element >= state.vectors) {
        throw RequestError("no element " + std::to_string(element) + ": there are " +
                           std::to_string(state.vectors) + " of 16 bytes");
    }
    const std::scoped_lock turn(state.device->turn());
    state.device->enter();
    std::uint64_t word = 0;
    state.to.to_host(&word, element * vector_bytes, sizeof word);
    word ^= std::uint64_t{1} << 40U;
    state.to.from_host(&word, element * vector_bytes, sizeof word);
}

}  // namespace memgauge
