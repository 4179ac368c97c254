#pragma once
// An exact model of a cache hierarchy in front of one memory: what loads and stores of several
// cores read from and write to memory, and what they miss at each level.
//
// Everything below is the contract: a plain model written from these words alone gives the same
// counts. Nothing here measures; whatever comes out is simulated.
//
// Levels are numbered from the cores, 1 to n. Level l of core c is its instance c / cores (0 where
// all share it). A set holds at most `ways` lines; a line has a valid and a changed mark for each
// sector, and goes when no sector is valid. line = address / line_bytes, set = line % sets, sets =
// bytes / (line_bytes * ways).
//
// Pieces. An access is cut at the borders of sectors into pieces, done one by one in ascending
// order. What the detectors (StoreStreams, stride) keep changes once for an access, before its
// pieces; the clock of a core counts its accesses.
//
// Recency. To touch a line makes it the most recently used of its set (lru), or turns the nodes on
// the way to it away from it (tree_plru: each node of a binary tree over the ways points to its
// lower half, as all do at first, or to its upper half). The victim of a full set is the least
// recently used, or the one that the nodes point to; where a way is empty, the lowest such is
// taken. Lines that go leave the order of the others and the nodes as they are.
//
// place(level, line, valid, changed): where the set holds the line, the marks are added to its own.
// Else a full set's victim is evicted, wholly before the line comes, with these marks. The line is
// touched.
//
// evict(level, line): the line leaves. From an inclusive level it takes along the same line of all
// instances of all levels in front that serve cores of this one: their marks are added to its own
// and they go. If any sector is changed then, that is one write_back of this level. An exclusive
// next level gets it by place with all its marks; another one, if any sector is changed, by place
// with the changed sectors, valid and changed; memory behind the last level gets each changed
// sector, sector_bytes written.
//
// load(core, sector, first level): the levels of the core are asked from the first on until one
// holds the line with that sector valid: it has a hit, those before it a miss. A hit in the first
// one touches the line; that is all. A hit in another one that is not exclusive touches it, and
// what moves is that sector, unchanged. From an exclusive level the whole line goes, and what moves
// are all its marks. If none has it memory is read, sector_bytes, and what moves is that sector,
// unchanged. Then, from the level in front of the hit (n after memory) to the first, each level
// that is not exclusive gets by place what moves; after the first such place that is only the
// sector, unchanged.
//
// Load: load(core, sector, 1). Store prefetch: the same. Store: the same, then the sector is
// changed in level 1. These count as hits and misses; what memory gave is read by load, by software
// prefetch and by allocate.
//
// Bypass. A piece of a store for which StoreStreams says so: if its sector is the last that its
// store stream wrote past the caches, it is part of that write and nothing else happens. Else, if
// no level of the core holds the sector, each counts a miss, sector_bytes are written to memory as
// a bypass, and nothing is loaded. Else it is a store as any.
//
// Cores. For two cores the nearer levels are those in front of the first whose instance serves
// both, which, or memory, they share. Before a store (not one that is part of a bypass) the line
// goes from the nearer levels of all other cores, one core after the other from 0 on, and what was
// changed in any of that core's is given by place, valid and changed, to the level shared, or
// written to memory. Before any load() of which level 1 of the core does not hold the sector, the
// same, but the lines stay, unchanged and untouched. Neither counts as write_back.
//
// Prefetch of a sector: nothing if level 1 of the core holds it; else load(core, sector, 2), or
// from level 1 if there is no level 2 or it is exclusive. Counts no hits and misses.
//
// End. write_back_all writes each sector that is changed anywhere to memory, once, and leaves
// everything else as it is but for the changed marks; counts no write_back of a level.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "memgauge/error.hpp"

