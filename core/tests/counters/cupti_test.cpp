// What CUPTI answers becomes counts, refusals in words, or nothing. The library itself is stood in
// for by functions here; tests/unit/counters/cupti/test_back_end.py loads whole ones.

#include "memgauge/counters/cupti.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "counters/cupti/host.hpp"

using memgauge::CuptiLibrary;
using memgauge::CuptiWay;
using memgauge::RequestError;
namespace cupti = memgauge::cupti;

namespace {

std::size_t passes = 1;
std::vector<double> values;

cupti::Calls answering() {
    cupti::Calls calls;
    calls.result_string = [](cupti::Result, const char** into) -> cupti::Result {
        *into = "CUPTI_ERROR_OF_A_KIND";
        return cupti::success;
    };
    calls.host_initialize = [](cupti::HostInitialize*) { return cupti::success; };
    calls.host_deinitialize = [](cupti::HostDeinitialize*) { return cupti::success; };
    calls.add_metrics = [](cupti::ConfigAddMetrics*) { return cupti::success; };
    calls.config_image_size = [](cupti::ConfigImageSize* asked) {
        asked->image_bytes = 8;
        return cupti::success;
    };
    calls.config_image = [](cupti::ConfigImage*) { return cupti::success; };
    calls.passes = [](cupti::PassCount* asked) {
        asked->passes = passes;
        return cupti::success;
    };
    calls.evaluate = [](cupti::Evaluate* asked) {
        for (std::size_t at = 0; at < asked->count; ++at) asked->values[at] = values[at];
        return cupti::success;
    };
    return calls;
}

cupti::Selection two_metrics(const cupti::Calls& calls) {
    return {calls, "GH100", CuptiWay::range, {"a.sum", "b.sum"}, {}};
}

bool adds(double first, double second, std::vector<std::uint64_t>& sums) {
    const cupti::Calls calls = answering();
    cupti::Selection selection = two_metrics(calls);
    cupti::Failure failure;
    values = {first, second};
    return selection.add({0}, 0, sums, failure);
}

}  // namespace

TEST_CASE("cupti: whole counts are added up, and what is none adds nothing to any") {
    std::vector<std::uint64_t> sums{1, 10};
    CHECK(adds(2.0, 3.4e12, sums));
    CHECK(sums == std::vector<std::uint64_t>{3, 3'400'000'000'010});
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(adds(1.0, nothing, sums));
    CHECK_FALSE(adds(-1.0, 1.0, sums));
    CHECK_FALSE(adds(1.0, std::numeric_limits<double>::infinity(), sums));
    CHECK(sums == std::vector<std::uint64_t>{3, 3'400'000'000'010});
}

TEST_CASE("cupti: what takes more than one pass is refused") {
    const cupti::Calls calls = answering();
    passes = 3;
    CHECK_THROWS_AS(two_metrics(calls), RequestError);
    passes = 1;
    CHECK_NOTHROW(two_metrics(calls));
}

TEST_CASE("cupti: a refusal says the call, the library's word and a next step") {
    const cupti::Calls calls = answering();
    for (const cupti::Result result : {cupti::insufficient_privileges, cupti::hardware_busy,
                                       cupti::mig_device, cupti::unknown_error, 4711}) {
        const std::string text = cupti::refusal(calls, "cuptiCall", result);
        CHECK(text.starts_with("cuptiCall: CUPTI_ERROR_OF_A_KIND; "));
        CHECK(text.find('\n') == std::string::npos);
    }
    CHECK(
        cupti::refusal(calls, "cuptiCall", cupti::samples_lost).starts_with("cuptiCall: samples"));
}

TEST_CASE("cupti: the last failure is kept and told") {
    const cupti::Calls calls = answering();
    cupti::Failure failure;
    CHECK(failure.text(calls).empty());
    CHECK(failure.passed("cuptiOne", cupti::success));
    CHECK(failure.text(calls).empty());
    CHECK_FALSE(failure.passed("cuptiTwo", cupti::hardware_busy));
    CHECK(failure.text(calls).starts_with("cuptiTwo: "));
}

TEST_CASE("cupti: a file that is no library of that name is refused") {
    CHECK_THROWS_AS(CuptiLibrary("/nowhere/libcupti.so.12"), RequestError);
    CHECK_THROWS_AS(CuptiLibrary("libc.so.6"), RequestError);
}
