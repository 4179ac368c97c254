// The loop nests as address streams of a cache model.

#include <string>

#include "nests/address_stream.hpp"

namespace memgauge {
namespace {

void check_bases(const NestSpec& spec, const nests::Nest& nest,
                 const std::vector<std::uint64_t>& bases) {
    if (bases.size() == nest.references) return;
    throw RequestError("loop nest " + std::string(to_string(spec.kind)) + " walks " +
                       std::to_string(nest.references) + " arrays, not " +
                       std::to_string(bases.size()) + "; give where each begins");
}

}  // namespace

void simulate(const NestSpec& spec, const std::vector<std::uint64_t>& bases, unsigned core,
              CacheModel& model, const StopCheck& stop) {
    const nests::Nest nest = nests::as_run(nests::describe(spec));
    check_bases(spec, nest, bases);
    nests::stream_addresses(nest, std::span(bases), core, model, stop);
}

void simulate_batched(const NestSpec& spec, const std::vector<std::vector<std::uint64_t>>& bases,
                      CacheModel& model, const StopCheck& stop) {
    if (bases.size() == 1) return simulate(spec, bases.front(), 0, model, stop);
    const nests::Nest nest = nests::describe(spec);
    if (bases.empty()) {
        throw RequestError("loop nest " + std::string(to_string(spec.kind)) +
                           ": no core is there to simulate; give the arrays of at least one");
    }
    for (const std::vector<std::uint64_t>& of_core : bases) check_bases(spec, nest, of_core);
    nests::tell_batched(nest, std::span(bases), model, stop);
}

}  // namespace memgauge
