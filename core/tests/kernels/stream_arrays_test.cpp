// The arrays of a team: what they hold, how they are divided, and that validation finds faults.

#include "memgauge/stream_arrays.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "kernels/arrays/ramp.hpp"
#include "kernels/arrays/replay.hpp"
#include "refusal.hpp"

using namespace memgauge;
using memgauge::test::refusal;

namespace {

std::vector<int> some_cpus() {
    const std::vector<int> cpus = allowed_cpus();
    if (cpus.size() == 1) return cpus;
    return {cpus[0], cpus[1]};
}

ArraysRequest small(ElementType element = ElementType::f64, std::size_t blocks = 1) {
    ArraysRequest request;
    request.element = element;
    request.elements = 100'000;
    request.blocks = blocks;
    return request;
}

bool all_pass(const std::vector<ArrayValidation>& validations) {
    for (const ArrayValidation& validation : validations) {
        INFO(validation.array, " ", validation.average_relative_error);
        CHECK(validation.failed_elements == 0);
        if (!validation.passed) return false;
    }
    return validations.size() == 3;
}

constexpr Operation all_operations[] = {Operation::copy,  Operation::scale, Operation::add,
                                        Operation::triad, Operation::read,  Operation::write,
                                        Operation::update};

}  // namespace

TEST_CASE("the ramp is real, never zero and does not repeat") {
    for (const std::size_t i : {0UL, 1UL, 77777777UL, 1UL << 32}) {
        const double x = kernels::ramp_at(ElementType::f64, i);
        CHECK(x >= 1.0);
        CHECK(x < kernels::ramp_at(ElementType::f64, i + 1));
    }
    const std::size_t period = std::size_t{1} << 23;
    CHECK(kernels::ramp_at(ElementType::f32, period - 1) < 2.0);
    CHECK(kernels::ramp_at(ElementType::f32, period) == 1.0);
    CHECK(kernels::before_wrap(ElementType::f32, {period - 3, 10}).count == 3);
    CHECK(kernels::before_wrap(ElementType::f64, {period - 3, 10}).count == 10);
}

TEST_CASE("every kind of wrong element is found, wherever it stands") {
    const double inf = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double wrong : {0.0, -1.0, 1.0 + 1e-12, 1e300, inf, -inf, nan, 1e-310}) {
        for (const std::size_t at : {0U, 7U, 16383U, 16384U, 19999U, 20002U}) {
            std::vector<double> values(20003);
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i] = 2.0 * kernels::ramp_at(ElementType::f64, 5 + i);
            }
            const kernels::Range range{5, values.size()};
            CHECK(kernels::deviation(ElementType::f64, values.data(), range, 2.0, 1e-13).failed ==
                  0);
            values[at] *= wrong;
            const kernels::Deviation found =
                kernels::deviation(ElementType::f64, values.data(), range, 2.0, 1e-13);
            CHECK(found.failed == 1);
            CHECK(found.first_failed == 5 + at);
            CHECK(found.sum <= 1.0 + 1e-9);
        }
    }
}

TEST_CASE("a round of copy, scale, add, triad gives the first array back") {
    kernels::BlockState state;
    const double s = kernels::replay_scalar(ElementType::f64);
    for (const Operation operation :
         {Operation::copy, Operation::scale, Operation::add, Operation::triad}) {
        kernels::replay(state, operation, s);
    }
    CHECK(state.arrays[0].factor == doctest::Approx(1.0).epsilon(1e-15));
    CHECK(kernels::is_sound(state, ElementType::f64));
}

TEST_CASE("a block is unsound once rounding may have used up the allowance") {
    kernels::BlockState state;
    int applications = 0;
    while (kernels::is_sound(state, ElementType::f32) && applications < 1000) {
        kernels::replay(state, Operation::update, applications % 2 == 0 ? 0.4 : -0.4);
        ++applications;
    }
    CHECK(applications > 2);
    CHECK(applications < 1000);
}

TEST_CASE("all operations leave what is replayed, for both types and several blocks") {
    Team team(some_cpus());
    for (const ElementType element : {ElementType::f32, ElementType::f64}) {
        for (const std::size_t blocks : {1U, 5U}) {
            StreamArrays arrays(team, small(element, blocks));
            CHECK(all_pass(arrays.validate()));
            for (int round = 0; round < 12; ++round) {
                for (const Operation operation : all_operations) {
                    KernelSpec spec = default_tuned_spec(operation, element);
                    if (round % 2 == 0) spec.variant = Variant::standard;
                    SliceRequest slice;
                    slice.first_block = static_cast<std::size_t>(round) % blocks;
                    slice.blocks = blocks > 1 ? 2 : 1;
                    slice.lead_in_blocks = blocks > 1 ? 2 : 0;
                    slice.iterations = 3;
                    const Slice result = arrays.run(spec, slice);
                    REQUIRE(result.threads.size() == team.size());
                    for (const ThreadSlice& thread : result.threads) {
                        REQUIRE(thread.iterations.size() == 3);
                        CHECK(thread.iterations[0].end > thread.iterations[0].begin);
                    }
                }
                CHECK(all_pass(arrays.validate()));
            }
        }
    }
}

