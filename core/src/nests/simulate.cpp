// The loop nests as address streams of a cache model.

#include <cstdint>
#include <string>
#include <vector>

#include "nests/address_stream.hpp"
#include "nests/steady_trips.hpp"

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
    std::vector<std::uint64_t> bytes;
    for (const NestArray& array : arrays_of(spec)) bytes.push_back(array.bytes);
    nests::SteadyTrips steady(nest, bases, bytes, model);
    nests::Telling inner(nest, bases, core, model, stop);
    for (nests::OuterLoops at(nest); !at.done(); at.advance()) {
        inner.rows(at.loops(), at.offsets());
        at.skip(steady.skipped_after(at));
    }
}

std::uint64_t trips_simulated(const NestSpec& spec, const CacheModel& model) {
    const nests::Nest nest = nests::as_run(nests::describe(spec));
    const std::uint64_t around = model.bytes_around_sets();
    std::uint64_t simulated = 0;
    for (std::size_t part = 0; part < nest.part_count; ++part) {
        const nests::Loops& loops = nest.parts[part];
        const std::size_t period = nests::steady_period(nest, loops, around);
        std::uint64_t trips = 1;
        for (std::size_t loop = 0; loop < nests::most_loops; ++loop) {
            const std::size_t all = loops.trips[loop];
            const bool some = loop == nests::around_rows && period != 0;
            const std::size_t once = nests::trips_to_mark + period;
            trips *= some ? once + (all - once) % period : all;
        }
        simulated += trips;
    }
    return simulated;
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
