// Where libFuzzer, or a replay of kept inputs, comes in.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "fuzz.hpp"

namespace memgauge::fuzz {
namespace {

// Processor time, since the machine may be busy with something else.
constexpr std::clock_t most_s = 5;

}  // namespace

void found(std::string_view what) {
    std::fprintf(stderr, "SUMMARY: %s\n", std::string(what).c_str());
    std::abort();
}

}  // namespace memgauge::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::clock_t begin = std::clock();
    memgauge::fuzz::run({data, size});
    memgauge::fuzz::require((std::clock() - begin) / CLOCKS_PER_SEC < memgauge::fuzz::most_s,
                            "an input takes too long");
    return 0;
}