TEST_CASE("thousands of rounds stay bounded and valid") {
    Team team(some_cpus());
    for (const ElementType element : {ElementType::f32, ElementType::f64}) {
        ArraysRequest request = small(element);
        request.elements = 4096;
        StreamArrays arrays(team, request);
        for (int round = 0; round < 1000; ++round) {
            for (const Operation operation : all_operations) {
                arrays.run(default_tuned_spec(operation, element), {});
            }
        }
        CHECK(all_pass(arrays.validate()));
    }
}

TEST_CASE("a float ramp longer than its period wraps and validates") {
    Team team({some_cpus().front()});
    ArraysRequest request = small(ElementType::f32, 3);
    request.elements = (std::size_t{1} << 23) + 100'000;
    StreamArrays arrays(team, request);
    SliceRequest whole;
    whole.blocks = 3;
    arrays.run(default_tuned_spec(Operation::write, ElementType::f32), whole);
    arrays.run({.operation = Operation::write, .element = ElementType::f32}, whole);
    CHECK(all_pass(arrays.validate()));
}

TEST_CASE("one flipped bit is found and placed") {
    Team team(some_cpus());
    for (const ElementType element : {ElementType::f32, ElementType::f64}) {
        StreamArrays arrays(team, small(element, 2));
        const std::size_t element_index = arrays.elements() - 7;
        arrays.corrupt('b', element_index);
        const std::vector<ArrayValidation> validations = arrays.validate();
        CHECK(validations[0].passed);
        CHECK_FALSE(validations[1].passed);
        CHECK(validations[1].failed_elements == 1);
        CHECK(validations[1].first_failed == element_index);
        CHECK(validations[2].passed);
        arrays.corrupt('b', element_index);
        CHECK(all_pass(arrays.validate()));
    }
}

TEST_CASE("arrays are at least as large as asked and divided evenly") {
    Team team(some_cpus());
    StreamArrays arrays(team, small(ElementType::f64, 7));
    CHECK(arrays.elements() >= 100'000);
    CHECK(arrays.elements() == arrays.elements_per_block() * 7 * team.size());
    CHECK(arrays.elements_per_block() * sizeof(double) % 256 == 0);
    CHECK(arrays.backing().size() == 3);
}

TEST_CASE("a shift between arrays changes no result") {
    Team team(some_cpus());
    ArraysRequest request = small();
    request.offset_bytes = 8 * 13;
    StreamArrays arrays(team, request);
    for (const Operation operation : all_operations) {
        arrays.run(default_tuned_spec(operation, ElementType::f64), {});
    }
    CHECK(all_pass(arrays.validate()));
}

TEST_CASE("a prefix is read repeatedly within one stamp") {
    Team team(some_cpus());
    StreamArrays arrays(team, small());
    SliceRequest slice;
    slice.prefix_elements = 512;
    slice.repeats = 100;
    slice.iterations = 4;
    const Slice result = arrays.run(default_tuned_spec(Operation::read, ElementType::f64), slice);
    CHECK(result.threads[0].iterations.size() == 4);
    CHECK(all_pass(arrays.validate()));
}

TEST_CASE("impossible requests are refused with a remedy") {
    Team team(some_cpus());
    ArraysRequest request = small(ElementType::f64, 1000);
    request.elements = 1000;
    const std::string least = std::to_string(1000 * team.size() * 32);
    CHECK(refusal([&] { StreamArrays(team, request); }).find("give at least " + least) !=
          std::string::npos);
    request = small();
    request.offset_bytes = 3;
    CHECK(refusal([&] { StreamArrays(team, request); }).find("multiple of the element size") !=
          std::string::npos);
    request = small();
    request.elements = std::size_t{1} << 62;
    CHECK(refusal([&] { StreamArrays(team, request); }).find("more than can be addressed") !=
          std::string::npos);
    StreamArrays arrays(team, small(ElementType::f64, 2));
    const KernelSpec triad = default_tuned_spec(Operation::triad, ElementType::f64);
    CHECK(refusal([&] { arrays.run(triad, {.first_block = 2}); }).find("there are 2 blocks") !=
          std::string::npos);
    CHECK(refusal([&] { arrays.run(triad, {.prefix_elements = 8}); }).find("only read") !=
          std::string::npos);
    CHECK(refusal([&] { arrays.run({.element = ElementType::f32}, {}); }).find("for float on") !=
          std::string::npos);
}

TEST_CASE("a stop while filling ends in Interrupted") {
    Team team(some_cpus());
    ArraysRequest request = small();
    request.elements = 16'000'000;
    CHECK_THROWS_AS(StreamArrays(team, request, [] { return true; }), Interrupted);
}
