// Competing groups: who works when, where and how often, and what their arrays hold after.

#include "memgauge/competition.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "competition/contents.hpp"
#include "competition/roles.hpp"
#include "competition/run_state.hpp"
#include "competition/work.hpp"
#include "memgauge/counters/modelled.hpp"
#include "memory/chase/ring_access.hpp"
#include "refusal.hpp"

using namespace memgauge;
using memgauge::test::refusal;
using memgauge::test::says;

namespace {

constexpr std::size_t array_bytes = std::size_t{1} << 16;

std::vector<int> some_cpus() {
    const std::vector<int> cpus = allowed_cpus();
    if (cpus.size() == 1) return cpus;
    return {cpus[0], cpus[1]};
}

// For each thread of a team a member of group A, then for each one of group B.
CompetitionRequest two_groups(std::size_t threads, ElementType element = ElementType::f64) {
    CompetitionRequest request;
    for (int group = 0; group < 2; ++group) {
        for (std::size_t rank = 0; rank < threads; ++rank) {
            MemberRequest member;
            member.rank = rank;
            member.sources = 2;
            request.members.push_back(member);
        }
    }
    request.array_bytes = array_bytes;
    request.element = element;
    return request;
}

MemberRequest member_of(unsigned sources, unsigned destinations) {
    MemberRequest member;
    member.sources = sources;
    member.destinations = destinations;
    return member;
}

CompetitionTiming for_time(double duration_ns, std::size_t iteration_bytes = 10'000) {
    CompetitionTiming timing;
    timing.iteration_bytes = iteration_bytes;
    timing.duration_ns = duration_ns;
    return timing;
}

CompetitionTiming for_iterations(std::size_t iterations, std::size_t iteration_bytes = 10'000) {
    CompetitionTiming timing;
    timing.iteration_bytes = iteration_bytes;
    timing.iterations = iterations;
    return timing;
}

// Member `first` on thread 0, the next on thread 1, and so on.
std::vector<ActiveMember> all_do(const Team& team, const Work& work, std::size_t first = 0) {
    std::vector<ActiveMember> active;
    for (std::size_t rank = 0; rank < team.size(); ++rank) active.push_back({first + rank, work});
    return active;
}

bool all_pass(const std::vector<ArrayValidation>& validations) {
    for (const ArrayValidation& validation : validations) {
        INFO(validation.array, " ", validation.average_relative_error);
        CHECK(validation.failed_elements == 0);
        if (!validation.passed) return false;
    }
    return !validations.empty();
}

constexpr Operation all_operations[] = {Operation::copy,  Operation::scale, Operation::add,
                                        Operation::triad, Operation::read,  Operation::write,
                                        Operation::update};

ChaseRequest small_ring() {
    ChaseRequest request;
    request.bytes = std::size_t{1} << 16;
    return request;
}

// Bytes this process is known to have moved while `call` ran.
template <class Call>
std::uint64_t known_bytes(const Call& call) {
    const KnownTraffic& known = KnownTraffic::instance();
    const std::uint64_t before = known.read_bytes() + known.write_bytes();
    call();
    return known.read_bytes() + known.write_bytes() - before;
}

// On a busy machine a thread may come to its CPU after all is over: runs until that was not so, and
// `holds` of what was done.
template <class Run, class Holds>
CompetitionSlice undisturbed(const Run& run, const Holds& holds) {
    CompetitionSlice result;
    for (int turn = 0; turn < 500; ++turn) {
        result = run();
        if (result.window_begin < result.window_end && holds(result)) break;
    }
    REQUIRE(result.window_begin < result.window_end);
    REQUIRE(holds(result));
    return result;
}

bool always(const CompetitionSlice&) {
    return true;
}

}  // namespace

TEST_CASE("all operations leave what they must, whatever came before") {
    Team team(some_cpus());
    for (const ElementType element : {ElementType::f32, ElementType::f64}) {
        Competition competition(team, two_groups(team.size(), element));
        for (std::size_t round = 0; round < 6; ++round) {
            for (const Operation operation : all_operations) {
                KernelSpec spec = default_tuned_spec(operation, element);
                if (round % 2 == 0) spec.variant = Variant::standard;
                // Part of an array, several times around it, and once in between.
                const std::size_t bytes = 3'000 + 25'000 * (round % 4);
                const std::size_t first = round % 3 == 0 ? 0 : team.size();
                competition.run(all_do(team, spec, first), for_iterations(1 + 2 * round, bytes));
                CHECK(all_pass(competition.validate()));
            }
        }
    }
}

