#pragma once
// Loops whose references all go on by one stride, a power of two below a sector: they keep their
// distances, and each comes to its next sector once in a number of steps.
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
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/engine.hpp"
#include "memgauge/cache_model.hpp"

namespace memgauge::cache {

struct Loop;

// What is simulated of a first level from which nothing but its own accesses takes lines; no sets:
// there is none.
struct PlainLevel {
    std::uint64_t sets = 0;
    unsigned ways = 0;
    unsigned line_bits = 0;
    Part part{};

    bool operator==(const PlainLevel&) const = default;
};

class AbreastPlan {
public:
    // What is made in each period of a loop but for its step 0, in which all references join.
    struct Event {
        std::uint32_t step = 0;
        std::uint16_t reference = 0;
        bool parts = false;  // from its sector; else it joins, in one that no other brings

        auto operator<=>(const Event&) const = default;
    };

    // Of a loop as it begins; false where there is none. What it does already is not planned again.
    bool make(const Loop& loop, const PlainLevel& level);

    // In which all come to as many lines as there are parts.
    [[nodiscard]] std::uint64_t period() const { return period_; }
    // By rising steps and references. Only those of sectors in the part.
    [[nodiscard]] const std::vector<Event>& events() const { return events_; }
    // Bits of references that join, and of those that may meet others in sets.
    [[nodiscard]] unsigned joining() const { return joining_; }
    [[nodiscard]] unsigned meeting() const { return meeting_; }

private:
    // What a plan depends on.
    struct Key {
        PlainLevel level;
        std::size_t size = 0;
        std::int64_t stride = 0;
        std::uint64_t phase = 0;
        std::array<std::uint64_t, most_streams> distances{};
        unsigned stores = 0;
        unsigned bypassing = 0;

        bool operator==(const Key&) const = default;
    };

    [[nodiscard]] static Key key_of(const Loop& loop, const PlainLevel& level);
    [[nodiscard]] bool plan(const Loop& loop, const PlainLevel& level);
    void find_followers(const Loop& loop);
    [[nodiscard]] unsigned all_that_meet(const Loop& loop, const PlainLevel& level) const;
    void add_events(const Loop& loop, const PlainLevel& level);

    Key key_;
    bool is_planned_ = false;
    std::uint64_t period_ = 0;
    unsigned joining_ = 0;
    unsigned parting_ = 0;
    unsigned meeting_ = 0;
    std::array<unsigned, most_streams> followers_{};
    std::vector<Event> events_;
};

// Plans of the rows of a nest, which differ by where in a line a row begins.
class AbreastPlans {
public:
    // Null where a loop has none.
    [[nodiscard]] const AbreastPlan* plan(const Loop& loop, const PlainLevel& level);

private:
    // Lines of 128 bytes in four parts, walked by doubles, begin at no more.
    static constexpr std::size_t most = 64;

    std::vector<AbreastPlan> plans_ = std::vector<AbreastPlan>(most);
};

}  // namespace memgauge::cache
