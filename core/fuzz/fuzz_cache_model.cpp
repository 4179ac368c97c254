// A machine and what is done to it, both drawn from the input: the cache model counts what the
// plain model, written from the words of its header alone, counts.

#include <cstdio>
#include <string>

#include "cache/cache_traces.hpp"
#include "fuzz.hpp"

namespace memgauge::fuzz {

void run(Data data) {
    Input input(data);
    const test::Trace trace =
        test::drawn_trace([&input](std::uint64_t limit) { return input.below(limit); });
    const std::string parted = test::difference(trace);
    if (parted.empty()) return;
    std::fprintf(stderr, "%s\n%s\n", test::text_of(trace).c_str(), parted.c_str());
    found("the model and the reference count differently");
}

}  // namespace memgauge::fuzz
