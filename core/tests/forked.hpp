#pragma once
// Processes that a test starts and leads step by step, and work whose cost is known.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <utility>

namespace memgauge::test {

// A thread sanitizer touches memory of its own beside ours.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool is_thread_sanitized = true;
#elif defined(__has_feature)
inline constexpr bool is_thread_sanitized = __has_feature(thread_sanitizer);
#else
inline constexpr bool is_thread_sanitized = false;
#endif
inline constexpr std::size_t most_faults_a_page = is_thread_sanitized ? 8 : 1;

// First touches of so many base pages: as many minor faults, and few more.
inline void touch_pages(std::size_t pages) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* memory =
        mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) _exit(99);
    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
    munmap(memory, pages * page);
}

// Lets this process open `free` more descriptors; the number of the first of them. For a forked
// one.
inline int leave_descriptors(int free) {
    int highest = 0;
    for (int number = 0; number < 1024; ++number) {
        if (fcntl(number, F_GETFD) >= 0) highest = number;
    }
    int next = dup(0);
    while (next < highest) next = dup(0);  // fills the holes
    close(next);
    const auto limit = static_cast<rlim_t>(next + free);
    const rlimit few{.rlim_cur = limit, .rlim_max = limit};
    if (setrlimit(RLIMIT_NOFILE, &few) != 0) _exit(97);
    return next;
}

// In the forked process: waits until it may go on.
class Steps {
public:
    Steps(int arrived, int allowed) : arrived_(arrived), allowed_(allowed) {}
    void stop_here() const {
        char byte = 0;
        if (write(arrived_, "x", 1) != 1 || read(allowed_, &byte, 1) != 1) _exit(98);
    }

private:
    int arrived_;
    int allowed_;
};

// A process that does `work(steps)`. It is killed with its owner.
class Forked {
public:
    template <class Work>
    explicit Forked(Work work) {
        REQUIRE(pipe2(arrived_, O_CLOEXEC) == 0);
        REQUIRE(pipe2(allowed_, O_CLOEXEC) == 0);
        std::fflush(nullptr);
        pid_ = fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) {
            close(arrived_[0]);
            close(allowed_[1]);
            work(Steps(arrived_[1], allowed_[0]));
            _exit(0);
        }
        close(std::exchange(arrived_[1], -1));
        close(std::exchange(allowed_[0], -1));
    }
    Forked(const Forked&) = delete;
    Forked& operator=(const Forked&) = delete;
    ~Forked() {
        if (pid_ > 0) kill(pid_, SIGKILL);
        wait();
        close(arrived_[0]);
        close(allowed_[1]);
    }

    [[nodiscard]] pid_t pid() const { return pid_; }
    // Until it, or `arrivals` processes of it, stop.
    void await(int arrivals = 1) const {
        for (char byte = 0; arrivals > 0; --arrivals) REQUIRE(read(arrived_[0], &byte, 1) == 1);
    }
    void go_on(int processes = 1) const {
        for (; processes > 0; --processes) REQUIRE(write(allowed_[1], "x", 1) == 1);
    }
    // What it used, with all it waited for.
    rusage wait() {
        rusage used{};
        if (pid_ > 0) wait4(std::exchange(pid_, -1), &status_, 0, &used);
        return used;
    }
    [[nodiscard]] int exit_code() const { return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1; }

private:
    int arrived_[2] = {-1, -1};
    int allowed_[2] = {-1, -1};
    pid_t pid_ = -1;
    int status_ = -1;
};

}  // namespace memgauge::test