TEST_CASE("any number of updates stays within what rounding is allowed") {
    Team team({some_cpus().front()});
    for (const ElementType element : {ElementType::f32, ElementType::f64}) {
        CompetitionRequest request = two_groups(1, element);
        request.array_bytes = 4096;
        Competition competition(team, request);
        for (const Operation before :
             {Operation::copy, Operation::scale, Operation::add, Operation::triad}) {
            for (const std::size_t iterations : {1U, 2U, 3U, 1000U, 1001U}) {
                competition.run({{0, default_tuned_spec(before, element)}},
                                for_iterations(3, 1024));
                competition.run({{0, default_tuned_spec(Operation::update, element)}},
                                for_iterations(iterations, 1792));
                CHECK(all_pass(competition.validate()));
            }
        }
    }
}

TEST_CASE("all mixes leave the ramp, between kernels that leave others") {
    Team team(some_cpus());
    Competition competition(team, two_groups(team.size()));
    const KernelSpec triad = default_tuned_spec(Operation::triad, ElementType::f64);
    for (const auto& [reads, writes] :
         std::vector<std::pair<unsigned, unsigned>>{{1, 0}, {0, 1}, {3, 1}, {2, 3}, {999, 1}}) {
        for (const TrafficOrder order : {TrafficOrder::sequential, TrafficOrder::random}) {
            const TrafficSpec mix{reads, writes, StoreKind::temporal, order, 0};
            competition.run(all_do(team, mix), for_iterations(3));
            CHECK(all_pass(competition.validate()));
            competition.run(all_do(team, triad), for_iterations(2));
            CHECK(all_pass(competition.validate()));
        }
    }
}

