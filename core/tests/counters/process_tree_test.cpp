// Sums over process trees: of real processes, against what the kernel tells their parent, and of
// trees written here.

#include "memgauge/counters/process_tree.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "forked.hpp"
#include "memgauge/error.hpp"

using memgauge::CounterRefused;
using memgauge::CounterSource;
using memgauge::open_process_tree;
using memgauge::perf_refusal;
using memgauge::PerfEvent;
using memgauge::process_figures;
using memgauge::ProcessFigure;
using memgauge::ProcessTreeRequest;
using memgauge::ThreadLedger;
using memgauge::ThreadUse;
using memgauge::test::Forked;
using memgauge::test::leave_descriptors;
using memgauge::test::most_faults_a_page;
using memgauge::test::Steps;
using memgauge::test::touch_pages;
using enum memgauge::ProcessFigure;

namespace {

class Figures {
public:
    explicit Figures(CounterSource& source) : values_(source.slots()), present_(source.slots(), 7) {
        source.read({values_, present_});
    }
    // Missing: nothing.
    std::optional<std::uint64_t> operator[](ProcessFigure figure) const {
        const auto slot = static_cast<std::size_t>(figure);
        return present_.at(slot) == 1 ? std::optional(values_.at(slot)) : std::nullopt;
    }
    [[nodiscard]] std::size_t missing() const {
        return static_cast<std::size_t>(std::count(present_.begin(), present_.end(), 0));
    }

private:
    std::vector<std::uint64_t> values_;
    std::vector<std::uint8_t> present_;
};

// The next reading that has figures: none is to be had while a process is being waited for.
Figures known(CounterSource& source) {
    for (int tries = 0; tries < 5000; ++tries) {
        Figures figures(source);
        if (figures[processes]) return figures;
        usleep(1000);
    }
    FAIL("no reading has figures");
    return Figures(source);
}

ProcessTreeRequest request(int pid, std::uint64_t discovery_interval_ns = 0) {
    ProcessTreeRequest made;
    made.pid = pid;
    made.discovery_interval_ns = discovery_interval_ns;
    made.discovery_share = 0;
    return made;
}

constexpr std::uint64_t never_ns = 3'600'000'000'000;

// Faults of a process beside those it makes on purpose: its copies of what it inherited at fork.
// Sanitizers and emulators make more of them.
constexpr std::uint64_t few_faults = 5000;
constexpr std::size_t many_pages = 20'000;

std::uint64_t faults_between(const Figures& before, const Figures& after) {
    return after[minor_faults].value() - before[minor_faults].value();
}

void check_faults(std::uint64_t counted, std::uint64_t made) {
    CHECK(counted >= made);
    CHECK(counted < made * most_faults_a_page + few_faults);
}

}  // namespace

TEST_CASE("one process: faults, memory, threads") {
    const Forked child([](const Steps& steps) {
        steps.stop_here();
        touch_pages(many_pages);
        steps.stop_here();
    });
    child.await();
    const auto source = open_process_tree(request(child.pid()));
    REQUIRE(source->slots() == process_figures);
    const Figures before = known(*source);
    child.go_on();
    child.await();
    const Figures after = known(*source);
    check_faults(faults_between(before, after), many_pages);
    CHECK(after[processes] == 1);
    CHECK(after[threads].value() >= 1);  // a sanitizer has one of its own
    CHECK(after[resident_bytes].value() > 0);
    CHECK(after[major_faults].has_value());
    CHECK(after[cpu_time_ns].value() > before[cpu_time_ns].value());
    CHECK(after[voluntary_switches].value() >= before[voluntary_switches].value());
}

