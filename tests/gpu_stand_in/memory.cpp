// Device memory, pinned memory and copies.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "knobs.hpp"
#include "stream.hpp"

namespace {

using namespace stand_in;

constexpr std::uint64_t granule = 512;                             // of allocations
constexpr std::uint64_t filled_at_most = std::uint64_t{1} << 28U;  // so that none is zero by luck

struct Pinned {
    std::mutex turn;
    std::map<std::uint64_t, std::uint64_t> ranges;  // begin, end
    std::map<std::uint64_t, bool> allocated;        // by cuMemHostAlloc
};

Pinned& pinned() {
    static auto* const all = new Pinned;
    return *all;
}

std::uint64_t number(const void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

void* pointer(std::uint64_t address) {
    return reinterpret_cast<void*>(address);
}

bool is_pinned(const void* from, std::uint64_t bytes) {
    Pinned& all = pinned();
    const std::lock_guard turn(all.turn);
    auto next = all.ranges.upper_bound(number(from));
    if (next == all.ranges.begin()) return false;
    --next;
    return number(from) + bytes <= next->second;
}

bool overlaps_pinned(std::uint64_t begin, std::uint64_t end) {
    return std::ranges::any_of(pinned().ranges, [&](const auto& range) {
        return begin < range.second && range.first < end;
    });
}

// First fit; 0: no room.
std::uint64_t place(const Device& device, std::uint64_t bytes) {
    std::uint64_t at = device.begin;
    for (const auto& [from, to] : device.allocations) {
        if (from - at >= bytes + granule) return at;
        at = (to + granule - 1) / granule * granule + granule;  // a gap that is nobody's
    }
    return at;
}

int allocate(CUdeviceptr* into, std::uint64_t bytes) {
    Device* device = current_device();
    if (device == nullptr) return cu_invalid_context;
    if (into == nullptr || bytes == 0) return cu_invalid_value;
    std::uint64_t at = 0;
    {
        const std::lock_guard turn(device->turn);
        const std::uint64_t whole = (bytes + granule - 1) / granule * granule;
        if (device->used() + whole > device->memory_bytes) return cu_out_of_memory;
        at = place(*device, whole);
        device->allocations[at] = at + bytes;
    }
    if (bytes <= filled_at_most) std::memset(pointer(at), 0xff, bytes);
    *into = at;
    return 0;
}

enum class Way { to_device, to_host, within, peer };

void count(Way way, Device* from, Device* to, std::uint64_t bytes) {
    for (Device* each : {from, to}) {
        if (each == nullptr || (each == from && from == to && way == Way::peer)) continue;
        const std::lock_guard turn(each->turn);
        gpu_stand_in_totals& totals = each->totals;
        if (way == Way::to_device) totals.from_host_bytes += bytes;
        if (way == Way::to_host) totals.to_host_bytes += bytes;
        if (way == Way::peer)
            (each == from ? totals.to_peer_bytes : totals.from_peer_bytes) += bytes;
        if (way == Way::within) {
            totals.within_bytes += bytes;
            ++totals.copies;
            return;
        }
        ++totals.copies;
    }
}

double cost(Way way, std::uint64_t bytes) {
    const Clockwork& clock = clockwork();
    const auto moved = static_cast<double>(bytes);
    switch (way) {
        case Way::to_device:
            return clock.copy_ns + moved * clock.to_device_ns_per_byte;
        case Way::to_host:
            return clock.copy_ns + moved * clock.to_host_ns_per_byte;
        case Way::peer:
            return clock.copy_ns + moved * clock.peer_ns_per_byte;
        case Way::within:
            break;
    }
    return clock.copy_ns + 2 * moved * clock.kernel_ns_per_byte;
}

int copy(std::uint64_t into, std::uint64_t from, std::uint64_t bytes, CUstream stream,
         bool host_waits) {
    if (current_device() == nullptr) return cu_invalid_context;
    if (bytes == 0) return 0;
    const auto in_arena = [](std::uint64_t at) { return at >= arena_begin() && at < arena_end(); };
    Device* target = device_of(into, bytes);
    Device* source = device_of(from, bytes);
    if ((in_arena(into) && target == nullptr) || (in_arena(from) && source == nullptr)) {
        return cu_invalid_value;
    }
    const Way way = target != nullptr && source != nullptr
                        ? (target == source ? Way::within : Way::peer)
                    : target != nullptr ? Way::to_device
                                        : Way::to_host;
    // Memory that is not pinned is staged: the host's buffer is free again when the call returns.
    const bool staged = (target == nullptr && !is_pinned(pointer(into), bytes)) ||
                        (source == nullptr && !is_pinned(pointer(from), bytes));
    submit(
        stream,
        [=](std::uint64_t) {
            std::memmove(pointer(into), pointer(from), bytes);
            count(way, source, target, bytes);
            return cost(way, bytes);
        },
        host_waits || staged);
    return 0;
}

int set(CUdeviceptr into, std::uint64_t count_of, unsigned value, unsigned bytes_each,
        CUstream stream, bool host_waits) {
    const std::uint64_t bytes = count_of * bytes_each;
    Device* device = device_of(into, bytes);
    if (current_device() == nullptr) return cu_invalid_context;
    if (device == nullptr || into % bytes_each != 0) return cu_invalid_value;
    submit(
        stream,
        [=](std::uint64_t) {
            for (std::uint64_t at = 0; at < bytes; at += bytes_each) {
                std::memcpy(pointer(into + at), &value, bytes_each);
            }
            const std::lock_guard turn(device->turn);
            device->totals.kernel_write_bytes += bytes;
            return clockwork().launch_ns +
                   static_cast<double>(bytes) * clockwork().kernel_ns_per_byte;
        },
        host_waits);
    return 0;
}

int host_allocated(void** into, std::uint64_t bytes) {
    if (current_device() == nullptr) return cu_invalid_context;
    if (bytes == 0 || bytes > knob_number("pinnable", std::uint64_t{1} << 36U)) {
        return bytes == 0 ? cu_invalid_value : cu_out_of_memory;
    }
    void* made = ::operator new(bytes, std::align_val_t{4096}, std::nothrow);
    if (made == nullptr) return cu_out_of_memory;
    Pinned& all = pinned();
    const std::lock_guard turn(all.turn);
    all.ranges[number(made)] = number(made) + bytes;
    all.allocated[number(made)] = true;
    *into = made;
    return 0;
}

}  // namespace

STAND_IN CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
    ENTRY;
    Device* device = current_device();
    if (device == nullptr) return cu_invalid_context;
    const std::lock_guard turn(device->turn);
    *free_bytes = device->memory_bytes - device->used();
    *total_bytes = device->memory_bytes;
    return 0;
}