namespace memgauge {

enum class AccessKind : std::uint8_t { load, store, store_prefetch };
enum class Replacement : std::uint8_t { lru, tree_plru };
// Of a level towards the levels nearer to the cores. Level 1 is non_inclusive.
enum class Inclusion : std::uint8_t { non_inclusive, inclusive, exclusive };

struct CacheLevel {
    std::string name;       // "L1"
    std::size_t bytes = 0;  // of one instance
    std::size_t ways = 0;   // 0: fully associative
    unsigned cores = 1;     // that share one instance, a multiple of the level's in front; 0: all
    Replacement replacement = Replacement::lru;
    Inclusion inclusion = Inclusion::non_inclusive;
    // The instances of idle cores, idle_cores / cores of them, serve the others: right behind this
    // level stands one more with the bytes of all of them, as many ways and the same replacement,
    // exclusive, shared by all. Its name is this level's and " borrowed".
    bool borrows_idle = false;
};

// Stores that a core writes past its caches, by what it accesses and nothing else.
//
// A core follows `streams` store streams: where each began, where it ended, when it was continued.
// A store that begins where one ended, with at most `gap` accesses of the core between the two,
// continues it (of several the one continued last); else it begins one in place of the one
// continued longest ago. A piece is to bypass if its line begins at or after `lines` whole lines
// from the first border of lines at or after the stream's begin.
//
// No piece bypasses while a strided stream is under way: when the core made, in this access or
// within the `window` before it, a strided step. The steps of an access stream
// (CacheAccess::stream) lead from each of its loads and stores to the next; a step is strided if it
// is of at least a line, forth or back, and it and the `strided` - 1 before it are of one length
// and direction.
struct StoreStreams {
    unsigned lines = 0;    // 0: stores never bypass
    unsigned streams = 4;  // at most 16
    unsigned gap = 16;
    unsigned strided = 8;  // 0: strided streams do not matter
    unsigned window = 64;
};

struct Prefetchers {
    // After a piece that missed level 1 and was no bypass: the sectors of the next line, where it
    // begins in the same 4 KiB, ascending.
    bool next_line = false;
    // After a load or store whose step is not 0 and the third or later of one length and direction
    // in a row: as many bytes `stride_ahead` steps ahead, cut as an access; those pieces that begin
    // in the 4 KiB in which the access began. What would lie below address 0 is left out.
    bool stride = false;
    unsigned stride_ahead = 4;
};

struct CacheMachine {
    std::string name;
    std::size_t line_bytes = 64;
    std::size_t sector_bytes = 64;   // also what memory moves at a time
    std::vector<CacheLevel> levels;  // from the cores to memory
    unsigned cores = 1;              // that make accesses
    unsigned idle_cores = 0;
    StoreStreams store_streams;
    Prefetchers prefetchers;
};

struct CacheAccess {
    std::uint64_t address = 0;  // it ends at 2^48 or before
    std::uint32_t bytes = 8;    // at least 1
    AccessKind kind = AccessKind::load;
    std::uint8_t stream = 0;  // which of a loop's references makes it; below most_streams
};

inline constexpr unsigned most_streams = 16;

// One reference of an inner loop: in step i it accesses address + i * stride.
struct StridedAccess {
    CacheAccess first;
    std::int64_t stride = 0;
};

struct LevelCounts {
    std::uint64_t hits = 0;  // pieces of loads, stores and store prefetches; no prefetchers'
    std::uint64_t misses = 0;
    std::uint64_t write_backs = 0;  // lines evicted with changes

    bool operator==(const LevelCounts&) const = default;
};

struct CacheCounts {
    std::uint64_t loads = 0;  // pieces
    std::uint64_t stores = 0;
    std::uint64_t store_prefetches = 0;
    std::vector<LevelCounts> levels;  // as CacheModel::levels()
    // Bytes that memory gave, by what asked first;
    std::uint64_t load_read_bytes = 0;
    std::uint64_t allocate_read_bytes = 0;
    std::uint64_t software_prefetch_read_bytes = 0;
    std::uint64_t hardware_prefetch_read_bytes = 0;
    // of these by stream, the prefetchers' with the stream that set them off;
    std::vector<std::uint64_t> stream_read_bytes;
    // and that it took.
    std::uint64_t write_back_bytes = 0;
    std::uint64_t bypass_write_bytes = 0;