TEST_CASE("figures are those of the process's own files") {
    const Forked child([](const Steps& steps) {
        std::ofstream file("/tmp/process_tree_test.out");
        file << std::string(1 << 20, 'x') << std::flush;
        unlink("/tmp/process_tree_test.out");
        steps.stop_here();
    });
    child.await();
    const auto source = open_process_tree(request(child.pid()));
    const std::string root = "/proc/" + std::to_string(child.pid());
    const auto resident = [&root] {
        std::uint64_t pages = 0;
        std::ifstream(root + "/statm") >> pages >> pages;
        return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    };
    // On its way to its stop the child may still touch a page between two readings.
    std::uint64_t before = resident();
    Figures figures = known(*source);
    for (int tries = 0; tries < 5000 && resident() != before; ++tries) {
        before = resident();
        figures = known(*source);
    }
    CHECK(figures[resident_bytes] == before);
    std::uint64_t read = 0;
    std::uint64_t written = 0;
    std::ifstream io(root + "/io");
    for (std::string key; io >> key;) {
        std::uint64_t value = 0;
        io >> value;
        if (key == "read_bytes:") read = value;
        if (key == "write_bytes:") written = value;
    }
    CHECK(figures[read_bytes] == read);
    CHECK(figures[write_bytes] == written);
}

TEST_CASE("children that were waited for count, though they were never found") {
    Forked parent([](const Steps& steps) {
        steps.stop_here();
        for (int i = 0; i < 5; ++i) {
            if (fork() == 0) {
                touch_pages(many_pages);
                _exit(0);
            }
            wait(nullptr);
        }
        steps.stop_here();
    });
    parent.await();
    const auto source = open_process_tree(request(parent.pid(), never_ns));
    const Figures before = known(*source);
    parent.go_on();
    parent.await();
    const Figures after = known(*source);
    const std::uint64_t counted = after[minor_faults].value();
    CHECK(faults_between(before, after) >= 5 * many_pages);
    parent.go_on();
    const auto told = static_cast<std::uint64_t>(parent.wait().ru_minflt);
    CHECK(told >= counted);
    CHECK(told - counted < few_faults);
}

