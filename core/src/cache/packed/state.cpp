#include "cache/packed/state.hpp"

#include <algorithm>
#include <unordered_map>

namespace memgauge::cache {
namespace {

PackedLevel packed_level(const CacheLevel& of, const CacheMachine& machine, Part part) {
    PackedLevel level;
    level.ways = static_cast<unsigned>(ways_of(of, machine));
    level.ways_mask = static_cast<unsigned>((1ull << level.ways) - 1);
    level.sets = sets_of(of, machine);
    level.index = SetIndex(level.sets, machine);
    level.words_in_set = level.ways > words_together ? 2 * words_together : words_together;
    level.inclusion = of.inclusion;
    if (std::has_single_bit(part.count) && part.count <= words_together) {
        level.kept = ~(std::size_t{part.count} - 1);
    }
    level.kept_mask = static_cast<Line>((level.sets - 1) & level.kept);
    level.set_shift =
        static_cast<unsigned>(std::countr_zero(level.words_in_set) - std::countr_zero(level.kept));
    const std::size_t bytes = level.all().size() * sizeof(Word);
    level.words.reset(static_cast<Word*>(::operator new[](bytes, std::align_val_t{64})));
    return level;
}

}  // namespace

PackedState::PackedState(const CacheMachine& machine, const std::vector<CacheLevel>& levels_of,
                         Part part)
    : count(levels_of.size()),
      shape{.sectors = static_cast<unsigned>(machine.line_bytes / machine.sector_bytes)},
      empty(~Word{0} << mark_bits(shape.sectors)),
      numbers(static_cast<unsigned>(std::countr_zero(machine.line_bytes)),
              mark_bits(shape.sectors)) {
    for (std::size_t l = 0; l < count; ++l) {
        PackedLevel& level = levels[l] = packed_level(levels_of[l], machine, part);
        const bool all = levels_of[l].inclusion == Inclusion::inclusive ||
                         (l + 1 < count && levels_of[l + 1].inclusion == Inclusion::exclusive);
        level.heeded = all ? ~Word{0} : (Word{1} << shape.sectors) - 1;
        shape.wide = shape.wide || level.ways > words_together;
        shape.independent = shape.independent && level.index.is_masked() &&
                            level.inclusion == Inclusion::non_inclusive;
        inclusive = inclusive || levels_of[l].inclusion == Inclusion::inclusive;
    }
    shape.whole = shape.independent && part.count == 1;
    clear();
}

void PackedState::list_lines(const PackedLevel& level, std::size_t set, Held* lines) const {
    const unsigned bits = mark_bits(shape.sectors);
    const Word marks = (Word{1} << bits) - 1;
    const Word* const words = level.set_at(set);
    std::transform(words, words + level.ways, lines, [&](Word word) {
        return word == empty ? none_held : numbers.line(word >> bits) * held_line + (word & marks);
    });
}

void PackedState::hold(const PackedLevel& level, std::size_t set, const Held* lines) {
    const unsigned bits = mark_bits(shape.sectors);
    const Word marks = (Word{1} << bits) - 1;
    std::transform(lines, lines + level.ways, level.set_at(set), [&](Held held) {
        if (held == none_held) return empty;
        return numbers.numbered(held / held_line) << bits | (static_cast<Word>(held) & marks);
    });
}

void PackedState::write_back_all() {
    const Word changed_mask = (Word{1} << shape.sectors) - 1;
    std::unordered_map<Line, Word> changed;
    for (PackedLevel& level : in_use()) {
        level.each_way([&](Word& word) {
            if ((word & changed_mask) != 0) changed[word >> mark_bits(shape.sectors)] |= word;
            word &= ~changed_mask;
        });
    }
    for (const auto& [line, word] : changed) {
        memory.write_backs += static_cast<unsigned>(std::popcount(word & changed_mask));
    }
}

void PackedState::clear() {
    for (PackedLevel& level : in_use()) std::ranges::fill(level.all(), empty);
    numbers.clear();
}

}  // namespace memgauge::cache
