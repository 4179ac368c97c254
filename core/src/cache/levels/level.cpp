#include "cache/levels/level.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "round_up.hpp"

namespace memgauge::cache {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::int8_t no_rank = 127;

unsigned slots_for(std::size_t ways) {
    if (ways <= narrow_slots) return narrow_slots;
    return ways <= wide_slots ? wide_slots : static_cast<unsigned>(ways);
}

}  // namespace

Level::Level(const CacheLevel& level, const CacheMachine& machine)
    : slots_(slots_for(ways_of(level, machine))),
      ways_(ways_of(level, machine)),
      count_(sets_of(level, machine)),
      instances_(instances_of(level, machine)),
      cores_(level.cores),
      inclusion_(level.inclusion) {
    last_rank_ = all_ranks(static_cast<int>(ways_ - 1));
    if (level.replacement == Replacement::tree_plru) {
        order_ = Order::nodes;
    } else if (ways_ > wide_slots) {
        order_ = Order::stamps;
    }
    index_ = SetIndex(count_, machine);
    lay_out();
    const std::size_t bytes = instances_ * count_ * record_bytes_;
    sets_.reset(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{cache_line})));
    clear();
}

void Level::lay_out() {
    order_at_ = round_up(slots_ * sizeof(Line), sizeof(std::uint64_t));
    const std::size_t order_bytes =
        order_ == Order::stamps ? ways_ * sizeof(std::uint64_t) : round_up(slots_, sizeof(Ranks));
    changed_at_ = order_at_ + order_bytes;
    valid_at_ = changed_at_ + slots_;
    record_bytes_ = round_up(valid_at_ + slots_, cache_line);
}

void Level::clear() {
    std::memset(sets_.get(), 0, instances_ * count_ * record_bytes_);
    clock_ = 0;
    for (std::size_t i = 0; i < instances_ * count_; ++i) {
        const Set at = sets_.get() + i * record_bytes_;
        std::fill_n(tags(at), ways_, empty_way);
        std::fill(tags(at) + ways_, tags(at) + slots_, no_way);
        if (order_ != Order::ranks) continue;
        std::fill_n(ranks(at), slots_, no_rank);
        for (std::size_t way = 0; way < ways_; ++way) {
            ranks(at)[way] = static_cast<std::int8_t>(way);
        }
    }
}

void Level::release(Set set, int way) const {
    tag(set, way) = empty_way;
    changed(set, way) = 0;
    if (order_ == Order::stamps) stamps(set)[way] = 0;
    if (order_ != Order::ranks) return;
    std::int8_t* const at = ranks(set);
    const std::int8_t old = at[way];
    for (std::size_t other = 0; other < ways_; ++other) {
        if (at[other] > old) --at[other];
    }
    at[way] = static_cast<std::int8_t>(ways_ - 1);
}

void Level::touch_other(Set set, int way) const {
    if (order_ == Order::nodes) {
        touch_nodes(set, way);
    } else {
        stamps(set)[way] = ++clock_;
    }
}

int Level::renew_other(Set set) const {
    const int way = order_ == Order::nodes ? tree_victim(set) : oldest(set);
    touch_other(set, way);
    return way;
}

// Node 1 is the root, the children of node i are 2 i and 2 i + 1; bit i of the word: it points to
// the upper half.
void Level::touch_nodes(Set set, int way) const {
    std::uint64_t& nodes = *stamps(set);
    for (std::size_t node = ways_ + static_cast<std::size_t>(way); node > 1; node /= 2) {
        const std::uint64_t parent = 1ull << (node / 2);
        nodes = node % 2 == 0 ? nodes | parent : nodes & ~parent;
    }
}

int Level::tree_victim(Set set) const {
    const int free = find(set, empty_way);
    if (free >= 0) return free;
    const std::uint64_t nodes = *stamps(set);
    std::size_t node = 1;
    while (node < ways_) node = 2 * node + (nodes >> node & 1);
    return static_cast<int>(node - ways_);
}

int Level::oldest(Set set) const {
    const std::uint64_t* const at = stamps(set);
    return static_cast<int>(std::min_element(at, at + ways_) - at);
}

int Level::find_other(Set set, Line line) const {
    const Line* const at = tags(set);
    const Line* const end = at + ways_;
    const Line* const found = std::find(at, end, line);
    return found == end ? -1 : static_cast<int>(found - at);
}

void Level::list_lines(std::size_t index, const LineNumbers& numbers, Held* lines) const {
    const Set set = sets_.get() + index * record_bytes_;
    const auto held = [&](int way) {
        const Line number = tag(set, way);
        return number == empty_way
                   ? none_held
                   : numbers.line(number) * held_line +
                         static_cast<Held>(valid(set, way) << 8 | changed(set, way));
    };
    const auto ways = static_cast<int>(ways_);
    if (order_ == Order::ranks) {
        for (int way = 0; way < ways; ++way) lines[ranks(set)[way]] = held(way);
        return;
    }
    std::vector<int> by_age(ways_);
    std::iota(by_age.begin(), by_age.end(), 0);
    std::ranges::sort(by_age, std::greater(), [&](int way) { return stamps(set)[way]; });
    std::ranges::transform(by_age, lines, held);
}

void Level::hold(std::size_t index, LineNumbers& numbers, const Held* lines) {
    const Set set = sets_.get() + index * record_bytes_;
    clock_ += ways_;
    const auto ways = static_cast<int>(ways_);
    for (int way = 0; way < ways; ++way) {
        const Held held = lines[way];
        const bool none = held == none_held;
        tag(set, way) = none ? empty_way : numbers.numbered(held / held_line);
        valid(set, way) = none ? 0 : static_cast<std::uint8_t>(held >> 8);
        changed(set, way) = none ? 0 : static_cast<std::uint8_t>(held);
        if (order_ == Order::ranks) {
            ranks(set)[way] = static_cast<std::int8_t>(way);
        } else {
            stamps(set)[way] = none ? 0 : clock_ - static_cast<std::uint64_t>(way);
        }
    }
}

}  // namespace memgauge::cache