TEST_CASE("a child is found before its time where looking for it is cheap") {
    for (const double share : {0.0, 1.0}) {
        Forked parent([](const Steps& steps) {
            steps.stop_here();
            if (fork() == 0) {
                steps.stop_here();
                _exit(0);
            }
            steps.stop_here();
        });
        parent.await();
        ProcessTreeRequest asked = request(parent.pid(), never_ns);
        asked.discovery_share = share;
        const auto source = open_process_tree(asked);
        CHECK(known(*source)[processes] == 1);
        parent.go_on();
        parent.await(2);
        if (share == 0) {
            CHECK(known(*source)[processes] == 1);
            continue;
        }
        // Looks again when as much time has passed as its last look took.
        for (int tries = 0; tries < 10'000 && known(*source)[processes] != 2; ++tries) usleep(1000);
        CHECK(known(*source)[processes] == 2);
    }
}

TEST_CASE("what a tree did is counted once while its processes come and go") {
    constexpr int generations = 10;
    Forked parent([](const Steps& steps) {
        steps.stop_here();
        for (int i = 0; i < generations; ++i) {
            const pid_t child = fork();
            if (child == 0) {
                if (fork() == 0) {
                    touch_pages(many_pages / 4);
                    _exit(0);
                }
                touch_pages(many_pages / 4);
                wait(nullptr);
                _exit(0);
            }
            if (i % 2 == 0) waitpid(child, nullptr, 0);
        }
        while (wait(nullptr) > 0) {
        }
        steps.stop_here();
    });
    parent.await();
    const auto source = open_process_tree(request(parent.pid()));
    parent.go_on();
    std::thread reading([&parent] { parent.await(); });  // stops when all is done
    std::vector<std::uint64_t> seen;
    for (int i = 0; i < 2000; ++i) {
        const Figures now(*source);
        if (now[minor_faults]) seen.push_back(*now[minor_faults]);
        const bool quiet = seen.size() > 100 && seen.back() == seen.at(seen.size() - 100);
        if (quiet && now[processes] == 1) break;
    }
    reading.join();
    const Figures after = known(*source);
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    CHECK(after[processes] == 1);
    const std::uint64_t counted = after[minor_faults].value();
    const std::uint64_t times = after[user_time_ns].value() + after[system_time_ns].value();
    parent.go_on();
    const rusage told = parent.wait();
    const auto faults = static_cast<std::uint64_t>(told.ru_minflt);
    CHECK(faults >= counted);
    CHECK(faults - counted < few_faults);
    const auto us =
        static_cast<std::uint64_t>((told.ru_utime.tv_sec + told.ru_stime.tv_sec) * 1'000'000 +
                                   told.ru_utime.tv_usec + told.ru_stime.tv_usec);
    CHECK(times <= us * 1000 + 50'000'000);
    CHECK(times + 100'000'000 >= us * 1000);
}

TEST_CASE("what nobody waits for keeps what was last read of it") {
    const Forked parent([](const Steps& steps) {
        signal(SIGCHLD, SIG_IGN);  // the kernel then keeps nothing of children
        steps.stop_here();
        if (fork() == 0) {
            touch_pages(many_pages);
            steps.stop_here();
            _exit(0);
        }
        while (wait(nullptr) > 0) {
        }
        steps.stop_here();
    });
    parent.await();
    const auto source = open_process_tree(request(parent.pid()));
    const Figures before = known(*source);
    parent.go_on();
    parent.await();
    const Figures both = known(*source);
    CHECK(both[processes] == 2);
    check_faults(faults_between(before, both), many_pages);
    parent.go_on();
    parent.await();
    const Figures after = known(*source);
    CHECK(after[processes] == 1);
    check_faults(faults_between(before, after), many_pages);
}

TEST_CASE("an orphan that was found is still of the tree") {
    const Forked parent([](const Steps& steps) {
        int held[2];
        if (pipe(held) != 0) _exit(97);
        const pid_t child = fork();
        if (child == 0) {
            const pid_t middle = getpid();
            close(held[1]);
            if (fork() == 0) {
                while (getppid() == middle) usleep(1000);
                touch_pages(many_pages);
                steps.stop_here();
                _exit(0);
            }
            char byte = 0;
            _exit(read(held[0], &byte, 1) == 0 ? 0 : 96);  // when the parent closes its end
        }
        steps.stop_here();
        close(held[1]);
        waitpid(child, nullptr, 0);
        steps.stop_here();
    });
    parent.await();
    const auto source = open_process_tree(request(parent.pid()));
    while (known(*source)[processes] != 3) usleep(1000);
    const Figures before = known(*source);
    parent.go_on();
    parent.await(2);
    const Figures orphaned = known(*source);
    CHECK(orphaned[processes] == 2);
    check_faults(faults_between(before, orphaned), many_pages);
    parent.go_on(2);
}

TEST_CASE("threads and their switches") {
    const Forked child([](const Steps& steps) {
        std::vector<std::thread> sleepers;
        steps.stop_here();
        for (int i = 0; i < 4; ++i) {
            sleepers.emplace_back([&steps] {
                for (int nap = 0; nap < 50; ++nap) usleep(1000);
                steps.stop_here();
            });
        }
        for (auto& sleeper : sleepers) sleeper.join();
        steps.stop_here();
    });
    child.await();
    const auto source = open_process_tree(request(child.pid()));
    ProcessTreeRequest without = request(child.pid());
    without.switches = false;
    const auto plain = open_process_tree(without);
    const Figures before = known(*source);
    child.go_on();
    child.await(4);
    const Figures during = known(*source);
    CHECK(during[threads].value() >= 5);
    const std::uint64_t switched =
        during[voluntary_switches].value() - before[voluntary_switches].value();
    CHECK(switched >= 200);
    CHECK(switched < 2000);
    const Figures unswitched = known(*plain);
    CHECK(unswitched[threads] == during[threads]);
    CHECK_FALSE(unswitched[voluntary_switches].has_value());
    CHECK_FALSE(unswitched[involuntary_switches].has_value());
    child.go_on(4);
    child.await();
    const Figures after = known(*source);
    CHECK(after[voluntary_switches].value() >= during[voluntary_switches].value());
}

TEST_CASE("events are counted for each thread that was found, to its end") {
    const PerfEvent faults{.type = PERF_TYPE_SOFTWARE,
                           .config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
                           .exclude_kernel = true,
                           .exclude_hv = true};
    const PerfEvent nonsense{.type = 0x7fff'fff0};
    const Forked child([](const Steps& steps) {
        steps.stop_here();
        std::vector<std::thread> threads;
        for (std::size_t i = 1; i <= 3; ++i) {
            threads.emplace_back([&steps, i] {
                steps.stop_here();
                touch_pages(i * 2000);
            });
        }
        for (auto& thread : threads) thread.join();
        steps.stop_here();
    });
    child.await();
    if (const int refusal = perf_refusal(faults, {.pid = child.pid()}); refusal != 0) {
        MESSAGE("skipped: perf_event_open: " << std::string(std::strerror(refusal)));
        return;
    }
    ProcessTreeRequest asked = request(child.pid());
    asked.ledger = std::make_shared<ThreadLedger>(std::vector{faults, nonsense});
    const auto source = open_process_tree(asked);
    static_cast<void>(known(*source));
    child.go_on();
    child.await(3);
    static_cast<void>(known(*source));  // finds the three
    child.go_on(3);
    child.await();
    static_cast<void>(known(*source));
    std::vector<std::uint64_t> counted;
    for (const ThreadUse& use : asked.ledger->threads()) {
        CHECK_FALSE(use.counts[1].has_value());
        CHECK_FALSE(use.counts[2].has_value());
        REQUIRE(use.counts[0].has_value());
        CHECK(use.counts[0]->running_ns == use.counts[0]->enabled_ns);
        if (use.tid != use.pid) counted.push_back(use.counts[0]->value);
    }
    // A sanitizer has a thread of its own, which touches little.
    REQUIRE(counted.size() >= 3);
    std::ranges::sort(counted, std::greater{});
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t touched = (3 - i) * 2000;
        CHECK(counted[i] >= touched);
        CHECK(counted[i] < touched * most_faults_a_page + few_faults);
    }
}

TEST_CASE("threads are followed where no descriptor is left for their events") {
    Forked child([](const Steps& steps) {
        steps.stop_here();
        steps.stop_here();
    });
    child.await();
    const PerfEvent faults{.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS_MIN};
    Forked watcher([pid = child.pid(), faults](const Steps&) {
        leave_descriptors(20);
        ProcessTreeRequest asked = request(pid);
        asked.ledger = std::make_shared<ThreadLedger>(std::vector<PerfEvent>(24, faults));
        const auto source = open_process_tree(asked);
        const bool is_known = Figures(*source)[processes].has_value();
        const auto threads = asked.ledger->threads();
        const bool is_any_counted = std::ranges::any_of(
            threads, [](const ThreadUse& use) { return use.counts[0].has_value(); });
        _exit(is_known && !threads.empty() && !is_any_counted ? 0 : 1);
    });
    watcher.wait();
    CHECK(watcher.exit_code() == 0);
    CHECK_THROWS_AS(ThreadLedger(std::vector<PerfEvent>(25, faults)), memgauge::RequestError);
}

TEST_CASE("a tree that has ended keeps its sums and holds nothing") {
    Forked child([](const Steps& steps) {
        touch_pages(many_pages);
        steps.stop_here();
    });
    child.await();
    const auto source = open_process_tree(request(child.pid()));
    const Figures before = known(*source);
    child.go_on();
    child.wait();
    const Figures after = known(*source);
    CHECK(after.missing() == before.missing());
    CHECK(after[minor_faults].value() >= before[minor_faults].value());
    CHECK(after[processes] == 0);
    CHECK(after[threads] == 0);
    CHECK(after[resident_bytes] == 0);
    CHECK(known(*source)[minor_faults] == after[minor_faults]);
}

namespace {

struct Fake {
    int parent = 1;
    int threads = 1;
    int start_ticks = 1000;
    std::uint64_t faults = 0;
    std::uint64_t waited_faults = 0;
    std::uint64_t major_faults = 0;
    std::uint64_t waited_major_faults = 0;
    std::uint64_t user_ticks = 0;
    std::uint64_t system_ticks = 0;
    std::uint64_t waited_user_ticks = 0;
    std::uint64_t waited_system_ticks = 0;
    std::uint64_t resident_pages = 0;
    std::string name = "fake";
    char state = 'S';
};

// A procfs of our own.
class FakeProcfs {
public:
    explicit FakeProcfs(bool has_children_files) : has_children_files_(has_children_files) {
        char name[] = "/tmp/process_tree_test.XXXXXX";
        REQUIRE(mkdtemp(name) != nullptr);
        root_ = name;
    }
    FakeProcfs(const FakeProcfs&) = delete;
    FakeProcfs& operator=(const FakeProcfs&) = delete;
    ~FakeProcfs() { std::filesystem::remove_all(root_); }

    void set(int pid, const Fake& fake, const std::vector<int>& children = {}) const {
        const auto directory = root_ / std::to_string(pid);
        const auto task = directory / "task" / std::to_string(pid);
        std::filesystem::create_directories(task);
        // proc_pid_stat(5): fields 1 to 25.
        std::ofstream(directory / "stat")
            << pid << " (" << fake.name << ") " << fake.state << ' ' << fake.parent
            << " 1 1 0 -1 4194304 " << fake.faults << ' ' << fake.waited_faults << ' '
            << fake.major_faults << ' ' << fake.waited_major_faults << ' ' << fake.user_ticks << ' '
            << fake.system_ticks << ' ' << fake.waited_user_ticks << ' ' << fake.waited_system_ticks
            << " 20 0 " << fake.threads << " 0 " << fake.start_ticks
            << " 123456789 1 18446744073709551615\n";
        std::ofstream(directory / "statm") << "30000 " << fake.resident_pages << " 1 1 0 1 0\n";
        std::ofstream(directory / "io") << "rchar: 9\nwchar: 9\nsyscr: 9\nsyscw: 9\n"
                                        << "read_bytes: 4096\nwrite_bytes: 8192\n"
                                        << "cancelled_write_bytes: 1\n";
        std::ofstream(task / "status") << "Name:\tfake\nvoluntary_ctxt_switches:\t7\n"
                                       << "nonvoluntary_ctxt_switches:\t8\n";
        if (!has_children_files_) return;
        std::ofstream list(task / "children");
        for (const int child : children) list << child << ' ';
    }
    void end(int pid) const { std::ofstream(root_ / std::to_string(pid) / "stat").flush(); }
    void remove(const std::string& path) const { std::filesystem::remove_all(root_ / path); }
    void write(const std::string& path, const std::string& text) const {
        std::ofstream(root_ / path) << text;
    }
    [[nodiscard]] ProcessTreeRequest request(int pid) const {
        ProcessTreeRequest made = ::request(pid);
        made.procfs = root_.string();
        return made;
    }

private:
    std::filesystem::path root_;
    bool has_children_files_;
};

const auto ns_per_tick = static_cast<std::uint64_t>(1'000'000'000 / sysconf(_SC_CLK_TCK));
const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));

}  // namespace

