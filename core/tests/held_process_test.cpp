// Programs that wait before their first instruction.

#include "memgauge/held_process.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "memgauge/error.hpp"

using memgauge::HeldProcess;
using memgauge::ProgramRequest;

namespace {

ProgramRequest shell(const std::string& script) {
    return {.arguments = {"sh", "-c", script},
            .paths = {"/nowhere/sh", "/bin/sh"},
            .environment = {"WORD=passed on"}};
}

int status_of(pid_t pid) {
    int status = 0;
    return waitpid(pid, &status, 0) == pid ? status : -1;
}

class File {
public:
    explicit File(const std::string& text) {
        path = (std::filesystem::temp_directory_path() / "program-XXXXXX").string();
        close(mkstemp(path.data()));
        std::ofstream(path) << text;
    }
    ~File() { std::filesystem::remove(path); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    std::string path;
};

// `seen` holds the line SigIgn of the process's /proc/self/status.
void check_ignores_usr2_not_pipe(const File& seen) {
    std::string name;
    std::string mask;
    std::ifstream(seen.path) >> name >> mask;
    const unsigned long long bits = std::stoull(mask, nullptr, 16);
    CHECK((bits >> (SIGUSR2 - 1) & 1U) == 1);
    CHECK((bits >> (SIGPIPE - 1) & 1U) == 0);
}

}  // namespace

TEST_CASE("nothing runs before the release, and then the program does") {
    const File seen("");
    HeldProcess held(shell("printf %s \"$WORD\" > " + seen.path + "; exit 7"));
    CHECK(held.pid() > 0);
    CHECK(waitpid(held.pid(), nullptr, WNOHANG) == 0);
    CHECK(std::filesystem::file_size(seen.path) == 0);
    CHECK(held.release() == 0);
    const int status = status_of(held.pid());
    CHECK(WEXITSTATUS(status) == 7);
    std::string text;
    std::getline(std::ifstream(seen.path), text);
    CHECK(text == "passed on");
    CHECK_THROWS_AS(static_cast<void>(held.release()), memgauge::RequestError);
}

TEST_CASE("a program that cannot be started gives the reason, and its process is gone") {
    const File plain("no program");
    for (const auto& [paths, error] : std::vector<std::pair<std::vector<std::string>, int>>{
             {{"/nowhere/a", "/nowhere/b"}, ENOENT},
             {{plain.path, "/nowhere/b"}, EACCES},
             {{"/dev/null/a", "/tmp"}, EACCES}}) {
        HeldProcess held({.arguments = {"a"}, .paths = paths, .environment = {}});
        CHECK(held.release() == error);
        CHECK(waitpid(held.pid(), nullptr, WNOHANG) == -1);
    }
}

TEST_CASE("a file without a known format is a script of the shell, as execvp has it") {
    const File script("exit $(($1 + 1))\n");
    std::filesystem::permissions(script.path, std::filesystem::perms::owner_all);
    HeldProcess held({.arguments = {"script", "41"}, .paths = {script.path}, .environment = {}});
    CHECK(held.release() == 0);
    CHECK(WEXITSTATUS(status_of(held.pid())) == 42);
}

TEST_CASE("what is never released ends with its owner") {
    pid_t pid = 0;
    {
        const HeldProcess held(shell("exit 0"));
        pid = held.pid();
    }
    CHECK(waitpid(pid, nullptr, WNOHANG) == -1);
    CHECK(errno == ECHILD);
}

TEST_CASE("a child that was killed while it waited is no failure of the release") {
    HeldProcess held(shell("exit 0"));
    kill(held.pid(), SIGKILL);
    CHECK(held.release() == 0);
    const int status = status_of(held.pid());
    CHECK(WIFSIGNALED(status));
}

TEST_CASE("signals are as the program would find them without us") {
    const auto handler = std::signal(SIGUSR1, [](int) {});
    const auto ignored = std::signal(SIGUSR2, SIG_IGN);
    const auto pipes = std::signal(SIGPIPE, SIG_IGN);
    const File seen("");
    HeldProcess held(shell("grep SigIgn /proc/self/status > " + seen.path + "; kill -USR1 $$"));
    CHECK(held.release() == 0);
    const int status = status_of(held.pid());
    std::signal(SIGUSR1, handler);
    std::signal(SIGUSR2, ignored);
    std::signal(SIGPIPE, pipes);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGUSR1);
    check_ignores_usr2_not_pipe(seen);
}

TEST_CASE("a process becomes the program, with signals as a held one has them") {
    const File seen("");
    const pid_t pid = fork();
    if (pid == 0) {
        std::signal(SIGPIPE, SIG_IGN);
        std::signal(SIGUSR2, SIG_IGN);
        memgauge::become_program(
            shell("grep SigIgn /proc/self/status > " + seen.path + "; exit 6"));
        _exit(99);
    }
    CHECK(WEXITSTATUS(status_of(pid)) == 6);
    check_ignores_usr2_not_pipe(seen);
}

TEST_CASE("a process that cannot become a program is told why") {
    const auto pipes = std::signal(SIGPIPE, SIG_DFL);
    CHECK(memgauge::become_program(
              {.arguments = {"none"}, .paths = {"/no/such"}, .environment = {}}) == ENOENT);
    std::signal(SIGPIPE, pipes);
}

TEST_CASE("a request without a program is refused") {
    CHECK_THROWS_AS(HeldProcess({.arguments = {}, .paths = {"/bin/true"}, .environment = {}}),
                    memgauge::RequestError);
    CHECK_THROWS_AS(HeldProcess({.arguments = {"a"}, .paths = {}, .environment = {}}),
                    memgauge::RequestError);
}

TEST_CASE("orphans come to a process that adopts them") {
    const int refused = memgauge::adopt_orphans(true);
    if (refused == EINVAL) {
        MESSAGE("not tested: no PR_SET_CHILD_SUBREAPER here, as under qemu-user");
        return;
    }
    CHECK(refused == 0);
    HeldProcess held(shell("(sleep 0.05; exit 9) & exit 0"));
    CHECK(held.release() == 0);
    CHECK(WEXITSTATUS(status_of(held.pid())) == 0);
    int status = 0;
    CHECK(waitpid(-1, &status, 0) > 0);
    CHECK(WEXITSTATUS(status) == 9);
    CHECK(memgauge::adopt_orphans(false) == 0);
}
