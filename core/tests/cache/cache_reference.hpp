#pragma once
// The cache model again, plainly, from the words of memgauge/cache_model.hpp alone and in their
// order: one access after the other, sets as small vectors searched from the front, no shortcut.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "memgauge/cache_model.hpp"

namespace memgauge::test {

// A bit for each sector.
struct Marks {
    unsigned valid = 0;
    unsigned changed = 0;
};

struct PlainLine {
    std::uint64_t line = 0;
    Marks marks;
    bool is_there = true;
};

class PlainSet {
public:
    PlainSet(std::size_t ways, Replacement replacement);

    [[nodiscard]] PlainLine* find(std::uint64_t line);
    // What must leave before a line can come.
    [[nodiscard]] const PlainLine* victim() const;
    void put(std::uint64_t line, Marks marks);
    Marks take(std::uint64_t line);
    void touch(std::uint64_t line);
    [[nodiscard]] std::vector<PlainLine*> lines();

private:
    [[nodiscard]] std::size_t way_of(std::uint64_t line) const;
    [[nodiscard]] std::size_t pointed_at() const;

    Replacement replacement_;
    std::vector<PlainLine> ways_;
    std::vector<std::size_t> order_;  // ways, the least recently used first
    std::vector<bool> upper_;         // nodes of the tree from 1 on: children 2n and 2n + 1
};

// What one core's detectors keep.
struct PlainCore {
    struct StoreStream {
        std::uint64_t begin;
        std::uint64_t end;
        std::uint64_t continued;
        std::optional<std::uint64_t> last_bypassed;
    };
    struct AccessStream {
        std::optional<std::uint64_t> last;
        std::int64_t step = 0;
        std::uint64_t equal_steps = 0;
    };

    std::uint64_t clock = 0;
    std::vector<StoreStream> stores;
    std::vector<AccessStream> streams = std::vector<AccessStream>(most_streams);
    std::optional<std::uint64_t> strided_at;
};

class PlainCaches {
public:
    explicit PlainCaches(const CacheMachine& machine);

    void access(unsigned core, const CacheAccess& access);
    void walk(unsigned core, std::span<const StridedAccess> references,
              std::span<const std::int64_t> outer_strides, std::uint64_t outer, std::uint64_t count,
              std::span<const StridedAccess> after);
    void write_back_all();
    void reset_counts();
    [[nodiscard]] const CacheCounts& counts() const { return counts_; }

private:
    enum class Cause { load, allocate, software_prefetch, hardware_prefetch };
    using Instance = std::unordered_map<std::uint64_t, PlainSet>;
    struct Piece {
        std::uint64_t address;
        std::uint64_t sector;
    };

    [[nodiscard]] std::size_t sets(std::size_t level) const;
    [[nodiscard]] unsigned instance_of(std::size_t level, unsigned core) const;
    [[nodiscard]] PlainSet& set_of(std::size_t level, unsigned instance, std::uint64_t line);
    [[nodiscard]] std::uint64_t line_of(std::uint64_t sector) const;
    [[nodiscard]] unsigned bit_of(std::uint64_t sector) const;
    [[nodiscard]] std::vector<Piece> pieces(std::uint64_t address, std::uint64_t bytes) const;
    [[nodiscard]] bool holds(std::size_t level, unsigned core, std::uint64_t sector);
    [[nodiscard]] std::size_t first_shared(unsigned one, unsigned other) const;

    void place(std::size_t level, unsigned instance, std::uint64_t line, Marks marks);
    void evict(std::size_t level, unsigned instance, std::uint64_t line);
    void take_from_in_front(std::size_t level, unsigned instance, std::uint64_t line, Marks& marks);
    void to_memory(unsigned changed);
    void give(std::size_t level, unsigned core, std::uint64_t line, unsigned changed);
    void load(unsigned core, std::uint64_t sector, std::size_t first, Cause cause, unsigned stream);
    void read_memory(Cause cause, unsigned stream);
    void take_from_others(unsigned core, std::uint64_t line);
    void clean_others(unsigned core, std::uint64_t line);
    void prefetch(unsigned core, std::uint64_t sector, unsigned stream);

    void follow_steps(PlainCore& core, const CacheAccess& access);
    PlainCore::StoreStream& store_stream(PlainCore& core, const CacheAccess& access);
    [[nodiscard]] bool is_to_bypass(const PlainCore& core, const PlainCore::StoreStream& stream,
                                    std::uint64_t sector) const;
    void piece(unsigned core, const CacheAccess& access, const Piece& piece,
               PlainCore::StoreStream* stream);
    bool bypassed(unsigned core, std::uint64_t sector, PlainCore::StoreStream& stream);
    void prefetch_next_line(unsigned core, const Piece& piece, unsigned stream);
    void prefetch_stride(unsigned core, const CacheAccess& access);

    CacheMachine machine_;
    std::vector<CacheLevel> levels_;               // borrowed ones among them
    std::vector<std::vector<Instance>> contents_;  // by level and instance
    std::vector<PlainCore> cores_;
    CacheCounts counts_;
};

}  // namespace memgauge::test
