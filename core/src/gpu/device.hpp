#pragma once
// One device at work: its primary context, our stream, its memory, and the kernels compiled for it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "gpu/driver/compiler.hpp"
#include "gpu/driver/cuda_library.hpp"
#include "gpu/driver/driver.hpp"
#include "memgauge/clock.hpp"
#include "memgauge/team.hpp"

namespace memgauge::gpu {

// A kernel by its plain name, in the text of `source`, and the line that instantiates it there;
// without one the source has it as it is.
struct KernelText {
    std::string name;
    std::string line;
};

// An event that lies on the clock of the host: between two readings of it.
struct Anchor {
    cuda::Event event = nullptr;
    Ticks at = 0;  // in the middle
    double error_ns = 0.0;
};

class Device {
public:
    Device(std::shared_ptr<const Driver> driver, int index, const std::string& compiler);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    [[nodiscard]] const cuda::Calls& calls() const noexcept { return driver_->calls; }
    [[nodiscard]] const GpuFacts& facts() const noexcept { return facts_; }
    [[nodiscard]] const Compiler& compiler() const noexcept { return compiler_; }
    [[nodiscard]] cuda::Context context() const noexcept { return context_; }
    [[nodiscard]] cuda::Stream stream() const noexcept { return stream_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }  // "cuda:0"
    // A few bytes of memory for what a kernel says, or where a store goes that never happens.
    static constexpr std::size_t scratch_bytes = 256;
    [[nodiscard]] cuda::DevicePointer scratch() const noexcept { return scratch_; }

    // Makes the context the calling thread's; first thing in every call from outside.
    void enter() const;
    void check(cuda::Result result, const char* call) const {
        cuda::check(calls(), result, call, name_);
    }

    [[nodiscard]] std::size_t free_bytes() const;
    [[nodiscard]] std::vector<int> peers() const;

    // Compiles what of `kernels` was not yet, in one go; `source`: a text of kernels/. Kept for the
    // life of the device.
    void prepare(const char* source, std::span<const KernelText> kernels);
    // One that was prepared.
    [[nodiscard]] cuda::Function kernel(const std::string& name) const;

    // Queues a kernel on our stream; `parameters` point to what each argument is.
    void launch(cuda::Function function, std::uint64_t blocks, unsigned threads,
                std::span<void* const> parameters) const;
    // Until all that was queued on a stream is done, looking at `stop` now and then: then it waits
    // all the same, because what was queued cannot be taken back, and throws Interrupted.
    void wait(cuda::Stream stream, const StopCheck& stop) const;
    void wait(const StopCheck& stop) const { wait(stream_, stop); }

    // Events of this device, made once and used again by each run; at least `count`.
    [[nodiscard]] std::span<const cuda::Event> events(std::size_t count);
    // The narrowest of a few tries, on our stream, which should be idle; uses the first events.
    static constexpr std::size_t anchor_events = 5;
    Anchor anchor();
    // Nanoseconds between two events that have happened.
    [[nodiscard]] double elapsed_ns(cuda::Event begin, cuda::Event end) const;

    // One run at a time.
    [[nodiscard]] std::mutex& turn() noexcept { return turn_; }
    [[nodiscard]] const std::shared_ptr<Reader>& reader() const noexcept { return reader_; }
    void read_with(std::shared_ptr<Reader> reader);
    std::optional<RegionReadings> readings;  // of the last run
    std::optional<double> clock_error_ns;
    // How long a kernel holds the stream while what is timed is queued; grows on a slow host.
    std::uint64_t hold_ns = 50'000;

private:
    void open();
    void close() noexcept;
    void load(const std::string& text, std::span<const KernelText> kernels);

    std::shared_ptr<const Driver> driver_;
    int index_;
    std::string name_;
    GpuFacts facts_;
    Compiler compiler_;
    cuda::DeviceHandle handle_ = 0;
    cuda::Context context_ = nullptr;
    cuda::Stream stream_ = nullptr;
    cuda::DevicePointer scratch_ = 0;
    std::vector<cuda::Event> events_;
    std::vector<cuda::Module> modules_;
    std::unordered_map<std::string, cuda::Function> kernels_;
    std::shared_ptr<Reader> reader_;
    std::mutex turn_;
};

// Memory of a device; freed with its owner.
class DeviceMemory {
public:
    // RequestError: so much is not free; says how much is.
    DeviceMemory(std::shared_ptr<Device> device, std::size_t bytes);
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    [[nodiscard]] cuda::DevicePointer at(std::size_t byte = 0) const noexcept {
        return address_ + byte;
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    void to_host(void* into, std::size_t begin, std::size_t bytes) const;
    void from_host(const void* from, std::size_t begin, std::size_t bytes) const;

private:
    std::shared_ptr<Device> device_;
    cuda::DevicePointer address_ = 0;
    std::size_t bytes_;
};

// Of kernels whose blocks are of no size of their own choice.
inline constexpr unsigned block_threads = 256;

// Queues `function` with these arguments, each of the type the kernel declares.
template <class... Arguments>
void launch(const Device& device, cuda::Function function, std::uint64_t blocks, unsigned threads,
            Arguments... arguments) {
    void* const parameters[] = {&arguments...};
    device.launch(function, blocks, threads, parameters);
}

// "1234567 bytes (1.2 MB)".
std::string bytes_text(std::size_t bytes);

}  // namespace memgauge::gpu
