// Programs that the stand-in compiler made, and their launches.

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "image.hpp"
#include "knobs.hpp"
#include "stream.hpp"

struct CUfunc_st {
    stand_in::LaunchThunk thunk;
    const unsigned* parameter_bytes;  // ends with 0
    stand_in::KernelState* state;
};

struct CUmod_st {
    void* library;
    stand_in::KernelState* state;
};

namespace {

using namespace stand_in;

// Kernels run one at a time, whatever their streams: programs have one place for their threads.
std::mutex& one_kernel() {
    static auto* const turn = new std::mutex;
    return *turn;
}

std::uint64_t began_ns = 0;  // of the kernel at work

// Scripted: what it has taken so far.
double cost(const KernelState& state) {
    const Clockwork& clock = clockwork();
    return clock.launch_ns + static_cast<double>(state.idle_ns) + state.loads_ns +
           static_cast<double>(state.read_bytes + state.write_bytes) * clock.kernel_ns_per_byte;
}

unsigned long long timer_ns(const KernelState* state) {
    if (!clockwork().scripted) return monotonic_ns();
    return began_ns + static_cast<unsigned long long>(cost(*state));
}

int arch_of(const Device& device) {
    const std::string told =
        knob("compute_" + std::to_string(device.ordinal), knob("compute", "9.0"));
    return 10 * std::atoi(told.c_str()) + std::atoi(told.c_str() + told.find('.') + 1);
}

// A binary runs on its own generation from its number on; PTX on every later one.
bool runs_on(const Image& image, int arch) {
    return image.arch <= arch && (image.virtual_arch || image.arch / 10 == arch / 10);
}

constexpr std::uint64_t line_bytes = 128;

// The caches of one device, where a knob says what loads from them take.
struct Caches {
    explicit Caches(std::uint64_t l2_bytes)
        : l1(knob_number("l1_bytes", 0) / line_bytes), l2(l2_bytes / line_bytes) {}

