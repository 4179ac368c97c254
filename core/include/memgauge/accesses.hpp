#pragma once
// Accesses by pattern: of a given size, at given distances, in order or scrambled, each waiting for
// the last or all independent.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "memgauge/buffer.hpp"
#include "memgauge/team.hpp"

namespace memgauge {

// dependent: the address of an access is known only when all that the one before read has arrived.
// independent: addresses are known ahead. saxpy: independent, y += a * x on one float of two
// arrays; a changes its sign from run to run. Dependent and independent accesses execute the same
// loads, one word of each line they span: memory moves whole lines, and more loads of a line would
// only fill the load queue.
enum class PatternKind : std::uint8_t { dependent, independent, saxpy };
// sequential: slot after slot. random: every slot once, in a scrambled order, then again the same.
enum class AccessOrder : std::uint8_t { sequential, random };
std::string_view to_string(PatternKind) noexcept;
std::string_view to_string(AccessOrder) noexcept;
PatternKind pattern_kind_from_string(std::string_view);
AccessOrder access_order_from_string(std::string_view);

// Distances are exact: those of slots by a power of two meet few sets of a cache, unless spread.
struct AccessPattern {
    PatternKind kind = PatternKind::dependent;
    AccessOrder order = AccessOrder::sequential;
    std::size_t access_bytes = 64;  // of one access: 8, or whole lines; saxpy: 4, ignored
    // From slot to slot; at least access_bytes. Whole lines where the access is, else a multiple
    // of it.
    std::size_t stride_bytes = 64;
    std::size_t slots = 0;  // visited in turn; a power of two when random
    // Slot i is moved by (i % spread_lines) lines, so that slots a page apart use all sets of a
    // cache. Access and shift stay inside the slot. A power of two; 1: not moved.
    std::size_t spread_lines = 1;

    friend auto operator<=>(const AccessPattern&, const AccessPattern&) = default;
};

class AccessBuffer {
public:
    // Allocates and touches on thread 0 of the team, which must outlive this object. For saxpy the
    // first half is x and the second y, moved by a few lines against x. Filled with floats between
    // 1 and 2, none of them zero.
    AccessBuffer(Team& team, std::size_t bytes, PagePolicy pages = PagePolicy::automatic,
                 const MemorySource& memory = {}, const StopCheck& stop = {});
    ~AccessBuffer();

    // Thread 0, untimed: `warm_accesses` of the pattern; then `iterations` stamped pieces of
    // `accesses` each, every piece going on where the last ended, as does the next run with the
    // same pattern. RequestError: a pattern that does not fit the buffer or makes no sense.
    //
    // flush: before all of these, every line they will read is removed from all caches, whoever
    // brought it there, and (but for saxpy) the accesses that come before them are made, without
    // waiting, so that TLB, page table and caches are as in a walk that goes on for long. Then
    // nothing is found but what a prefetcher brings meanwhile, and what is visited twice because
    // there are more accesses than slots. RequestError on processors whose instruction for flushing
    // is not known.
    Slice run(const AccessPattern& pattern, std::size_t accesses, std::size_t warm_accesses = 0,
              std::size_t iterations = 1, bool flush = false);
    [[nodiscard]] std::size_t bytes() const noexcept;
    [[nodiscard]] Backing backing() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memgauge