    [[nodiscard]] std::uint64_t read_bytes() const noexcept;
    [[nodiscard]] std::uint64_t write_bytes() const noexcept;
    bool operator==(const CacheCounts&) const = default;
};

// Memory that a loop comes through, by so many bytes further on each time that it is begun anew.
struct MovingMemory {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::int64_t shift = 0;
    std::uint8_t stream = 0;  // which of the loop's references accesses it
    bool stored = false;      // by that reference
};

class CacheModel {
public:
    // `threads` simulate disjoint parts of the sets at once, with the same counts; RequestError
    // where the number of sets of a level is no multiple of them, or with next_line, whose misses
    // reach from one part into another. RequestError too, with what to change, for machines that
    // make no sense: line and sector no powers of two or more than 8 sectors to a line, sizes that
    // are no multiples, tree_plru with other than a power of two of at most 64 ways, levels that
    // share other cores than those in front, level 1 inclusive or exclusive, too many of something.
    explicit CacheModel(CacheMachine machine, unsigned threads = 1);
    ~CacheModel();
    CacheModel(CacheModel&&) noexcept;
    CacheModel& operator=(CacheModel&&) noexcept;
    CacheModel(const CacheModel&) = delete;
    CacheModel& operator=(const CacheModel&) = delete;

    [[nodiscard]] const CacheMachine& machine() const noexcept;
    // As simulated: the machine's, and borrowed ones among them.
    [[nodiscard]] const std::vector<CacheLevel>& levels() const noexcept;

    // All of these: RequestError for a core or stream that does not exist, an access of no bytes or
    // beyond 2^48, before anything is done; and when addresses lie in more areas of 256 MiB (from 0
    // on) than there are numbers of lines for, after which only clear() makes sense: for 63 there
    // always are, for 511 at 64 bytes without sectors, for 127 at 128 bytes with two.
    void access(unsigned core, std::span<const CacheAccess> accesses);
    // for i in 0..count: each of `references` in order. As access() of the same one by one; but of
    // a long loop that has become steady (of one core, all levels lru, no prefetchers; all
    // references by one stride) whole periods are counted without being simulated.
    void walk(unsigned core, std::span<const StridedAccess> references, std::uint64_t count);
    // for i in 0..outer: walk, then each reference's address moves on by outer_strides; then each
    // of `after`, such as the store of a sum, at address + i * stride. Periods of this loop are
    // skipped too where all move by one outer stride and stores never bypass; and passes that touch
    // the same sectors again and change nothing are counted without being simulated (of one core,
    // all levels lru, no prefetchers).
    void walk(unsigned core, std::span<const StridedAccess> references,
              std::span<const std::int64_t> outer_strides, std::uint64_t outer, std::uint64_t count,
              std::span<const StridedAccess> after = {});

    // Memory moved by a multiple of so many bytes lies in the same sets of all levels; 0 where
    // mark() is not possible.
    [[nodiscard]] std::uint64_t bytes_around_sets() const;
    // Remembers what is held and counted, for repeat(). False, and nothing is remembered, where
    // levels are not all lru, where there are several cores or prefetchers.
    bool mark();
    // What was done since mark() was one period of a loop, and `times` more are to follow: the same
    // accesses, those of each memory moved by its shift from period to period. If the model holds
    // what it held at mark(), with each line of such memory moved by its shift, then each further
    // period does the same: they are counted, and the model is as after the last of them. False,
    // and nothing is done, if it does not; or where a shift is no multiple of bytes_around_sets(),
    // memories that move differently share lines, or stores move by different shifts.
    bool repeat(std::span<const MovingMemory> memories, std::uint64_t times);

    void write_back_all();
    // Counts since the last reset; resets leave the contents as they are.
    [[nodiscard]] CacheCounts counts();
    void reset_counts();
    // As new.
    void clear();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memgauge
