// perf_event_open for real, with the kernel's software events, and with tracepoints where the
// kernel lets us.

#include "memgauge/counters/perf.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "forked.hpp"
#include "memgauge/error.hpp"

using memgauge::CounterRefused;
using memgauge::CounterSource;
using memgauge::open_perf_group;
using memgauge::open_perf_single;
using memgauge::perf_refusal;
using memgauge::PerfEvent;
using memgauge::PerfTarget;
using memgauge::test::Forked;
using memgauge::test::leave_descriptors;
using memgauge::test::most_faults_a_page;
using memgauge::test::Steps;
using memgauge::test::touch_pages;

namespace {

struct Values {
    std::vector<std::uint64_t> values;
    std::vector<std::uint8_t> present;
    std::uint64_t operator[](std::size_t slot) const { return values.at(slot); }
    [[nodiscard]] std::size_t missing() const {
        return static_cast<std::size_t>(std::ranges::count(present, 0));
    }
};

Values read(CounterSource& source) {
    Values into{.values = std::vector<std::uint64_t>(source.slots(), 77),
                .present = std::vector<std::uint8_t>(source.slots(), 7)};
    source.read({into.values, into.present});
    CHECK(std::ranges::all_of(into.present, [](std::uint8_t flag) { return flag <= 1; }));
    return into;
}

PerfEvent software(std::uint64_t config) {
    return {.type = PERF_TYPE_SOFTWARE, .config = config, .exclude_kernel = true};
}

const PerfEvent minor_faults = software(PERF_COUNT_SW_PAGE_FAULTS_MIN);
const PerfEvent task_clock = software(PERF_COUNT_SW_TASK_CLOCK);
constexpr PerfTarget this_thread{.pid = 0};

// Whether this machine counts software events for us at all (qemu-user knows no such system call,
// containers may forbid it); says why where it does not.
bool counts_here(const PerfEvent& event, const PerfTarget& target) {
    const int refusal = perf_refusal(event, target);
    if (refusal != 0) MESSAGE("skipped: perf_event_open: " << std::string(std::strerror(refusal)));
    return refusal == 0;
}

struct Refusal {
    int error_number = 0;
    std::size_t index = 0;
    std::string what;
};

Refusal refusal_of(const std::vector<PerfEvent>& events, const PerfTarget& target) {
    try {
        open_perf_group(events, target);
    } catch (const CounterRefused& refused) {
        return {refused.error_number(), refused.index(), refused.what()};
    }
    return {};
}

// The event of a system call's tracepoint; nothing where tracefs is not there.
std::optional<PerfEvent> tracepoint(const std::string& name) {
    for (const char* root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
        std::ifstream file(std::string(root) + "/events/syscalls/sys_enter_" + name + "/id");
        std::uint64_t id = 0;
        if (file >> id) return PerfEvent{.type = PERF_TYPE_TRACEPOINT, .config = id};
    }
    return std::nullopt;
}

bool sleeps(pid_t pid) {
    std::string text;
    std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), text);
    return text.find(") S ") != std::string::npos;
}

}  // namespace

TEST_CASE("a group counts all its events at the same times") {
    if (!counts_here(minor_faults, this_thread)) return;
    const auto group = open_perf_group(std::vector{task_clock, minor_faults}, this_thread);
    REQUIRE(group->slots() == 4);
    const Values before = read(*group);
    touch_pages(500);
    const Values after = read(*group);
    CHECK(before.missing() + after.missing() == 0);
    CHECK(after[3] - before[3] >= 500);
    CHECK(after[3] - before[3] < 500 * most_faults_a_page + 100);
    CHECK(after[2] > before[2]);                          // task clock, ns
    CHECK(after[0] > before[0]);                          // enabled ns
    CHECK(after[1] <= after[0]);                          // running within enabled
    CHECK(after[1] - before[1] == after[0] - before[0]);  // software counters are never multiplexed
}

TEST_CASE("single descriptors count the same as a group") {
    if (!counts_here(minor_faults, this_thread)) return;
    const auto group = open_perf_group(std::vector{minor_faults}, this_thread);
    const auto single = open_perf_single(minor_faults, this_thread);
    REQUIRE(single->slots() == 3);
    const Values group_before = read(*group);
    const Values single_before = read(*single);
    touch_pages(200);
    const Values single_after = read(*single);
    const Values group_after = read(*group);
    const auto in_single = single_after[2] - single_before[2];
    const auto in_group = group_after[2] - group_before[2];
    CHECK(in_single >= 200);
    CHECK(in_group >= in_single);
    CHECK(in_group - in_single < 20);
}

