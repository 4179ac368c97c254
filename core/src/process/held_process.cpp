#include "memgauge/held_process.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <utility>

#include "descriptor.hpp"
#include "memgauge/error.hpp"

namespace memgauge {
namespace {

constexpr char go = 1;

// A channel between this process and its child, closed on exec. Sockets and not a pipe: what is
// sent to a child that has ended must raise no signal.
struct Channel {
    Descriptor ours;
    Descriptor childs;
};

Channel make_channel() {
    std::array<int, 2> ends{-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw SystemError("cannot prepare the start of a program (raise ulimit -n)", errno);
    }
    return {.ours = Descriptor(ends[0]), .childs = Descriptor(ends[1])};
}

// What execve(2) takes; made before the fork, since nothing may be allocated after it.
class Pointers {
public:
    explicit Pointers(const std::vector<std::string>& texts) {
        for (const std::string& text : texts) {
            pointers_.push_back(const_cast<char*>(text.c_str()));  // NOLINT: execve's signature
        }
        pointers_.push_back(nullptr);
    }
    [[nodiscard]] char* const* data() const noexcept { return pointers_.data(); }

private:
    std::vector<char*> pointers_;
};

struct Prepared {
    explicit Prepared(const ProgramRequest& request)
        : arguments(request.arguments), paths(request.paths), environment(request.environment) {
        script.push_back(const_cast<char*>("/bin/sh"));  // NOLINT: execve's signature
        script.push_back(nullptr);
        for (std::size_t i = 1; i <= request.arguments.size(); ++i) {
            script.push_back(arguments.data()[i]);
        }
    }

    Pointers arguments;
    Pointers paths;
    Pointers environment;
    // Arguments of the shell that runs a file without a known format, as execvp(3) does.
    std::vector<char*> script;
};

// From here to the end of the child: async-signal-safe calls only (signal-safety(7)).

// What is ignored stays ignored, but for the two signals that Python itself ignores.
void restore_signals(const sigset_t& mask) noexcept {
    for (int number = 1; number < NSIG; ++number) {
        struct sigaction action{};
        if (sigaction(number, nullptr, &action) != 0) continue;
        const bool ignored = action.sa_handler == SIG_IGN;
        if (ignored && number != SIGPIPE && number != SIGXFSZ) continue;
        if (action.sa_handler != SIG_DFL) signal(number, SIG_DFL);
    }
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

void run_as_script(char* path, Prepared& prepared) noexcept {
    prepared.script[1] = path;
    execve(prepared.script[0], prepared.script.data(), prepared.environment.data());
}

// Returns why none could be started: as execvp(3), a refusal counts more than an absence.
int exec_first(Prepared& prepared) noexcept {
    int refused = 0;
    for (char* const* path = prepared.paths.data(); *path != nullptr; ++path) {
        execve(*path, prepared.arguments.data(), prepared.environment.data());
        if (errno == ENOEXEC) run_as_script(*path, prepared);
        if (errno == EACCES) {
            refused = EACCES;
        } else if (errno != ENOENT && errno != ENOTDIR) {
            return errno;
        }
    }
    return refused != 0 ? refused : ENOENT;
}

bool may_start(int channel) noexcept {
    char word = 0;
    while (read(channel, &word, 1) < 0 && errno == EINTR) {
    }
    return word == go;  // else the parent has gone, or wants no program
}

[[noreturn]] void run_child(Prepared& prepared, Channel& channel, const sigset_t& mask) noexcept {
    channel.ours.close();
    restore_signals(mask);
    if (may_start(channel.childs.get())) {
        const int error = exec_first(prepared);
        static_cast<void>(!write(channel.childs.get(), &error, sizeof error));
    }
    _exit(127);
}

void require_command(const ProgramRequest& request) {
    if (request.arguments.empty() || request.paths.empty()) {
        throw RequestError("no program to start: give a command");
    }
}

void wait_for_end(pid_t pid) noexcept {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace

HeldProcess::HeldProcess(const ProgramRequest& request) {
    require_command(request);
    Prepared prepared(request);
    Channel channel = make_channel();
    // No handler of ours may run in the child.
    sigset_t all;
    sigset_t mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    const pid_t child = fork();
    const int error = errno;
    if (child == 0) run_child(prepared, channel, mask);
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    if (child < 0) {
        throw SystemError(
            "cannot make a process for the program (raise ulimit -u or the cgroup's pids.max)",
            error);
    }
    pid_ = child;
    channel_ = channel.ours.release();
}

HeldProcess::~HeldProcess() {
    if (channel_ < 0) return;
    close(channel_);
    kill(pid_, SIGKILL);
    wait_for_end(pid_);
}

int HeldProcess::release() {
    if (channel_ < 0) throw RequestError("the program was started before");
    const Descriptor channel(std::exchange(channel_, -1));
    // A child that was killed meanwhile hears nothing; its end shows it.
    static_cast<void>(send(channel.get(), &go, 1, MSG_NOSIGNAL));
    int error = 0;
    ssize_t got = 0;
    do {
        got = read(channel.get(), &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    if (!std::cmp_equal(got, sizeof error)) return 0;
    wait_for_end(pid_);
    return error;
}

int become_program(const ProgramRequest& request) {
    require_command(request);
    Prepared prepared(request);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    restore_signals(mask);
    return exec_first(prepared);
}

int adopt_orphans(bool on) noexcept {
    return prctl(PR_SET_CHILD_SUBREAPER, on ? 1UL : 0UL, 0UL, 0UL, 0UL) == 0 ? 0 : errno;
}

}  // namespace memgauge
