#include "gpu/device.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "gpu/kernel_text.hpp"

namespace memgauge::gpu {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string shown(const std::vector<GpuFacts>& devices) {
    std::string text;
    for (const GpuFacts& one : devices) {
        text += (text.empty() ? "cuda:" : ", cuda:") + std::to_string(one.index) + " (" + one.name +
                ")";
    }
    return text;
}

const GpuFacts& usable(const Driver& driver, int index) {
    if (index < 0 || static_cast<std::size_t>(index) >= driver.devices.size()) {
        throw RequestError("cuda:" + std::to_string(index) + ": no such GPU; the driver shows " +
                           shown(driver.devices) + "; CUDA_VISIBLE_DEVICES may hide others");
    }
    const GpuFacts& facts = driver.devices[static_cast<std::size_t>(index)];
    if (!facts.error.empty()) {
        throw RequestError("cuda:" + std::to_string(index) + ": cannot be used: " + facts.error);
    }
    return facts;
}

}  // namespace

std::string bytes_text(std::size_t bytes) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%zu bytes (%.1f MiB)", bytes,
                  static_cast<double>(bytes) / 0x1p20);
    return text.data();
}

Device::Device(std::shared_ptr<const Driver> driver, int index, const std::string& compiler)
    : driver_(std::move(driver)),
      index_(index),
      name_("cuda:" + std::to_string(index)),
      facts_(usable(*driver_, index)),
      compiler_(compiler),
      handle_(driver_->handles[static_cast<std::size_t>(index)]) {
    check(calls().context_retain(&context_, handle_), "cuDevicePrimaryCtxRetain");
    try {
        open();
    } catch (...) {
        close();
        throw;
    }
}

void Device::open() {
    enter();
    check(calls().stream_create(&stream_, cuda::stream_non_blocking), "cuStreamCreate");
    check(calls().allocate(&scratch_, scratch_bytes), "cuMemAlloc");
}

Device::~Device() {
    close();
}

// At the end of a process the driver may be gone before us: what it says does not matter any more.
void Device::close() noexcept {
    calls().context_set(context_);
    if (stream_ != nullptr) calls().stream_synchronize(stream_);
    for (cuda::Event event : events_) calls().event_destroy(event);
    for (cuda::Module module : modules_) calls().module_unload(module);
    if (scratch_ != 0) calls().free(scratch_);
    if (stream_ != nullptr) calls().stream_destroy(stream_);
    calls().context_set(nullptr);
    calls().context_release(handle_);
}

void Device::enter() const {
    check(calls().context_set(context_), "cuCtxSetCurrent");
}

std::size_t Device::free_bytes() const {
    enter();
    std::size_t free = 0;
    std::size_t total = 0;
    check(calls().memory_info(&free, &total), "cuMemGetInfo");
    return free;
}

std::vector<int> Device::peers() const {
    std::vector<int> found;
    for (const GpuFacts& other : driver_->devices) {
        if (other.index == index_ || !other.error.empty()) continue;
        int can = 0;
        check(calls().can_access_peer(&can, handle_,
                                      driver_->handles[static_cast<std::size_t>(other.index)]),
              "cuDeviceCanAccessPeer");
        if (can != 0) found.push_back(other.index);
    }
    return found;
}

void Device::prepare(const char* source, std::span<const KernelText> kernels) {
    std::vector<KernelText> missing;
    std::string text;
    for (const KernelText& kernel : kernels) {
        const bool twice = std::ranges::any_of(
            missing, [&](const KernelText& other) { return other.name == kernel.name; });
        if (kernels_.contains(kernel.name) || twice) continue;
        missing.push_back(kernel);
        text += kernel.line;
    }
    if (missing.empty()) return;
    enter();
    load(std::string(text_of("access.cu")) + std::string(text_of(source)) + text, missing);
}

void Device::load(const std::string& text, std::span<const KernelText> kernels) {
    const int arch = facts_.compute_major * 10 + facts_.compute_minor;
    const Image image = compiler_.compile(text, arch);
    cuda::Module module = nullptr;
    const cuda::Result loaded = calls().module_load(&module, image.bytes.data());
    if (loaded != cuda::success) {
        cuda::fail(calls(), loaded,
                   std::string("cannot load the ") + (image.ptx ? "PTX" : "code") + " of NVRTC " +
                       compiler_.version() + " into the driver of CUDA " + driver_->version_text() +
                       ": cuModuleLoadData",
                   name_);
    }
    modules_.push_back(module);
    for (const KernelText& kernel : kernels) {
        cuda::Function function = nullptr;
        check(calls().module_function(&function, module, kernel.name.c_str()),
              "cuModuleGetFunction");
        // A driver that loads lazily is to do it now, and not in what is timed; one that cannot be
        // told does it when it is asked for something.
        if (calls().function_load != nullptr) {
            check(calls().function_load(function), "cuFuncLoad");
        }
        int most = 0;
        check(calls().function_attribute(&most, cuda::function_max_threads_per_block, function),
              "cuFuncGetAttribute");
        kernels_.emplace(kernel.name, function);
    }
}

cuda::Function Device::kernel(const std::string& name) const {
    return kernels_.at(name);
}

