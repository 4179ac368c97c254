#include "memgauge/counters/perf.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "descriptor.hpp"
#include "memgauge/error.hpp"

namespace memgauge {
namespace {

constexpr std::uint64_t time_fields =
    PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

// struct perf_event_attr with config3, which kernel headers before 6.3 lack.
struct Attributes {
    static constexpr std::uint32_t config3_at = 128;  // PERF_ATTR_SIZE_VER7 ends here
    static constexpr std::uint32_t bytes = config3_at + sizeof(std::uint64_t);
    alignas(
        perf_event_attr) std::byte raw[std::max<std::size_t>(bytes, sizeof(perf_event_attr))] = {};
};

Attributes attributes(const PerfEvent& event, bool inherit, std::uint64_t format, bool disabled) {
    perf_event_attr attr = {};
    attr.type = event.type;
    attr.size = event.config3 == 0 ? Attributes::config3_at : Attributes::bytes;
    attr.config = event.config;
    attr.config1 = event.config1;
    attr.config2 = event.config2;
    attr.read_format = format;
    attr.disabled = disabled ? 1 : 0;
    attr.inherit = inherit ? 1 : 0;
    attr.exclude_user = event.exclude_user ? 1 : 0;
    attr.exclude_kernel = event.exclude_kernel ? 1 : 0;
    attr.exclude_hv = event.exclude_hv ? 1 : 0;
    attr.exclude_guest = event.exclude_guest ? 1 : 0;
    Attributes made;
    std::memcpy(made.raw, &attr, sizeof attr);
    std::memcpy(made.raw + Attributes::config3_at, &event.config3, sizeof event.config3);
    return made;
}

// Empty with errno set where the kernel refuses.
Descriptor open_event(Attributes made, const PerfTarget& target, int leader) noexcept {
    return Descriptor(static_cast<int>(syscall(SYS_perf_event_open, made.raw, target.pid,
                                               target.cpu, leader, PERF_FLAG_FD_CLOEXEC)));
}

[[noreturn]] void refuse(std::size_t index, int error_number) {
    throw CounterRefused("perf event " + std::to_string(index) + " cannot be opened", error_number,
                         index);
}

// What read(2) left, as slots; `enabled_at` and `values_at` say where it stands in `words`.
void deliver(std::span<const std::uint64_t> words, std::size_t enabled_at, std::size_t values_at,
             SlotSpan into) noexcept {
    const std::uint64_t enabled_ns = words[enabled_at];
    const std::uint64_t running_ns = words[enabled_at + 1];
    const bool counted = running_ns > 0 || enabled_ns == 0;
    into.values[0] = enabled_ns;
    into.values[1] = running_ns;
    into.present[0] = into.present[1] = 1;
    for (std::size_t slot = 2; slot < into.values.size(); ++slot) {
        const std::uint64_t value = words[values_at + slot - 2];
        into.values[slot] = value;
        into.present[slot] = counted && value < slot_limit ? 1 : 0;
    }
}

// Whether the kernel gave as many words as there are; it gives none of a counter in error.
bool read_whole(const Descriptor& from, std::span<std::uint64_t> words) noexcept {
    const ssize_t got = ::read(from.get(), words.data(), words.size_bytes());
    return got > 0 && static_cast<std::size_t>(got) == words.size_bytes();
}

class PerfGroup final : public CounterSource {
public:
    PerfGroup(std::span<const PerfEvent> events, const PerfTarget& target)
        : words_(head + events.size()) {
        descriptors_.reserve(events.size());
        for (std::size_t index = 0; index < events.size(); ++index) {
            add(events[index], index, target);
        }
        // Siblings wait for their leader, so that all begin at once.
        if (ioctl(descriptors_.front().get(), PERF_EVENT_IOC_ENABLE, 0) != 0) refuse(0, errno);
    }

    [[nodiscard]] std::size_t slots() const noexcept override { return 2 + descriptors_.size(); }

    void read(SlotSpan into) noexcept override {
        if (read_whole(descriptors_.front(), words_) && words_[0] == descriptors_.size()) {
            deliver(words_, 1, head, into);
        } else {
            into.mark_all_missing();
        }
    }

private:
    static constexpr std::size_t head = 3;  // number of values, enabled ns, running ns

    void add(const PerfEvent& event, std::size_t index, const PerfTarget& target) {
        const bool leads = index == 0;
        const int leader = leads ? -1 : descriptors_.front().get();
        Descriptor opened =
            open_event(attributes(event, target.inherit, time_fields | PERF_FORMAT_GROUP, leads),
                       target, leader);
        if (!opened) refuse(index, errno);
        descriptors_.push_back(std::move(opened));
    }

    std::vector<Descriptor> descriptors_;  // the leader first
    std::vector<std::uint64_t> words_;
};

class PerfSingle final : public CounterSource {
public:
    PerfSingle(const PerfEvent& event, const PerfTarget& target)
        : descriptor_(
              open_event(attributes(event, target.inherit, time_fields, false), target, -1)) {
        if (!descriptor_) refuse(0, errno);
    }

    [[nodiscard]] std::size_t slots() const noexcept override { return 3; }

    void read(SlotSpan into) noexcept override {
        std::array<std::uint64_t, 3> words{};  // value, enabled ns, running ns
        if (read_whole(descriptor_, words)) {
            deliver(words, 1, 0, into);
        } else {
            into.mark_all_missing();
        }
    }

private:
    Descriptor descriptor_;
};

}  // namespace

std::unique_ptr<CounterSource> open_perf_group(std::span<const PerfEvent> events,
                                               const PerfTarget& target) {
    if (events.empty()) {
        throw RequestError("perf group: no event to count; give at least one");
    }
    return std::make_unique<PerfGroup>(events, target);
}

std::unique_ptr<CounterSource> open_perf_single(const PerfEvent& event, const PerfTarget& target) {
    return std::make_unique<PerfSingle>(event, target);
}

int perf_refusal(const PerfEvent& event, const PerfTarget& target) noexcept {
    return open_event(attributes(event, target.inherit, time_fields, true), target, -1) ? 0 : errno;
}

}  // namespace memgauge