TEST_CASE("the sums of a written tree, children found by either way") {
    for (const bool has_children_files : {true, false}) {
        CAPTURE(has_children_files);
        const FakeProcfs procfs(has_children_files);
        procfs.set(50,
                   {.faults = 10,
                    .waited_faults = 100,
                    .major_faults = 1,
                    .waited_major_faults = 2,
                    .user_ticks = 3,
                    .system_ticks = 4,
                    .waited_user_ticks = 5,
                    .waited_system_ticks = 6,
                    .resident_pages = 7},
                   {40, 60});
        procfs.set(40, {.parent = 50, .faults = 20, .resident_pages = 1, .name = "a) S 1 (b"},
                   {30});
        procfs.set(60, {.parent = 50, .faults = 40, .major_faults = 8, .state = 'Z'});
        procfs.set(30, {.parent = 40, .faults = 80, .user_ticks = 10});
        procfs.set(31, {.parent = 41, .faults = 5000});  // of others
        const auto source = open_process_tree(procfs.request(50));
        const Figures figures(*source);
        CHECK(figures[minor_faults] == 250);
        CHECK(figures[major_faults] == 1 + 2 + 8);
        CHECK(figures[user_time_ns] == (3 + 5 + 10) * ns_per_tick);
        CHECK(figures[system_time_ns] == (4 + 6) * ns_per_tick);
        CHECK(figures[read_bytes] == 4 * 4096);
        CHECK(figures[write_bytes] == 4 * 8192);
        CHECK(figures[voluntary_switches] == 4 * 7);
        CHECK(figures[involuntary_switches] == 4 * 8);
        CHECK(figures[resident_bytes] == 8 * page_bytes);
        CHECK(figures[processes] == 3);  // a zombie is none
        CHECK(figures[threads] == 3);
        CHECK_FALSE(figures[cpu_time_ns].has_value());  // these numbers are not of our processes
    }
}