TEST_CASE("what a thread started later does is counted with inherit only") {
    PerfTarget target{.pid = 0, .inherit = true};
    if (!counts_here(minor_faults, target)) return;
    const auto inherited = open_perf_single(minor_faults, target);
    const auto own = open_perf_single(minor_faults, this_thread);
    const std::uint64_t own_before = read(*own)[2];
    const std::uint64_t inherited_before = read(*inherited)[2];
    std::thread([] { touch_pages(1000); }).join();
    CHECK(read(*inherited)[2] - inherited_before >= 1000);
    CHECK(read(*own)[2] - own_before < 900);  // making a thread costs some
}

TEST_CASE("an inherited group counts children, or is refused with EINVAL by its leader") {
    PerfTarget target{.pid = 0, .inherit = true};
    if (!counts_here(minor_faults, target)) return;
    const std::vector events{minor_faults, task_clock};
    const Refusal refusal = refusal_of(events, target);
    if (refusal.error_number != 0) {
        CHECK(refusal.error_number == EINVAL);
        return;
    }
    const auto group = open_perf_group(events, target);
    const Values before = read(*group);
    std::thread([] { touch_pages(1000); }).join();
    CHECK(read(*group)[2] - before[2] >= 1000);
}

TEST_CASE("a process that did not run has counted nothing, which is known") {
    if (!counts_here(minor_faults, this_thread)) return;
    const Forked child([](const Steps& steps) { steps.stop_here(); });
    child.await();
    while (!sleeps(child.pid())) usleep(1000);
    const Values asleep = read(*open_perf_single(minor_faults, {.pid = child.pid()}));
    CHECK(asleep.missing() == 0);
    CHECK(asleep[2] == 0);
}

TEST_CASE("the counts of a process that ended stay readable") {
    if (!counts_here(minor_faults, this_thread)) return;
    Forked child([](const Steps& steps) {
        steps.stop_here();
        touch_pages(300);
    });
    child.await();
    const auto source = open_perf_single(minor_faults, {.pid = child.pid()});
    child.go_on();
    child.wait();
    const Values last = read(*source);
    CHECK(last.missing() == 0);
    CHECK(last[2] >= 300);
    CHECK(read(*source).values == last.values);
}

