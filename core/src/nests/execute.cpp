// The loop nests as running code, compiled so that no loop becomes a call of memcpy.

#include <algorithm>
#include <string>

#include "nests/memory.hpp"
#include "nests/running.hpp"

namespace memgauge {

namespace nests {

void run(const Nest& nest, const InMemory& arrays, const Team* team) noexcept {
    if (nest.prefetches_more()) {
        run_prefetching(nest, arrays, team);
        return;
    }
    run(nest, arrays, [team] { return team != nullptr && team->stop_requested(); });
}

}  // namespace nests

void execute(const NestSpec& spec, const std::vector<void*>& operands) {
    const nests::Nest nest = nests::describe(spec);
    if (operands.size() != nest.references) {
        throw RequestError("loop nest " + std::string(to_string(spec.kind)) + " works on " +
                           std::to_string(nest.references) + " arrays, not on " +
                           std::to_string(operands.size()) + "; give one for each");
    }
    nests::InMemory arrays;
    std::ranges::copy(operands, arrays.begins.begin());
    nests::run(nest, arrays);
}

}  // namespace memgauge