TEST_CASE("a child that ends is in its parent's sums, or keeps its own; never both") {
    const FakeProcfs procfs(true);
    procfs.set(50, {.faults = 10}, {60, 61});
    procfs.set(60, {.parent = 50, .faults = 200});
    procfs.set(61, {.parent = 50, .faults = 300});
    const auto source = open_process_tree(procfs.request(50));
    CHECK(Figures(*source)[minor_faults] == 510);
    // Waited for, with 5 more faults since.
    procfs.end(60);
    procfs.set(50, {.faults = 10, .waited_faults = 205}, {61});
    CHECK(Figures(*source)[minor_faults] == 515);
    // Not waited for, while a child never seen was.
    procfs.end(61);
    procfs.set(50, {.faults = 10, .waited_faults = 215});
    const Figures last(*source);
    CHECK(last[minor_faults] == 525);
    CHECK(last[processes] == 1);
}

TEST_CASE("a grandchild that passes to an ancestor is counted there") {
    const FakeProcfs procfs(true);
    procfs.set(50, {.faults = 10}, {60});
    procfs.set(60, {.parent = 50, .faults = 20}, {70});
    procfs.set(70, {.parent = 60, .faults = 1000}, {80});
    procfs.set(80, {.parent = 70, .faults = 400});
    const auto source = open_process_tree(procfs.request(50));
    CHECK(Figures(*source)[minor_faults] == 1430);
    procfs.end(70);
    procfs.end(80);
    procfs.set(60, {.parent = 50, .faults = 20, .waited_faults = 1000});  // waited for 70
    procfs.set(50, {.faults = 10, .waited_faults = 400}, {60});           // a subreaper
    CHECK(Figures(*source)[minor_faults] == 1430);
}