    std::vector<unsigned long long> l1;
    std::vector<unsigned long long> l2;
};

Caches& caches_of(const Device& device) {
    static auto* const all = new std::map<int, Caches>;
    const std::uint64_t bytes = knob_number("l2_bytes_" + std::to_string(device.ordinal),
                                            knob_number("l2_bytes", 1U << 20U));
    return all->try_emplace(device.ordinal, bytes).first->second;
}

void set_caches(KernelState& state, const Device& device) {
    if (knob("memory_load_ns", "").empty()) return;
    Caches& caches = caches_of(device);
    std::fill(caches.l1.begin(), caches.l1.end(), 0);
    if (!caches.l1.empty()) state.l1 = {caches.l1.data(), caches.l1.size()};
    if (!caches.l2.empty()) state.l2 = {caches.l2.data(), caches.l2.size()};
    state.l1_load_ns = knob_real("l1_load_ns", 0);
    state.l2_load_ns = knob_real("l2_load_ns", 0);
    state.memory_load_ns = knob_real("memory_load_ns", 0);
}

void set(KernelState& state, const Device& device, const std::vector<Allocation>& allocations) {
    const auto clock_khz = static_cast<double>(knob_number("clock_khz", 1'000'000));
    const std::uint64_t multiprocessors = knob_number(
        "multiprocessors_" + std::to_string(device.ordinal), knob_number("multiprocessors", 4));
    state = {};
    state.arena_begin = arena_begin();
    state.arena_end = arena_end();
    state.allocations = allocations.data();
    state.allocation_count = allocations.size();
    state.timer_ns = &timer_ns;
    state.bytes_at_reading = ~0ULL;
    state.cycles_per_ns = clock_khz / 1e6;
    state.timer_step_ns = knob_number("globaltimer_step_ns", 32);
    state.multiprocessors = static_cast<unsigned>(multiprocessors);
    set_caches(state, device);
}

struct Launch {
    CUfunction function;
    std::uint64_t waits;  // of the host, when it was queued
    Device* device;
    Place grid;
    Place block;
    std::vector<std::vector<char>> parameters;
};

// A kernel that passes scripted time holds the stream while the host queues what comes next: so it
// does, however slow the host is, until the host waits for what it has queued.
void hold(const Launch& launch) {
    constexpr std::uint64_t holds_from_ns = 10'000;
    if (!clockwork().scripted || launch.function->state->idle_ns < holds_from_ns) return;
    for (int tried = 0; tried < 500 && launch.device->waits == launch.waits; ++tried) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

double run(const Launch& launch, std::uint64_t begin) {
    const std::lock_guard turn(one_kernel());
    KernelState& state = *launch.function->state;
    const std::vector<Allocation> allocations = all_allocations();
    set(state, *launch.device, allocations);
    began_ns = begin;
    std::vector<void*> given;
    for (const auto& each : launch.parameters) given.push_back(const_cast<char*>(each.data()));
    launch.function->thunk(launch.grid, launch.block, given.data());
    hold(launch);
    if (state.illegal != 0) launch.device->primary.sticky = cu_illegal_address;
    if (state.misaligned != 0) launch.device->primary.sticky = cu_misaligned_address;
    const std::lock_guard own(launch.device->turn);
    launch.device->totals.kernel_read_bytes += state.read_bytes;
    launch.device->totals.kernel_write_bytes += state.write_bytes;
    ++launch.device->totals.launches;
    return cost(state);
}

int load(CUmodule* into, const void* bytes) {
    const Device* device = current_device();
    if (device == nullptr) return cu_invalid_context;
    const auto image = read_image(static_cast<const char*>(bytes));
    if (!image) return cu_invalid_image;
    if (!runs_on(*image, arch_of(*device))) return cu_no_binary_for_gpu;
    void* library = dlopen(image->path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return cu_invalid_image;
    auto* state = static_cast<KernelState*>(dlsym(library, "stand_in_state"));
    *into = new CUmod_st{library, state};
    return 0;
}

}  // namespace

STAND_IN CUresult cuModuleLoadData(CUmodule* into, const void* image) {
    ENTRY;
    return load(into, image);
}

STAND_IN CUresult cuModuleLoadDataEx(CUmodule* into, const void* image, unsigned, int*, void**) {
    ENTRY;
    return load(into, image);
}

// The library stays: functions of it may be queued.
STAND_IN CUresult cuModuleUnload(CUmodule module) {
    ENTRY;
    if (module == nullptr) return cu_invalid_handle;
    delete module;
    return 0;
}

STAND_IN CUresult cuModuleGetFunction(CUfunction* into, CUmodule module, const char* name) {
    ENTRY;
    if (module == nullptr) return cu_invalid_handle;
    const std::string symbol = std::string("stand_in_launch_") + name;
    auto* thunk = reinterpret_cast<LaunchThunk>(dlsym(module->library, symbol.c_str()));
    auto* bytes =
        static_cast<const unsigned*>(dlsym(module->library, (symbol + "_parameter_bytes").c_str()));
    if (thunk == nullptr || bytes == nullptr) return cu_not_found;
    *into = new CUfunc_st{thunk, bytes, module->state};
    return 0;
}

STAND_IN CUresult cuModuleGetGlobal_v2(CUdeviceptr* into, size_t* bytes, CUmodule, const char*) {
    ENTRY;
    *into = 0;
    *bytes = 0;
    return cu_not_found;  // variables of a program are not in device memory here
}

STAND_IN CUresult cuFuncLoad(CUfunction) {
    ENTRY;
    return 0;
}

STAND_IN CUresult cuFuncGetAttribute(int* into, int attribute, CUfunction) {
    ENTRY;
    *into = attribute == 0 ? static_cast<int>(knob_number("kernel_threads_per_block", 1024)) : 0;
    return 0;
}

STAND_IN CUresult cuFuncSetAttribute(CUfunction, int, int) {
    ENTRY;
    return 0;
}

STAND_IN CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* into, CUfunction, int threads,
                                                              size_t) {
    ENTRY;
    if (threads <= 0) return cu_invalid_value;
    *into = 2048 / threads;
    return 0;
}

STAND_IN CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned, CUstream stream, void** parameters,
                                 void** extra) {
    ENTRY;
    Device* device = current_device();
    if (device == nullptr) return cu_invalid_context;
    if (function == nullptr) return cu_invalid_handle;
    const std::uint64_t threads = std::uint64_t{block_x} * block_y * block_z;
    const bool grid_fits = grid_x > 0 && grid_y > 0 && grid_z > 0 && grid_x <= 0x7fffffffU &&
                           grid_y <= 0xffffU && grid_z <= 0xffffU;
    if (!grid_fits || threads == 0 || threads > 1024 || extra != nullptr) return cu_invalid_value;
    auto launch = std::make_shared<Launch>();
    *launch = {
        function, device->waits, device, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, {}};
    for (unsigned at = 0; function->parameter_bytes[at] != 0; ++at) {
        const auto* from = static_cast<const char*>(parameters[at]);
        launch->parameters.emplace_back(from, from + function->parameter_bytes[at]);
    }
    submit(stream, [launch](std::uint64_t begin) { return run(*launch, begin); });
    return 0;
}
