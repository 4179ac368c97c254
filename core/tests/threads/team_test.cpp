// The team: every job runs on its CPU, all start together, and nothing is lost when one fails.

#include "memgauge/team.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using memgauge::Clock;
using memgauge::Job;
using memgauge::Slice;
using memgauge::Team;
using memgauge::ThreadSlice;

std::vector<int> some_cpus(std::size_t wanted) {
    std::vector<int> cpus = memgauge::allowed_cpus();
    if (cpus.size() > wanted) cpus.resize(wanted);
    return cpus;
}

class StampingJob : public Job {
public:
    explicit StampingJob(std::size_t iterations = 1) : iterations_(iterations) {}
    void prepare() override {
        prepared_on = sched_getcpu();
        prepared_at = Clock::instance().now();
    }
    void run(ThreadSlice& slice) noexcept override {
        const auto* stamps = slice.iterations.data();
        const Clock& clock = Clock::instance();
        for (std::size_t i = 0; i < iterations_; ++i) {
            const auto begin = clock.now();
            slice.iterations.push_back({begin, clock.now()});
        }
        reallocated = slice.iterations.data() != stamps;
    }
    [[nodiscard]] std::size_t iterations() const noexcept override { return iterations_; }

    int prepared_on = -1;
    memgauge::Ticks prepared_at = 0;
    bool reallocated = false;

private:
    std::size_t iterations_;
};

class FailingJob : public StampingJob {
public:
    void prepare() override { throw std::runtime_error("no room here"); }
    void run(ThreadSlice&) noexcept override { ran = true; }
    bool ran = false;
};

std::vector<Job*> pointers(std::vector<StampingJob>& jobs) {
    std::vector<Job*> result;
    for (auto& job : jobs) result.push_back(&job);
    return result;
}

}  // namespace

TEST_CASE("each job runs on the CPU of its rank and leaves its stamps") {
    Team team(some_cpus(4));
    std::vector<StampingJob> jobs(team.size(), StampingJob(100));
    const Slice slice = team.run(pointers(jobs));
    REQUIRE(slice.threads.size() == team.size());
    CHECK(slice.pingpong_ns < 0.0);
    for (std::size_t rank = 0; rank < team.size(); ++rank) {
        const ThreadSlice& thread = slice.threads[rank];
        CHECK(jobs[rank].prepared_on == team.cpus()[rank]);
        CHECK(thread.cpu == team.cpus()[rank]);
        REQUIRE(thread.iterations.size() == 100);
        CHECK_FALSE(jobs[rank].reallocated);
        for (const auto& stamp : thread.iterations) CHECK(stamp.begin <= stamp.end);
    }
}

TEST_CASE("no job starts before every thread is prepared") {
    Team team(some_cpus(4));
    for (int burst = 0; burst < 50; ++burst) {
        std::vector<StampingJob> jobs(team.size());
        const Slice slice = team.run(pointers(jobs));
        for (const auto& thread : slice.threads) {
            for (const auto& job : jobs) CHECK(thread.iterations[0].begin > job.prepared_at);
        }
    }
}

TEST_CASE("a null job leaves its thread idle and the others at work") {
    Team team(some_cpus(2));
    StampingJob job;
    std::vector<Job*> jobs(team.size(), nullptr);
    CHECK(team.run(jobs).threads.size() == team.size());
    jobs.back() = &job;
    const Slice slice = team.run(jobs);
    CHECK(slice.threads.back().iterations.size() == 1);
    if (team.size() > 1) {
        CHECK(slice.threads.front().iterations.empty());
        CHECK(slice.threads.front().cpu == -1);
    }
}

TEST_CASE("an exception from prepare ends the burst and leaves the team usable") {
    Team team(some_cpus(2));
    for (std::size_t failing = 0; failing < team.size(); ++failing) {
        std::vector<FailingJob> bad(1);
        std::vector<StampingJob> good(team.size());
        std::vector<Job*> jobs = pointers(good);
        jobs[failing] = &bad[0];
        CHECK_THROWS_WITH_AS(team.run(jobs), "no room here", std::runtime_error);
        CHECK_FALSE(bad[0].ran);
        CHECK(team.run(pointers(good)).threads.size() == team.size());
    }
}

TEST_CASE("a burst wants one job per thread") {
    Team team(some_cpus(1));
    StampingJob job;
    const std::vector<Job*> two{&job, &job};
    CHECK_THROWS_AS(team.run(two), memgauge::RequestError);
    CHECK_THROWS_AS(team.run({}), memgauge::RequestError);
}