STAND_IN CUresult cuMemAlloc_v2(CUdeviceptr* into, size_t bytes) {
    ENTRY;
    return allocate(into, bytes);
}

STAND_IN CUresult cuMemFree_v2(CUdeviceptr address) {
    ENTRY;
    if (address == 0) return 0;
    Device* device = device_of(address, 1);
    if (device == nullptr) return cu_invalid_value;
    drain(*device, false);
    const std::lock_guard turn(device->turn);
    const auto found = device->allocations.find(address);
    if (found == device->allocations.end()) return cu_invalid_value;
    madvise(pointer((address + 4095) / 4096 * 4096),
            found->second / 4096 * 4096 > (address + 4095) / 4096 * 4096
                ? found->second / 4096 * 4096 - (address + 4095) / 4096 * 4096
                : 0,
            MADV_DONTNEED);
    device->allocations.erase(found);
    return 0;
}

STAND_IN CUresult cuMemHostAlloc(void** into, size_t bytes, unsigned) {
    ENTRY;
    return host_allocated(into, bytes);
}

STAND_IN CUresult cuMemAllocHost_v2(void** into, size_t bytes) {
    ENTRY;
    return host_allocated(into, bytes);
}

STAND_IN CUresult cuMemFreeHost(void* address) {
    ENTRY;
    Pinned& all = pinned();
    const std::lock_guard turn(all.turn);
    if (all.allocated.erase(number(address)) == 0) return cu_invalid_value;
    all.ranges.erase(number(address));
    ::operator delete(address, std::align_val_t{4096});
    return 0;
}