TEST_CASE("times taken over by a parent may be rounded down, no more") {
    const FakeProcfs procfs(true);
    for (const std::uint64_t waited : {48U, 47U}) {
        CAPTURE(waited);
        procfs.set(50, {.faults = 10}, {60});
        procfs.set(60, {.parent = 50, .user_ticks = 50});
        const auto source = open_process_tree(procfs.request(50));
        CHECK(Figures(*source)[user_time_ns] == 50 * ns_per_tick);
        procfs.end(60);
        procfs.set(50, {.faults = 10, .waited_user_ticks = waited});
        // 48: waited for; the sum does not fall. 47: of another child, and 60's stay.
        CHECK(Figures(*source)[user_time_ns] == (waited == 48 ? 50 : 97) * ns_per_tick);
    }
}

TEST_CASE("a process found while it is being waited for is left to its parent") {
    const FakeProcfs procfs(true);
    procfs.set(50, {.faults = 10, .waited_faults = 20}, {60});
    procfs.set(60, {.parent = 50, .faults = 20, .state = 'X'});
    const auto source = open_process_tree(procfs.request(50));
    CHECK(Figures(*source)[minor_faults] == 30);
    procfs.end(60);
    CHECK(Figures(*source)[minor_faults] == 30);
}

TEST_CASE("while a process is being waited for nothing is known") {
    const FakeProcfs procfs(true);
    procfs.set(50, {.faults = 10, .waited_faults = 20}, {60});
    procfs.set(60, {.parent = 50, .faults = 20});
    const auto source = open_process_tree(procfs.request(50));
    CHECK(Figures(*source)[minor_faults] == 50);
    procfs.set(50, {.faults = 10, .waited_faults = 40});  // with it or without, nobody can tell
    procfs.set(60, {.parent = 50, .faults = 20, .state = 'X'});
    CHECK(Figures(*source).missing() == process_figures);
    procfs.end(60);
    CHECK(Figures(*source)[minor_faults] == 50);
}

TEST_CASE("another process under the same number is not the one that was read") {
    const FakeProcfs procfs(true);
    procfs.set(50, {.start_ticks = 1000, .faults = 10});
    const auto source = open_process_tree(procfs.request(50));
    CHECK(Figures(*source)[minor_faults] == 10);
    procfs.set(50, {.start_ticks = 1001, .faults = 9999, .name = "other"});
    const Figures after(*source);
    CHECK(after[minor_faults] == 10);
    CHECK(after[processes] == 0);
}