void Device::launch(cuda::Function function, std::uint64_t blocks, unsigned threads,
                    std::span<void* const> parameters) const {
    if (blocks > std::uint64_t{std::numeric_limits<std::int32_t>::max()}) {
        throw RequestError(name_ + ": " + std::to_string(blocks) +
                           " blocks are more than a launch can have; ask for larger blocks or "
                           "smaller arrays");
    }
    std::array<void*, 12> arguments{};
    std::ranges::copy(parameters, arguments.begin());
    check(calls().launch(function, static_cast<unsigned>(blocks), 1, 1, threads, 1, 1, 0, stream_,
                         arguments.data(), nullptr),
          "cuLaunchKernel");
}

void Device::wait(cuda::Stream stream, const StopCheck& stop) const {
    const auto begin = steady_clock::now();
    auto asked = begin;
    for (;;) {
        const cuda::Result result = calls().stream_query(stream);
        if (result == cuda::success) return;
        if (result != cuda::not_ready) check(result, "cuStreamQuery");
        const auto now = steady_clock::now();
        if (now - begin < milliseconds(1)) continue;
        if (stop && now - asked >= milliseconds(20)) {
            asked = now;
            bool is_wished = false;
            try {
                is_wished = stop();
            } catch (...) {
                check(calls().stream_synchronize(stream), "cuStreamSynchronize");
                throw;
            }
            if (is_wished) {
                check(calls().stream_synchronize(stream), "cuStreamSynchronize");
                throw Interrupted();
            }
        }
        std::this_thread::sleep_for(microseconds(now - begin < milliseconds(50) ? 100 : 1000));
    }
}

std::span<const cuda::Event> Device::events(std::size_t count) {
    while (events_.size() < count) {
        cuda::Event event = nullptr;
        check(calls().event_create(&event, cuda::event_default), "cuEventCreate");
        events_.push_back(event);
    }
    return events_;
}

Anchor Device::anchor() {
    const Clock& clock = Clock::instance();
    const std::span<const cuda::Event> mine = events(anchor_events);
    const double ns_per_tick = clock.info().ns_per_tick;
    Anchor best;
    for (std::size_t k = 0; k < anchor_events; ++k) {
        const Ticks before = clock.now();
        check(calls().event_record(mine[k], stream_), "cuEventRecord");
        check(calls().event_synchronize(mine[k]), "cuEventSynchronize");
        const Ticks after = clock.now();
        const double error_ns = static_cast<double>(after - before) / 2.0 * ns_per_tick;
        if (best.event == nullptr || error_ns < best.error_ns) {
            best = {mine[k], before + (after - before) / 2, error_ns};
        }
    }
    return best;
}

double Device::elapsed_ns(cuda::Event begin, cuda::Event end) const {
    float ms = 0.0F;
    check(calls().event_elapsed_ms(&ms, begin, end), "cuEventElapsedTime");
    return static_cast<double>(ms) * 1e6;
}

void Device::read_with(std::shared_ptr<Reader> reader) {
    const std::scoped_lock lock(turn_);
    reader_ = std::move(reader);
    readings.reset();
}

DeviceMemory::DeviceMemory(std::shared_ptr<Device> device, std::size_t bytes)
    : device_(std::move(device)), bytes_(bytes) {
    device_->enter();
    const cuda::Result result = device_->calls().allocate(&address_, bytes);
    if (result == cuda::success) return;
    std::string what = "cannot allocate " + bytes_text(bytes) + " of device memory";
    if (result == cuda::out_of_memory)
        what += ", " + bytes_text(device_->free_bytes()) + " are free";
    cuda::fail(device_->calls(), result, what + ": cuMemAlloc", device_->name());
}

DeviceMemory::~DeviceMemory() {
    device_->calls().context_set(device_->context());
    device_->calls().free(address_);
}

// In our stream, which does not wait for the default one: a copy that came by that might still be
// under way when the next kernel begins.
void DeviceMemory::to_host(void* into, std::size_t begin, std::size_t bytes) const {
    const cuda::Calls& calls = device_->calls();
    const cuda::Stream stream = device_->stream();
    device_->check(calls.copy_to_host_async(into, at(begin), bytes, stream), "cuMemcpyDtoHAsync");
    device_->check(calls.stream_synchronize(stream), "cuStreamSynchronize");
}

void DeviceMemory::from_host(const void* from, std::size_t begin, std::size_t bytes) const {
    const cuda::Calls& calls = device_->calls();
    const cuda::Stream stream = device_->stream();
    device_->check(calls.copy_to_device_async(at(begin), from, bytes, stream), "cuMemcpyHtoDAsync");
    device_->check(calls.stream_synchronize(stream), "cuStreamSynchronize");
}

}  // namespace memgauge::gpu

namespace memgauge {

Gpu::Gpu(const GpuDriver& driver, int index, const std::string& compiler)
    : device_(std::make_shared<gpu::Device>(driver.driver_, index, compiler)) {}

Gpu::~Gpu() = default;

const GpuFacts& Gpu::facts() const noexcept {
    return device_->facts();
}

std::size_t Gpu::free_bytes() const {
    return device_->free_bytes();
}

std::string Gpu::compiler_version() const {
    return device_->compiler().version();
}

std::vector<int> Gpu::peers() const {
    return device_->peers();
}

std::optional<double> Gpu::clock_error_ns() const noexcept {
    return device_->clock_error_ns;
}

void Gpu::read_with(std::shared_ptr<Reader> reader) {
    device_->read_with(std::move(reader));
}

const std::optional<RegionReadings>& Gpu::readings() const noexcept {
    return device_->readings;
}

}  // namespace memgauge
