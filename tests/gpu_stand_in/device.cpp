#include "device.hpp"

#include <sys/mman.h>
#include <time.h>

#include <memory>

#include "knobs.hpp"

namespace stand_in {
namespace {

constexpr std::uint64_t gap = std::uint64_t{1} << 30U;  // between devices: nobody's

struct Machine {
    std::vector<std::unique_ptr<Device>> devices;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::atomic<bool> started{false};
};

std::string own(const std::string& name, int ordinal, const std::string& otherwise) {
    return knob(name + "_" + std::to_string(ordinal), knob(name, otherwise));
}

// Addresses only; pages come as they are touched.
std::uint64_t reserve(std::uint64_t bytes) {
    void* made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return made == MAP_FAILED ? 0 : reinterpret_cast<std::uint64_t>(made);
}

Machine* made() {
    auto* machine = new Machine;
    const auto count = static_cast<int>(knob_number("devices", 1));
    std::uint64_t bytes = gap;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        auto device = std::make_unique<Device>();
        device->ordinal = device->primary.device = ordinal;
        device->name = own("name", ordinal, "Stand-in GPU");
        device->memory_bytes =
            std::stoull(own("memory", ordinal, std::to_string(std::uint64_t{64} << 20U)));
        device->peers_enabled.resize(static_cast<std::size_t>(count));
        device->begin = bytes;
        bytes += (device->memory_bytes + gap - 1) / gap * gap + gap;
        machine->devices.push_back(std::move(device));
    }
    machine->begin = reserve(bytes);
    machine->end = machine->begin + bytes;
    for (const auto& device : machine->devices) device->begin += machine->begin;
    return machine;
}

// Never destroyed: threads of streams outlive static objects.
Machine& machine() {
    static Machine* const all = made();
    return *all;
}

}  // namespace

std::uint64_t Device::used() const {
    std::uint64_t bytes = 0;
    for (const auto& [from, to] : allocations) bytes += to - from;
    return bytes;
}

Device* device_at(int ordinal) {
    return ordinal < 0 || ordinal >= device_count()
               ? nullptr
               : machine().devices[static_cast<std::size_t>(ordinal)].get();
}

int device_count() {
    return static_cast<int>(machine().devices.size());
}

Device* device_of(std::uint64_t address, std::uint64_t bytes) {
    for (const auto& device : machine().devices) {
        const std::lock_guard turn(device->turn);
        auto next = device->allocations.upper_bound(address);
        if (next == device->allocations.begin()) continue;
        --next;
        if (address + bytes <= next->second) return device.get();
    }
    return nullptr;
}

std::uint64_t arena_begin() {
    return machine().begin;
}

std::uint64_t arena_end() {
    return machine().end;
}

std::vector<Allocation> all_allocations() {
    std::vector<Allocation> all;
    for (const auto& device : machine().devices) {
        const std::lock_guard turn(device->turn);
        for (const auto& [from, to] : device->allocations) all.push_back({from, to});
    }
    return all;
}

int entered(const char* entry_point) {
    if (const int scripted = called(entry_point)) return scripted;
    if (!machine().started) return cu_not_initialized;
    return current() == nullptr ? 0 : current()->sticky.load();
}

void start() {
    machine().started = true;
}

CUctx_st*& current() {
    thread_local CUctx_st* context = nullptr;
    return context;
}

Device* current_device() {
    return current() == nullptr ? nullptr : device_at(current()->device);
}

std::uint64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace stand_in

STAND_IN int gpu_stand_in_totals_of(int ordinal, gpu_stand_in_totals* into) {
    stand_in::Device* device = stand_in::device_at(ordinal);
    if (device == nullptr) return cu_invalid_device;
    const std::lock_guard turn(device->turn);
    *into = device->totals;
    return 0;
}

STAND_IN unsigned long long gpu_stand_in_calls(const char* entry_point) {
    return stand_in::calls_of(entry_point);
}

STAND_IN const char* gpu_stand_in_knob(const char* name) {
    thread_local std::string value;
    value = stand_in::knob(name, "");
    return value.c_str();
}

STAND_IN unsigned long long gpu_stand_in_device_ns(int ordinal) {
    stand_in::Device* device = stand_in::device_at(ordinal);
    if (device == nullptr) return 0;
    const std::lock_guard turn(device->turn);
    return device->done_ns;
}
