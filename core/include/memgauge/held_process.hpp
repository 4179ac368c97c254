#pragma once
// Starts a program in two steps, so that counters can be bound to its process before its first
// instruction.

#include <sys/types.h>

#include <string>
#include <vector>

namespace memgauge {

struct ProgramRequest {
    std::vector<std::string> arguments;    // the first is its name
    std::vector<std::string> paths;        // files tried in turn, as execvp(3) tries those of PATH
    std::vector<std::string> environment;  // NAME=VALUE
};

// A process that waits, its program not yet started. Working directory, descriptors (all that are
// not closed on exec), terminal, process group, limits and niceness are those of this process;
// signals are at their defaults, or ignored where they are here (but SIGPIPE and SIGXFSZ, which
// Python ignores for itself), and blocked as for the calling thread.
class HeldProcess {
public:
    // RequestError: no argument or no path. SystemError: no process can be made.
    explicit HeldProcess(const ProgramRequest& request);
    // Kills a process that was never released, and waits for its end.
    ~HeldProcess();
    HeldProcess(const HeldProcess&) = delete;
    HeldProcess& operator=(const HeldProcess&) = delete;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    // Starts the program. Returns 0, or the error number if no path could be started: then the
    // process has ended and was waited for. From 0 on its end is the caller's to wait for.
    [[nodiscard]] int release();

private:
    pid_t pid_ = -1;
    int channel_ = -1;  // to the child, until it is released
};

// Replaces this process by the program: descriptors that are not closed on exec, the terminal,
// limits and the process number are kept, and signals are as those of a HeldProcess. Returns only
// where no path could be started: the error number. RequestError: no argument or no path.
int become_program(const ProgramRequest& request);

// Whether orphans among this process's descendants become its children, so that they can be found
// and waited for; else they go to the init process. Returns 0 or the error number.
int adopt_orphans(bool on) noexcept;

}  // namespace memgauge
