#pragma once
// Loops whose references all go on by one stride, a power of two below a sector: they keep their
// distances, and each comes to its next sector once in a period of steps.
//
// Which lines a set holds follows from the order in which its lines were used last. Of all accesses
// of a reference in one sector, two are enough: the first, which brings the line, and the last,
// after which the line lies where it belongs among those used meanwhile ("parting"). Those between
// would matter only if a line in use were the oldest of its set; it is not while no more references
// ever meet in sets than these have ways, and none of them comes to a set twice meanwhile.
//
// A reference that meets none need not part: nothing else was used in its set. One that comes to
// the sector of another before that one leaves it ("follows" it) finds it there; if it does not
// store, its first access is left out, and the other's parting always. The last step makes up for
// all that was left out.

#include <array>
#include <cstdint>

#include "memgauge/cache_model.hpp"

namespace memgauge::cache {

struct Loop;

// The geometry of a first level from which nothing but its own accesses takes lines; no sets: there
// is none.
struct PlainLevel {
    std::uint64_t sets = 0;
    unsigned ways = 0;
    unsigned line_bits = 0;

    bool operator==(const PlainLevel&) const = default;
};

class AbreastPlan {
public:
    // Bits of references, in a step that lies so far in a period: those that come to a sector that
    // no other brings, and those that part from theirs after it.
    struct Turn {
        std::uint64_t step = 0;
        unsigned joining = 0;
        unsigned parting = 0;
    };

    // Of a loop as it begins. Rows of a nest mostly have the plan of the row before. False where
    // there is none.
    bool make(const Loop& loop, const PlainLevel& level);

    [[nodiscard]] std::uint64_t period() const { return period_; }
    // By rising steps, the first one at 0. In step 0 of a loop all references join.
    [[nodiscard]] const Turn* begin() const { return turns_.data(); }
    [[nodiscard]] const Turn* end() const { return turns_.data() + size_; }
    [[nodiscard]] unsigned joining() const { return joining_; }
    // Those that may meet others in sets.
    [[nodiscard]] unsigned meeting() const { return meeting_; }

private:
    // What a plan depends on.
    struct Key {
        PlainLevel level;
        std::size_t size = 0;
        std::int64_t stride = 0;
        std::uint64_t in_sector = 0;
        std::array<std::uint64_t, most_streams> distances{};
        unsigned stores = 0;
        unsigned bypassing = 0;

        bool operator==(const Key&) const = default;
    };

    [[nodiscard]] static Key key_of(const Loop& loop, const PlainLevel& level);
    [[nodiscard]] bool plan(const Loop& loop, const PlainLevel& level);
    void find_followers(const Loop& loop);
    [[nodiscard]] unsigned all_that_meet(const Loop& loop, const PlainLevel& level) const;
    void add_turns(const Loop& loop);
    Turn& turn_at(std::uint64_t step);

    Key key_;
    bool is_planned_ = false;
    std::uint64_t period_ = 0;
    unsigned joining_ = 0;
    unsigned parting_ = 0;
    unsigned meeting_ = 0;
    std::array<unsigned, most_streams> followers_{};
    std::array<Turn, 2 * most_streams + 1> turns_{};
    std::size_t size_ = 0;
};

}  // namespace memgauge::cache