TEST_CASE("parallel calls the work once for each rank, on its CPU") {
    Team team(some_cpus(4));
    std::vector<int> seen(team.size(), -1);
    std::vector<int> calls(team.size(), 0);
    team.parallel([&](std::size_t rank) {
        seen[rank] = sched_getcpu();
        ++calls[rank];
    });
    CHECK(seen == team.cpus());
    CHECK(calls == std::vector<int>(team.size(), 1));
    CHECK_FALSE(team.stop_requested());
}

TEST_CASE("parallel ends with Interrupted when the caller wants to stop") {
    Team team(some_cpus(2));
    std::atomic<int> asked{0};
    const std::thread::id caller = std::this_thread::get_id();
    const auto stop = [&] {
        CHECK(std::this_thread::get_id() == caller);
        return ++asked == 2;
    };
    const auto endless = [&](std::size_t) {
        while (!team.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    CHECK_THROWS_AS(team.parallel(endless, stop), memgauge::Interrupted);
    CHECK(asked == 2);
    CHECK_FALSE(team.stop_requested());
    CHECK_NOTHROW(team.parallel([](std::size_t) {}));
}

TEST_CASE("the caller's wish to stop is heard however soon the work ends") {
    Team team(some_cpus(2));
    CHECK_THROWS_AS(team.parallel([](std::size_t) {}, [] { return true; }), memgauge::Interrupted);
    CHECK_NOTHROW(team.parallel([](std::size_t) {}, [] { return false; }));
}

TEST_CASE("an exception of the stop check ends the work and comes out") {
    Team team(some_cpus(2));
    const auto endless = [&](std::size_t) {
        while (!team.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    const auto stop = []() -> bool { throw std::out_of_range("asked too often"); };
    CHECK_THROWS_AS(team.parallel(endless, stop), std::out_of_range);
    CHECK_NOTHROW(team.parallel([](std::size_t) {}));
}

TEST_CASE("an exception of one worker stops the others and comes out") {
    Team team(some_cpus(2));
    const auto work = [&](std::size_t rank) {
        if (rank == 0) throw std::runtime_error("page lost");
        while (!team.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    CHECK_THROWS_WITH_AS(team.parallel(work), "page lost", std::runtime_error);
    CHECK_NOTHROW(team.parallel([](std::size_t) {}));
}

TEST_CASE("a team at work refuses a second caller instead of mixing their bursts") {
    Team team(some_cpus(1));
    std::string message;
    const auto stop = [&] {  // asked while the workers are at work
        try {
            team.parallel([](std::size_t) {});
        } catch (const memgauge::RequestError& error) {
            message = error.what();
        }
        return true;
    };
    const auto endless = [&](std::size_t) {
        while (!team.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    CHECK_THROWS_AS(team.parallel(endless, stop), memgauge::Interrupted);
    CHECK(message.find("already at work") != std::string::npos);
}

TEST_CASE("teams come and go") {
    for (int i = 0; i < 20; ++i) {
        Team team(some_cpus(4));
        if (i % 2 == 0) team.parallel([](std::size_t) {});
    }
}

TEST_CASE("two teams on the same CPUs work side by side") {
    Team first(some_cpus(2));
    Team second(some_cpus(2));
    std::thread other([&] {
        for (int i = 0; i < 20; ++i) {
            std::vector<StampingJob> jobs(second.size());
            second.run(pointers(jobs));
        }
    });
    for (int i = 0; i < 20; ++i) {
        std::vector<StampingJob> jobs(first.size());
        CHECK(first.run(pointers(jobs)).threads.size() == first.size());
    }
    other.join();
}

TEST_CASE("signals are left to the caller's threads") {
    Team team(some_cpus(2));
    std::vector<int> blocked(team.size(), 0);
    team.parallel([&](std::size_t rank) {
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        blocked[rank] = sigismember(&mask, SIGINT) + sigismember(&mask, SIGALRM);
    });
    CHECK(blocked == std::vector<int>(team.size(), 2));
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    CHECK(sigismember(&mask, SIGINT) == 0);
}

#if !defined(__SANITIZE_THREAD__)  // which does not follow fork in a process with threads
TEST_CASE("a forked child gets an error from its parent's team and can destroy it") {
    auto team = std::make_unique<Team>(some_cpus(2));
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        int status = 1;
        try {
            team->parallel([](std::size_t) {});
        } catch (const memgauge::RequestError&) {
            status = 0;
        }
        team.reset();
        _exit(status);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK_NOTHROW(team->parallel([](std::size_t) {}));
}
#endif
