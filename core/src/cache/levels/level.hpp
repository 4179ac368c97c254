#pragma once
// One level: the sets of all its instances, each in one piece of memory with its tags, their order
// and their marks.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "cache/levels/geometry.hpp"
#include "cache/levels/line_numbers.hpp"
#include "cache/levels/marks.hpp"
#include "cache/levels/set_index.hpp"
#include "cache/levels/tag_search.hpp"
#include "cache/loops/warp.hpp"

namespace memgauge::cache {

inline constexpr Line empty_way = ~Line{0};
inline constexpr Line no_way = empty_way - 1;  // behind the last, to fill a vector

class Level {
public:
    Level() = default;
    Level(const CacheLevel& level, const CacheMachine& machine);

    template <bool many_cores>
    [[nodiscard, gnu::always_inline]] Set set(unsigned core, Line line,
                                              const LineNumbers& numbers) const {
        std::size_t index = index_.of(line, numbers);
        if constexpr (many_cores) index += instance_of(core) * count_;
        return sets_.get() + index * record_bytes_;
    }

    // The way that holds the line, or -1.
    [[nodiscard, gnu::always_inline]] int find(Set set, Line line) const {
        if (slots_ == narrow_slots) return first_of(equal_tags(tags(set), line));
        if (slots_ != wide_slots) return find_other(set, line);
        return first_of(equal_tags(tags(set), line) | equal_tags(tags(set) + narrow_slots, line)
                                                          << narrow_slots);
    }

    [[gnu::always_inline]] void touch(Set set, int way) const {
        if (order_ == Order::ranks) {
            touch_ranks(set, way);
        } else {
            touch_other(set, way);
        }
    }

    // The way for a line that is not there, as if touched.
    [[nodiscard, gnu::always_inline]] int renew(Set set) const {
        return order_ == Order::ranks ? renew_last(set) : renew_other(set);
    }

    [[nodiscard]] Line& tag(Set set, int way) const { return tags(set)[way]; }
    [[nodiscard]] std::uint8_t& changed(Set set, int way) const {
        return reinterpret_cast<std::uint8_t*>(set + changed_at_)[way];
    }
    [[nodiscard]] std::uint8_t& valid(Set set, int way) const {
        return reinterpret_cast<std::uint8_t*>(set + valid_at_)[way];
    }

    // The line leaves; its way is the next to be taken.
    void release(Set set, int way) const;
    void clear();

    // Lines of a set of the first instance, the one used last first: listed, and put instead of
    // what the set holds. Least recently used only. See loops/warp.hpp.
    void list_lines(std::size_t index, const LineNumbers& numbers, Held* lines) const;
    void hold(std::size_t index, LineNumbers& numbers, const Held* lines);
    [[nodiscard]] std::size_t sets() const { return count_; }
    [[nodiscard]] std::size_t ways() const { return ways_; }

    // Calls visit(set, way) for each line there.
    template <class Visit>
    void each_line(const Visit& visit) const {
        for (std::size_t i = 0; i < instances_ * count_; ++i) {
            const Set at = sets_.get() + i * record_bytes_;
            for (unsigned way = 0; way < ways_; ++way) {
                if (tags(at)[way] != empty_way) visit(at, static_cast<int>(way));
            }
        }
    }

    [[nodiscard]] Inclusion inclusion() const { return inclusion_; }
    [[nodiscard]] std::size_t instance_of(unsigned core) const {
        return cores_ == 0 ? 0 : core / cores_;
    }
    [[nodiscard]] unsigned cores() const { return cores_; }
    [[nodiscard]] LevelCounts& counts() { return counts_; }

private:
    enum class Order : std::uint8_t { ranks, nodes, stamps };
    struct Free {
        void operator()(std::byte* at) const { ::operator delete[](at, std::align_val_t{64}); }
    };

    [[nodiscard]] static Line* tags(Set set) { return reinterpret_cast<Line*>(set); }
    [[nodiscard]] std::int8_t* ranks(Set set) const {
        return reinterpret_cast<std::int8_t*>(set + order_at_);
    }
    [[nodiscard]] std::uint64_t* stamps(Set set) const {
        return reinterpret_cast<std::uint64_t*>(set + order_at_);
    }
    [[nodiscard]] static int first_of(unsigned mask) {
        return mask == 0 ? -1 : std::countr_zero(mask);
    }

    [[gnu::always_inline]] void touch_ranks(Set set, int way) const {
        std::int8_t* const at = ranks(set);
        const std::int8_t old = at[way];
        if (old == 0) return;
        to_front(at, all_ranks(old));
        if (slots_ != narrow_slots) to_front(at + ranks_in_vector, all_ranks(old));
    }

    [[nodiscard, gnu::always_inline]] int renew_last(Set set) const {
        std::int8_t* const at = ranks(set);
        const Ranks last = last_rank_;
        unsigned mask = renew_ranks(at, last);
        if (slots_ != narrow_slots) {
            mask |= renew_ranks(at + ranks_in_vector, last) << ranks_in_vector;
        }
        return std::countr_zero(mask);
    }

    void lay_out();
    void touch_other(Set set, int way) const;
    [[nodiscard]] int renew_other(Set set) const;
    [[nodiscard]] int find_other(Set set, Line line) const;
    void touch_nodes(Set set, int way) const;
    [[nodiscard]] int tree_victim(Set set) const;
    [[nodiscard]] int oldest(Set set) const;

    Ranks last_rank_{};  // of the way that is next to be taken, in all lanes
    SetIndex index_;
    unsigned slots_ = 0;  // tags of a record
    std::size_t record_bytes_ = 0;
    std::size_t order_at_ = 0;
    std::size_t changed_at_ = 0;
    std::size_t valid_at_ = 0;
    LevelCounts counts_;
    std::size_t ways_ = 0;
    std::size_t count_ = 0;  // sets of an instance
    std::size_t instances_ = 0;
    unsigned cores_ = 1;
    Order order_ = Order::ranks;
    Inclusion inclusion_ = Inclusion::non_inclusive;
    mutable std::uint64_t clock_ = 0;
    std::unique_ptr<std::byte[], Free> sets_;
};

}  // namespace memgauge::cache