STAND_IN CUresult cuMemHostRegister_v2(void* address, size_t bytes, unsigned) {
    ENTRY;
    if (current_device() == nullptr) return cu_invalid_context;
    if (address == nullptr || bytes == 0) return cu_invalid_value;
    Pinned& all = pinned();
    const std::lock_guard turn(all.turn);
    if (overlaps_pinned(number(address), number(address) + bytes)) {
        return cu_host_memory_already_registered;
    }
    all.ranges[number(address)] = number(address) + bytes;
    return 0;
}

STAND_IN CUresult cuMemHostUnregister(void* address) {
    ENTRY;
    Pinned& all = pinned();
    const std::lock_guard turn(all.turn);
    if (all.allocated.count(number(address)) != 0) return cu_invalid_value;
    return all.ranges.erase(number(address)) == 0 ? cu_host_memory_not_registered : 0;
}

STAND_IN CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* into, void* address, unsigned) {
    ENTRY;
    if (!is_pinned(address, 1)) return cu_invalid_value;
    *into = number(address);
    return 0;
}

STAND_IN CUresult cuMemcpyHtoD_v2(CUdeviceptr into, const void* from, size_t bytes) {
    ENTRY;
    return copy(into, number(from), bytes, nullptr, true);
}

STAND_IN CUresult cuMemcpyDtoH_v2(void* into, CUdeviceptr from, size_t bytes) {
    ENTRY;
    return copy(number(into), from, bytes, nullptr, true);
}

STAND_IN CUresult cuMemcpyDtoD_v2(CUdeviceptr into, CUdeviceptr from, size_t bytes) {
    ENTRY;
    return copy(into, from, bytes, nullptr, true);
}

STAND_IN CUresult cuMemcpy(CUdeviceptr into, CUdeviceptr from, size_t bytes) {
    ENTRY;
    return copy(into, from, bytes, nullptr, true);
}

STAND_IN CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr into, const void* from, size_t bytes,
                                       CUstream stream) {
    ENTRY;
    return copy(into, number(from), bytes, stream, false);
}

STAND_IN CUresult cuMemcpyDtoHAsync_v2(void* into, CUdeviceptr from, size_t bytes,
                                       CUstream stream) {
    ENTRY;
    return copy(number(into), from, bytes, stream, false);
}

STAND_IN CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr into, CUdeviceptr from, size_t bytes,
                                       CUstream stream) {
    ENTRY;
    return copy(into, from, bytes, stream, false);
}

STAND_IN CUresult cuMemcpyAsync(CUdeviceptr into, CUdeviceptr from, size_t bytes, CUstream stream) {
    ENTRY;
    return copy(into, from, bytes, stream, false);
}

STAND_IN CUresult cuMemcpyPeer(CUdeviceptr into, CUcontext, CUdeviceptr from, CUcontext,
                               size_t bytes) {
    ENTRY;
    return copy(into, from, bytes, nullptr, true);
}

STAND_IN CUresult cuMemcpyPeerAsync(CUdeviceptr into, CUcontext to, CUdeviceptr from,
                                    CUcontext source, size_t bytes, CUstream stream) {
    ENTRY;
    if (to == nullptr || source == nullptr) return cu_invalid_context;
    const Device* target = device_of(into, bytes);
    const Device* holder = device_of(from, bytes);
    if (target == nullptr || holder == nullptr || target->ordinal != to->device ||
        holder->ordinal != source->device) {
        return cu_invalid_value;
    }
    return copy(into, from, bytes, stream, false);
}

STAND_IN CUresult cuMemsetD8_v2(CUdeviceptr into, unsigned char value, size_t count_of) {
    ENTRY;
    return set(into, count_of, value, 1, nullptr, true);
}

STAND_IN CUresult cuMemsetD32_v2(CUdeviceptr into, unsigned value, size_t count_of) {
    ENTRY;
    return set(into, count_of, value, 4, nullptr, true);
}

STAND_IN CUresult cuMemsetD8Async(CUdeviceptr into, unsigned char value, size_t count_of,
                                  CUstream stream) {
    ENTRY;
    return set(into, count_of, value, 1, stream, false);
}

STAND_IN CUresult cuMemsetD32Async(CUdeviceptr into, unsigned value, size_t count_of,
                                   CUstream stream) {
    ENTRY;
    return set(into, count_of, value, 4, stream, false);
}