TEST_CASE("a child under another parent's number is not taken") {
    const FakeProcfs procfs(true);
    procfs.set(50, {.faults = 10}, {60});
    procfs.set(60, {.parent = 2, .faults = 20});
    CHECK(Figures(*open_process_tree(procfs.request(50)))[processes] == 1);
}

TEST_CASE("storage is missing where one process's may not be read, all else is not") {
    const FakeProcfs procfs(true);
    procfs.set(50, {.faults = 10}, {60});
    procfs.set(60, {.parent = 50, .faults = 20});
    procfs.remove("60/io");
    const Figures figures(*open_process_tree(procfs.request(50)));
    CHECK_FALSE(figures[read_bytes].has_value());
    CHECK_FALSE(figures[write_bytes].has_value());
    CHECK(figures[minor_faults] == 30);
}

TEST_CASE("a tree larger than there is room for is missing, not cut") {
    const FakeProcfs procfs(true);
    procfs.set(50, {.faults = 10}, {60, 61});
    procfs.set(60, {.parent = 50});
    procfs.set(61, {.parent = 50});
    ProcessTreeRequest request = procfs.request(50);
    request.max_processes = 2;
    CHECK(Figures(*open_process_tree(request)).missing() == process_figures);
    request.max_processes = 3;
    request.max_threads = 2;
    const Figures figures(*open_process_tree(request));
    CHECK(figures[processes] == 3);
    CHECK_FALSE(figures[voluntary_switches].has_value());
}

TEST_CASE("a tree that grew too large is read again when it fits") {
    const FakeProcfs procfs(true);
    procfs.set(50, {.faults = 10}, {60});
    procfs.set(60, {.parent = 50, .faults = 20});
    procfs.set(61, {.parent = 50, .faults = 40});
    ProcessTreeRequest request = procfs.request(50);
    request.max_processes = 2;
    const auto source = open_process_tree(request);
    CHECK(Figures(*source)[minor_faults] == 30);
    procfs.set(50, {.faults = 10}, {60, 61});
    CHECK(Figures(*source).missing() == process_figures);
    procfs.end(60);
    procfs.set(50, {.faults = 10, .waited_faults = 20}, {61});
    Figures{*source};  // forgets 60
    CHECK(Figures(*source)[minor_faults] == 70);
}

TEST_CASE("without descriptors for a new process all is missing") {
    const FakeProcfs procfs(true);
    procfs.set(50, {.faults = 10});
    procfs.set(60, {.parent = 50, .faults = 20});
    Forked child([&procfs](const Steps&) {
        const auto source = open_process_tree(procfs.request(50));
        if (Figures(*source)[processes] != 1) _exit(1);
        // Two are needed to find a child, four to keep it.
        const int first_free = leave_descriptors(2);
        procfs.set(50, {.faults = 10}, {60});
        if (Figures(*source).missing() != process_figures) _exit(3);
        if (dup(0) != first_free) _exit(4);
    });
    child.wait();
    CHECK(child.exit_code() == 0);
}

namespace {

int refusal_of(const ProcessTreeRequest& asked) {
    try {
        open_process_tree(asked);
    } catch (const CounterRefused& refused) {
        return refused.error_number();
    }
    return 0;
}

}  // namespace

TEST_CASE("a process of nobody is refused") {
    CHECK(refusal_of(request(0x3fff'ffff)) == ENOENT);
    ProcessTreeRequest nowhere = request(1);
    nowhere.procfs = "/nonexistent";
    CHECK(refusal_of(nowhere) == ENOENT);
    CHECK_THROWS_WITH_AS(open_process_tree(request(0x3fff'ffff)),
                         "/proc/1073741823 cannot be read: No such file or directory",
                         CounterRefused);
    CHECK_THROWS_AS(open_process_tree(request(0)), memgauge::RequestError);
    ProcessTreeRequest no_room = request(getpid());
    no_room.max_processes = 0;
    CHECK_THROWS_AS(open_process_tree(no_room), memgauge::RequestError);
    const FakeProcfs procfs(true);
    procfs.set(50, {});
    procfs.write("50/stat", "50 (cut");
    CHECK(refusal_of(procfs.request(50)) == ESRCH);
}
