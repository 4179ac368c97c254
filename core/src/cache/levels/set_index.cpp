#include "cache/levels/set_index.hpp"

namespace memgauge::cache {

SetIndex::SetIndex(std::size_t sets, const CacheMachine& machine) : sets_(sets) {
    const LineNumbers numbers(static_cast<unsigned>(std::countr_zero(machine.line_bytes)));
    if (std::has_single_bit(sets) && sets <= numbers.lines_in_area()) {
        masked_ = true;
        mask_ = static_cast<Line>(sets - 1);
    } else if (sets <= (1u << 20) && machine.line_bytes >= 16) {
        // Exact for lines below 2^44.
        reciprocal_ = ~0ull / sets + 1;
    }
}

}  // namespace memgauge::cache
