#include "cache/loops/moves.hpp"

#include <bit>

namespace memgauge::cache {

std::optional<Moves> Moves::of(std::span<const MovingMemory> memories, const CacheMachine& machine,
                               std::uint64_t bytes_around_sets) {
    if (bytes_around_sets == 0) return std::nullopt;
    const auto around = static_cast<std::int64_t>(bytes_around_sets);
    const auto line_bits = std::countr_zero(machine.line_bytes);
    Moves moves;
    moves.memories_.assign(memories.begin(), memories.end());
    moves.sector_bytes_ = static_cast<std::int64_t>(machine.sector_bytes);
    std::optional<std::int64_t> of_stores;
    std::array<bool, most_streams> known{};
    for (const MovingMemory& memory : memories) {
        if (memory.shift % around != 0 || memory.bytes == 0 || memory.stream >= most_streams) {
            return std::nullopt;
        }
        const Lines lines{memory.begin >> line_bits, (memory.begin + memory.bytes - 1) >> line_bits,
                          memory.shift / (std::int64_t{1} << line_bits)};
        const bool parts = std::ranges::all_of(moves.lines_, [&](const Lines& other) {
            return lines.last < other.first || other.last < lines.first;
        });
        if (!parts || known[memory.stream]) return std::nullopt;
        known[memory.stream] = true;
        moves.lines_.push_back(lines);
        moves.of_streams_[memory.stream] = memory.shift;
        if (!memory.stored) continue;
        if (of_stores.value_or(memory.shift) != memory.shift) return std::nullopt;
        of_stores = memory.shift;
    }
    moves.of_stores_ = of_stores.value_or(0);
    return moves;
}

}  // namespace memgauge::cache
