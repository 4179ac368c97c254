#include "threads/affinity.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

#include "memgauge/team.hpp"

namespace memgauge {
namespace {

// A CPU mask of any size: cpu_set_t itself ends at 1024 CPUs.
class CpuMask {
public:
    explicit CpuMask(int cpus)
        : mask_(CPU_ALLOC(static_cast<std::size_t>(cpus))),
          bytes_(CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus))) {
        if (!mask_) throw std::bad_alloc();
        CPU_ZERO_S(bytes_, mask_.get());
    }
    void add(int cpu) noexcept { CPU_SET_S(static_cast<std::size_t>(cpu), bytes_, mask_.get()); }
    [[nodiscard]] bool has(int cpu) const noexcept {
        return CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes_, mask_.get());
    }
    [[nodiscard]] cpu_set_t* get() const noexcept { return mask_.get(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] int capacity() const noexcept { return static_cast<int>(bytes_ * 8); }

private:
    struct Free {
        void operator()(cpu_set_t* mask) const noexcept { CPU_FREE(mask); }
    };
    std::unique_ptr<cpu_set_t, Free> mask_;
    std::size_t bytes_;
};

constexpr int first_mask_cpus = 1024;
constexpr int largest_mask_cpus = 1 << 20;

}  // namespace

// The kernel answers with the thread's mask, already cut down to its cgroup's cpuset and to the
// CPUs that are online (sched_getaffinity ands with cpu_active_mask).
// /sys/devices/system/cpu/online is not looked at: container file systems such as lxcfs renumber
// the CPUs in it.
std::vector<int> allowed_cpus() {
    // EINVAL says that the kernel's mask is longer than ours.
    for (int cpus = first_mask_cpus; cpus <= largest_mask_cpus; cpus *= 2) {
        const CpuMask mask(cpus);
        if (sched_getaffinity(0, mask.bytes(), mask.get()) == 0) {
            std::vector<int> allowed;
            for (int cpu = 0; cpu < mask.capacity(); ++cpu) {
                if (mask.has(cpu)) allowed.push_back(cpu);
            }
            return allowed;
        }
        if (errno != EINVAL) break;
    }
    throw SystemError("cannot read the CPU affinity mask of this process", errno);
}

int pin_this_thread(int cpu) noexcept {
    try {
        CpuMask mask(std::max(cpu + 1, first_mask_cpus));
        mask.add(cpu);
        return sched_setaffinity(0, mask.bytes(), mask.get()) == 0 ? 0 : errno;
    } catch (const std::bad_alloc&) {
        return ENOMEM;
    }
}

std::string format_cpu_list(const std::vector<int>& cpus) {
    std::string text;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t last = i;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(cpus[i]);
        if (last > i) text += '-' + std::to_string(cpus[last]);
        i = last + 1;
    }
    return text;
}

void check_cpus(const std::vector<int>& cpus, const std::vector<int>& allowed) {
    const std::string choices = format_cpu_list(allowed);
    if (cpus.empty()) {
        throw RequestError("a team needs at least one CPU, none was given; choose among " +
                           choices);
    }
    for (const int cpu : cpus) {
        if (!std::ranges::binary_search(allowed, cpu)) {
            throw RequestError("cpu " + std::to_string(cpu) +
                               " is not allowed to this process; allowed: " + choices +
                               "; choose among these, or widen its affinity mask or cgroup cpuset");
        }
    }
    std::vector<int> sorted = cpus;
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end()) {
        throw RequestError("cpu " + std::to_string(*twice) +
                           " is listed twice; a team runs one thread per CPU, name each once");
    }
}

}  // namespace memgauge