TEST_CASE("iterations of traffic hold their ratio exactly, and all alike") {
    Team team({some_cpus().front()});
    Competition competition(team, two_groups(1));
    for (const auto& ratio : std::vector<std::pair<unsigned, unsigned>>{
             {1, 0}, {0, 1}, {1, 1}, {3, 1}, {2, 3}, {667, 333}, {123, 456}}) {
        const unsigned reads = ratio.first;
        const unsigned writes = ratio.second;
        const ThreadSlice thread =
            competition.run({{0, TrafficSpec{reads, writes}}}, for_iterations(2, 100'000))
                .slice.threads.front();
        INFO(reads, ":", writes);
        CHECK(thread.read_bytes * writes == thread.write_bytes * reads);
        const std::uint64_t all = thread.read_bytes + thread.write_bytes;
        const std::size_t line = line_traffic({}).line_bytes;
        CHECK(all >= 16 * line);
        // To the nearest, where the ratio is a short one.
        const std::uint64_t off = all < 100'000 ? 100'000 - all : all - 100'000;
        if (reads + writes <= 5) CHECK(off <= 40 * line);
    }
}

TEST_CASE("an iteration of a kernel counts what the kernel counts") {
    Team team({some_cpus().front()});
    Competition competition(team, two_groups(1));
    for (const Operation operation : all_operations) {
        const KernelSpec spec = default_tuned_spec(operation, ElementType::f64);
        const ThreadSlice thread =
            competition.run({{0, spec}}, for_iterations(2, 10'000)).slice.threads.front();
        const std::uint64_t elements = 9984 / sizeof(double);  // 39 times 256 bytes
        CHECK(thread.read_bytes == elements * traffic(spec).counted_read);
        CHECK(thread.write_bytes == elements * traffic(spec).counted_write);
    }
}

TEST_CASE("one flipped bit of a destination is found and placed, and so are those of sources") {
    Team team(some_cpus());
    for (const ElementType element : {ElementType::f32, ElementType::f64}) {
        CompetitionRequest request = two_groups(team.size(), element);
        request.members.push_back(member_of(1, 0));
        Competition competition(team, request);
        const std::size_t last = request.members.size() - 1;
        const KernelSpec read = default_tuned_spec(Operation::read, element);
        competition.run({{last, read}}, for_iterations(1));
        competition.run({{0, default_tuned_spec(Operation::copy, element)}}, for_iterations(1));
        CHECK(all_pass(competition.validate()));
        CHECK(competition.validate().size() == 4);  // of those who worked only
        competition.corrupt(0, 1234);
        competition.corrupt(last, 55);
        const std::vector<ArrayValidation> found = competition.validate();
        REQUIRE(found.size() == 4);
        const std::string arrays{found[0].array, found[1].array, found[2].array, found[3].array};
        CHECK(arrays == "stds");
        CHECK(found[0].passed);
        CHECK(found[1].passed);
        CHECK_FALSE(found[2].passed);
        CHECK(found[2].failed_elements == 1);
        CHECK(found[2].first_failed == 1234);
        CHECK_FALSE(found[3].passed);
        CHECK(found[3].first_failed == 55);
    }
}

TEST_CASE("all begin together, and none begins an iteration after the common end") {
    Team team(some_cpus());
    Competition competition(team, two_groups(team.size()));
    const double duration_ns = 3e6;
    const Work copy = default_tuned_spec(Operation::copy, ElementType::f64);
    std::vector<ActiveMember> active = all_do(team, copy);
    active.back().work = TrafficSpec{1, 1, StoreKind::temporal, TrafficOrder::sequential, 2'000};
    const CompetitionSlice result =
        undisturbed([&] { return competition.run(active, for_time(duration_ns)); }, always);
    Ticks first = ~Ticks{0};
    for (const ThreadSlice& thread : result.slice.threads) {
        REQUIRE_FALSE(thread.iterations.empty());
        first = std::min(first, thread.iterations.front().begin);
    }
    const Ticks duration = Clock::instance().from_duration_ns(duration_ns);
    for (const ThreadSlice& thread : result.slice.threads) {
        CHECK(thread.iterations.back().begin <= first + duration);
        for (std::size_t i = 1; i < thread.iterations.size(); ++i) {
            CHECK(thread.iterations[i].begin == thread.iterations[i - 1].end);
        }
        CHECK(result.window_begin >= thread.iterations.front().begin);
        CHECK(result.window_end <= thread.iterations.back().end);
    }
    CHECK(result.slice.pingpong_ns < 0.0);
}

TEST_CASE("who is past the end works on until the slowest has ended its last iteration") {
    if (some_cpus().size() < 2) return;
    Team team(some_cpus());
    Competition competition(team, two_groups(team.size()));
    const KernelSpec copy = default_tuned_spec(Operation::copy, ElementType::f64);
    // The shortest iteration has pauses of some milliseconds in it, and ends long after the end.
    const TrafficSpec slow{1, 0, StoreKind::temporal, TrafficOrder::sequential, 3'000'000};
    std::uint64_t known = 0;
    const auto run = [&] {
        CompetitionSlice result;
        known = known_bytes(
            [&] { result = competition.run({{0, copy}, {1, slow}}, for_time(100'000.0, 1024)); });
        return result;
    };
    const auto stamped = [&](const CompetitionSlice& result) {
        const ThreadSlice& fast = result.slice.threads[0];
        const ThreadSlice& slowest = result.slice.threads[1];
        const std::uint64_t allocate =
            traffic(copy).write_allocate * fast.write_bytes / traffic(copy).counted_write;
        const std::uint64_t each = fast.read_bytes + fast.write_bytes + allocate;
        return each * (fast.iterations.size() + 1) +
               slowest.read_bytes * (slowest.iterations.size() + 1);
    };
    const CompetitionSlice result = undisturbed(run, [&](const CompetitionSlice& done) {
        return known > stamped(done) && done.slice.threads[1].iterations.back().end >
                                            done.slice.threads[0].iterations.back().end;
    });
    // The window ends with the last stamp of the first to be past.
    CHECK(result.window_end == result.slice.threads[0].iterations.back().end);
}

TEST_CASE("a fixed number of iterations is made and stamped, and nothing after") {
    Team team(some_cpus());
    Competition competition(team, two_groups(team.size()));
    const KernelSpec copy = default_tuned_spec(Operation::copy, ElementType::f64);
    const TrafficSpec reads{1, 0};
    std::vector<ActiveMember> active = all_do(team, copy);
    active.back().work = reads;
    for (const std::size_t iterations : {1U, 17U}) {
        CompetitionTiming timing = for_iterations(iterations);
        timing.lead_in_iterations = 3;
        timing.pingpong = true;
        CompetitionSlice result;
        const std::uint64_t known = known_bytes([&] { result = competition.run(active, timing); });
        std::uint64_t expected = 0;
        for (const ThreadSlice& thread : result.slice.threads) {
            CHECK(thread.iterations.size() == iterations);
            const std::uint64_t allocate = thread.write_bytes == 0
                                               ? 0
                                               : traffic(copy).write_allocate * thread.write_bytes /
                                                     traffic(copy).counted_write;
            expected += (thread.read_bytes + thread.write_bytes + allocate) * (iterations + 3);
        }
        CHECK(known == expected);
        if (team.size() == 1) CHECK(result.slice.pingpong_ns < 0.0);
    }
}

TEST_CASE("the first to ask sets the end of all") {
    competition::RunState run_state(1);
    CHECK(run_state.end_after(100, 5) == 105);
    CHECK(run_state.end_after(100, 50) == 105);
    CHECK_FALSE(run_state.all_began());
    CHECK_FALSE(run_state.all_left());
    run_state.begin();
    run_state.leave();
    CHECK(run_state.all_began());
    CHECK(run_state.all_left());
    run_state.sleep_until_all_left();
}

TEST_CASE("a thread without a member in the run stays idle") {
    const std::vector<int> cpus = some_cpus();
    if (cpus.size() < 2) return;
    Team team(cpus);
    Competition competition(team, two_groups(2));
    const KernelSpec copy = default_tuned_spec(Operation::copy, ElementType::f64);
    for (const std::size_t member : {0U, 1U, 2U, 3U}) {
        const CompetitionSlice result =
            undisturbed([&] { return competition.run({{member, copy}}, for_time(1e5)); }, always);
        CHECK(result.slice.threads[1 - member % 2].iterations.empty());
        CHECK(result.slice.threads[1 - member % 2].read_bytes == 0);
        const std::vector<Stamp>& stamps = result.slice.threads[member % 2].iterations;
        REQUIRE_FALSE(stamps.empty());
        CHECK(result.window_begin == stamps.front().begin);
        CHECK(result.window_end == stamps.back().end);
    }
    CHECK(competition.validate().size() == 12);
}

TEST_CASE("members get only the arrays they ask for, in their own memory") {
    Team team({some_cpus().front()});
    CompetitionRequest request;
    request.array_bytes = array_bytes + 100;
    request.members = {member_of(1, 1), member_of(0, 1), member_of(2, 0), member_of(2, 1)};
    request.members[3].source = MemorySource::on(0);
    const KernelSpec add = default_tuned_spec(Operation::add, ElementType::f64);
    try {
        Competition competition(team, request);
        CHECK(competition.array_bytes() == array_bytes);
        const std::vector<std::vector<Backing>> backing = competition.backing();
        REQUIRE(backing.size() == 4);
        const std::vector<std::size_t> counts{backing[0].size(), backing[1].size(),
                                              backing[2].size(), backing[3].size()};
        CHECK(counts == std::vector<std::size_t>{2, 1, 2, 3});
        if (backing[3][0].node) CHECK(*backing[3][0].node == 0);
        competition.run({{3, add}}, for_iterations(7));
        competition.run({{1, TrafficSpec{0, 1}}}, for_iterations(3));
        competition.run({{2, TrafficSpec{1, 0}}}, for_iterations(3));
        CHECK(all_pass(competition.validate()));
        CHECK(says(refusal([&] { competition.run({{0, add}}, for_iterations(1)); }),
                   "with 1 sources and 1 destinations cannot do work that needs 2 and 1"));
        CHECK(says(refusal([&] { competition.run({{1, TrafficSpec{1, 1}}}, for_iterations(1)); }),
                   "needs 1 and 1"));
    } catch (const RequestError& error) {
        CHECK(says(error.what(), "cannot bind memory to node"));  // under an emulator
    }
}

TEST_CASE("a probe walks its ring while all others work") {
    const std::vector<int> cpus = some_cpus();
    if (cpus.size() < 2) return;
    Team team(cpus);
    Competition competition(team, two_groups(2));
    ChaseRing ring(team, small_ring());
    void** const before = memory::RingAccess::position(ring);
    const std::size_t hops = ring.nodes() / 4 + 1;
    for (const Work& work :
         {Work(default_tuned_spec(Operation::copy, ElementType::f64)), Work(TrafficSpec{1, 1})}) {
        const auto run = [&] {
            CompetitionSlice probed =
                competition.run_probed({{3, work}}, for_time(0.0, 1024), ring, {hops, 1, 3, 50});
            // The ring was left as many hops on: as many more lead back to where it was.
            ring.run(ring.nodes() * 4 - (1 + 3 * hops + 50));
            CHECK(memory::RingAccess::position(ring) == before);
            return probed;
        };
        const CompetitionSlice result = undisturbed(run, always);
        const ThreadSlice& probe = result.slice.threads[0];
        const ThreadSlice& other = result.slice.threads[1];
        REQUIRE(probe.iterations.size() == 3);
        CHECK(probe.read_bytes == 0);
        CHECK(other.read_bytes > 0);
        CHECK(other.iterations.front().begin <= probe.iterations.back().end);
        CHECK(result.window_begin >= probe.iterations.front().begin);
        CHECK(result.window_end <= probe.iterations.back().end);
        CHECK(result.window_end <= other.iterations.back().end);
        std::size_t timed = 0;
        for (const auto& [ns, count] : result.load_ns) timed += count;
        CHECK(timed == 50);
    }
    const CompetitionSlice alone = competition.run_probed({}, {}, ring, {hops, 0, 2, 0});
    CHECK(alone.slice.threads[0].iterations.size() == 2);
    CHECK(alone.slice.threads[1].iterations.empty());
    CHECK(all_pass(competition.validate()));
}

TEST_CASE("races that make no sense are refused with a remedy") {
    Team team(some_cpus());
    CompetitionRequest request;
    CHECK(says(refusal([&] { Competition(team, request); }), "at least one member"));
    request = two_groups(team.size());
    request.members[0].rank = team.size();
    CHECK(says(refusal([&] { Competition(team, request); }), "smaller rank"));
    for (const MemberRequest& wrong : {member_of(0, 0), member_of(3, 1), member_of(1, 2)}) {
        request.members[0] = wrong;
        CHECK(says(refusal([&] { Competition(team, request); }), "0 to 2 and 0 or 1"));
    }
    request = two_groups(team.size());
    request.array_bytes = 255;
    CHECK(says(refusal([&] { Competition(team, request); }), "at least 256"));
    request.array_bytes = 8192;

    Competition small(team, request);
    const KernelSpec copy = default_tuned_spec(Operation::copy, ElementType::f64);
    const auto run = [&](const std::vector<ActiveMember>& active, const CompetitionTiming& timing) {
        return refusal([&] { small.run(active, timing); });
    };
    CHECK(says(run({{0, TrafficSpec{1, 1}}}, for_iterations(1)), "too small to walk"));
    CHECK(says(run({}, for_iterations(1)), "nobody works"));
    CHECK(says(run({{team.size() * 2, copy}}, for_iterations(1)), "no member"));
    CHECK(
        says(run({{0, copy}, {team.size(), copy}}, for_iterations(1)), "two members of thread 0"));
    CHECK(says(run({{0, KernelSpec{.element = ElementType::f32}}}, for_iterations(1)),
               "kernel for float on"));
    CHECK(says(run({{0, copy}}, {}), "has none"));
    CompetitionTiming both = for_time(1e5);
    both.iterations = 1;
    CHECK(says(run({{0, copy}}, both), "not both"));
    CHECK(says(run({{0, copy}}, for_time(-1.0)), "more than 0"));
    CHECK(says(run({{0, copy}}, for_time(1e12)), "at most"));
    CHECK(says(run({{0, copy}}, for_iterations(std::size_t{1} << 30)), "cannot stamp"));
    KernelSpec translated{.operation = Operation::copy};
    translated.access = Access::translated;
    CHECK(says(run({{0, translated}}, for_iterations(1)), "is no pool"));
    CHECK(says(refusal([&] { small.corrupt(0, 1024); }), "of 1024 elements"));
    CHECK(says(refusal([&] { small.corrupt(99, 0); }), "no element 0 of member 99"));

    Competition floats(team, two_groups(team.size(), ElementType::f32));
    CHECK(says(refusal([&] { floats.run({{0, TrafficSpec{1, 0}}}, for_iterations(1)); }),
               "in arrays of float"));
}

TEST_CASE("probes that make no sense are refused with a remedy") {
    Team team(some_cpus());
    Competition competition(team, two_groups(team.size()));
    ChaseRing ring(team, small_ring());
    const Work reads = TrafficSpec{1, 0};
    const auto probe = [&](const std::vector<ActiveMember>& active, const ProbeWalk& walk) {
        return refusal([&] { competition.run_probed(active, for_time(0.0), ring, walk); });
    };
    CHECK(says(probe({{0, reads}}, {1, 0, 1, 0}), "thread 0 is the probe"));
    CHECK(says(probe({}, {0, 0, 1, 0}), "0 hops"));
    CHECK(says(probe({}, {1, 0, 0, 0}), "cannot stamp 0 walks"));
    Team strangers(some_cpus());
    ChaseRing strange(strangers, small_ring());
    CHECK(says(refusal([&] { competition.run_probed({}, for_time(0.0), strange, {1, 0, 1, 0}); }),
               "another team"));
}

TEST_CASE("a stop while filling ends in Interrupted") {
    Team team(some_cpus());
    CompetitionRequest request = two_groups(team.size());
    request.array_bytes = std::size_t{1} << 24;
    CHECK_THROWS_AS(Competition(team, request, [] { return true; }), Interrupted);
}

TEST_CASE("work says which arrays it needs") {
    const auto counts = [](const Work& work) {
        const ArrayCounts needed = needs(work);
        return std::pair(needed.sources, needed.destinations);
    };
    CHECK(counts(KernelSpec{.operation = Operation::copy}) == std::pair(1U, 1U));
    CHECK(counts(KernelSpec{.operation = Operation::scale}) == std::pair(1U, 1U));
    CHECK(counts(KernelSpec{.operation = Operation::add}) == std::pair(2U, 1U));
    CHECK(counts(KernelSpec{.operation = Operation::triad}) == std::pair(2U, 1U));
    CHECK(counts(KernelSpec{.operation = Operation::read}) == std::pair(1U, 0U));
    CHECK(counts(KernelSpec{.operation = Operation::write}) == std::pair(0U, 1U));
    CHECK(counts(KernelSpec{.operation = Operation::update}) == std::pair(1U, 1U));
    CHECK(counts(TrafficSpec{1, 0}) == std::pair(1U, 0U));
    CHECK(counts(TrafficSpec{0, 1}) == std::pair(0U, 1U));
    CHECK(counts(TrafficSpec{3, 1}) == std::pair(1U, 1U));
}

TEST_CASE("a walk around an array changes sign each lap") {
    using competition::Cursor;
    using competition::moved_on;
    CHECK(moved_on({3, false}, 6, 10).at == 9);
    CHECK_FALSE(moved_on({3, false}, 6, 10).odd_lap);
    CHECK(moved_on({3, false}, 7, 10).at == 0);
    CHECK(moved_on({3, false}, 7, 10).odd_lap);
    CHECK_FALSE(moved_on({3, true}, 12, 10).odd_lap);
    CHECK(moved_on({3, true}, 21, 10).odd_lap);
    std::vector<std::size_t> seen;
    competition::for_stretches({8, true}, 15, 10, [&](const kernels::Range& range, bool odd) {
        seen.insert(seen.end(), {range.first, range.count, odd ? 1U : 0U});
    });
    CHECK(seen == std::vector<std::size_t>{8, 2, 1, 0, 10, 0, 0, 3, 1});
}

TEST_CASE("contents are one again once all of them were overwritten alike") {
    const kernels::Multiple whole{1.0, 0.0};
    const kernels::Multiple other{0.5, 1.0};
    competition::Contents contents(100, whole);
    CHECK(contents.is(whole));
    contents.overwrite({10, 20}, other);
    CHECK(contents.holdings().size() == 3);
    contents.update({0, 15}, 0.25);
    contents.update({95, 5}, -0.25);
    std::size_t at = 0;
    for (const competition::Holding& holding : contents.holdings()) {
        CHECK(holding.range.first == at);
        at += holding.range.count;
    }
    CHECK(at == 100);
    CHECK(contents.holdings()[0].now.factor == 1.25);
    CHECK(contents.holdings()[1].now.factor == 0.75);
    CHECK(contents.holdings().back().now.factor == 0.75);
    CHECK_FALSE(contents.is(whole));
    contents.reset(whole);
    CHECK(contents.is(whole));
    CHECK(contents.holdings().size() == 1);
}

TEST_CASE("nothing that alternates comes near zero") {
    for (const ElementType element : {ElementType::f32, ElementType::f64}) {
        const double step = competition::scalar_of(Operation::update, element);
        for (const Operation operation : all_operations) {
            const kernels::Multiple before = competition::result_of(
                operation, {1.0, 0.0}, competition::scalar_of(operation, element));
            for (const double sign : {1.0, -1.0}) {
                const double after =
                    competition::result_of(Operation::update, before, sign * step).factor;
                CHECK(after > 0.1);
                CHECK(after < 10.0);
            }
        }
    }
}