TEST_CASE("a refused event is named with the kernel's errno") {
    if (!counts_here(minor_faults, this_thread)) return;
    const PerfEvent nonsense = software(9999);
    const PerfEvent of_no_pmu{.type = 0x7fff'0000};
    const Refusal third = refusal_of({minor_faults, task_clock, nonsense}, this_thread);
    CHECK(third.index == 2);
    CHECK(third.error_number == perf_refusal(nonsense, this_thread));
    CHECK(third.what.find("perf event 2 cannot be opened: ") == 0);
    CHECK(refusal_of({of_no_pmu}, this_thread).error_number == ENOENT);
    CHECK(refusal_of({minor_faults}, {.pid = 0, .cpu = 100'000}).error_number != 0);
    CHECK_THROWS_AS(open_perf_single(of_no_pmu, this_thread), CounterRefused);
    CHECK_THROWS_AS(open_perf_group({}, this_thread), memgauge::RequestError);
}

TEST_CASE("a process that does not exist gives ESRCH") {
    if (!counts_here(minor_faults, this_thread)) return;
    CHECK(refusal_of({minor_faults}, {.pid = 0x3fff'ffff}).error_number == ESRCH);
}

TEST_CASE("a target of neither process nor CPU is refused") {
    if (!counts_here(minor_faults, this_thread)) return;
    CHECK(perf_refusal(minor_faults, {.pid = -1, .cpu = -1}) == EINVAL);
}

TEST_CASE("a fourth configuration word reaches the kernel, whatever its headers are") {
    if (!counts_here(minor_faults, this_thread)) return;
    PerfEvent event = minor_faults;
    event.config3 = 1;  // software events do not look at it
    const int refusal = perf_refusal(event, this_thread);
    CHECK((refusal == 0 || refusal == E2BIG));
}

TEST_CASE("running out of descriptors gives EMFILE and leaves none open") {
    if (!counts_here(minor_faults, this_thread)) return;
    Forked child([](const Steps&) {
        const int first_free = leave_descriptors(2);
        const Refusal refusal = refusal_of({4, minor_faults}, this_thread);
        if (refusal.error_number != EMFILE || refusal.index != 2) _exit(2);
        if (dup(0) != first_free) _exit(3);
    });
    child.wait();
    CHECK(child.exit_code() == 0);
}

TEST_CASE("descriptors are closed on exec") {
    if (!counts_here(minor_faults, this_thread)) return;
    const int first_free = dup(0);
    close(first_free);
    const auto source = open_perf_single(minor_faults, this_thread);
    CHECK((fcntl(first_free, F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("a tracepoint's count is exact, on the CPU where it happened") {
    const auto event = tracepoint("getpriority");
    const PerfTarget machine{.pid = -1, .cpu = sched_getcpu()};
    if (!event) {
        MESSAGE("skipped: no tracefs with system call tracepoints");
        return;
    }
    if (!counts_here(*event, machine)) return;
    const auto own = open_perf_group(std::vector{*event, *event}, this_thread);
    const Values before = read(*own);
    for (int i = 0; i < 1000; ++i) getpriority(PRIO_PROCESS, 0);
    const Values after = read(*own);
    CHECK(after.missing() == 0);
    CHECK(after[2] - before[2] == 1000);
    CHECK(after[3] - before[3] == 1000);
    CHECK_NOTHROW(read(*open_perf_single(*event, machine)));
}

namespace {

// A source whose descriptor was put in place of by a pipe that holds `words`: what the kernel might
// answer and software events never do.
Values answered(std::unique_ptr<CounterSource> (*open)(), const std::vector<std::uint64_t>& words) {
    const int descriptor = dup(0);  // the next one to be free
    close(descriptor);
    const auto source = open();
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    const std::size_t bytes = words.size() * sizeof(std::uint64_t);
    REQUIRE(write(ends[1], words.data(), bytes) == static_cast<ssize_t>(bytes));
    REQUIRE(dup3(ends[0], descriptor, O_CLOEXEC) == descriptor);
    close(ends[0]);
    close(ends[1]);
    return read(*source);
}

std::unique_ptr<CounterSource> one_in_a_group() {
    return open_perf_group(std::vector{minor_faults}, this_thread);
}

std::unique_ptr<CounterSource> one_alone() {
    return open_perf_single(minor_faults, this_thread);
}

}  // namespace

TEST_CASE("what was enabled and never ran is missing, not zero") {
    if (!counts_here(minor_faults, this_thread)) return;
    const Values group = answered(one_in_a_group, {1, 500, 0, 0});
    CHECK(group.values == std::vector<std::uint64_t>{500, 0, 0});
    CHECK(group.present == std::vector<std::uint8_t>{1, 1, 0});
    CHECK(answered(one_alone, {0, 500, 0}).present == std::vector<std::uint8_t>{1, 1, 0});
}

TEST_CASE("a multiplexed value is read as it is") {
    if (!counts_here(minor_faults, this_thread)) return;
    const Values group = answered(one_in_a_group, {1, 500, 20, 8});
    CHECK(group.values == std::vector<std::uint64_t>{500, 20, 8});
    CHECK(group.missing() == 0);
    const Values alone = answered(one_alone, {8, 500, 20});
    CHECK(alone.values == group.values);
    CHECK(alone.missing() == 0);
}

TEST_CASE("a counter in its error state reads as end of file and is missing altogether") {
    if (!counts_here(minor_faults, this_thread)) return;
    CHECK(answered(one_in_a_group, {}).missing() == 3);
    CHECK(answered(one_alone, {}).missing() == 3);
}

TEST_CASE("a short answer, a group of another size and a value beyond 2^63 are missing") {
    if (!counts_here(minor_faults, this_thread)) return;
    CHECK(answered(one_in_a_group, {1, 500, 500}).missing() == 3);
    CHECK(answered(one_in_a_group, {2, 500, 500, 8}).missing() == 3);
    const std::uint64_t wrapped = ~std::uint64_t{0};
    CHECK(answered(one_alone, {wrapped, 500, 500}).present == std::vector<std::uint8_t>{1, 1, 0});
}
