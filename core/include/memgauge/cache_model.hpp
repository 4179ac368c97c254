#pragma once
// An exact model of a cache hierarchy in front of one memory: what loads and stores of several
// cores read from and write to memory, and what they miss at each level.
//
// Everything below is the contract: a plain model written from these words alone gives the same
// counts. Nothing here measures; whatever comes out is simulated.
//
// Pieces. An access of `bytes` bytes is cut at the borders of sectors; its pieces follow each other
// in ascending order, each an access of its own.
//
// Lookup. line = address / line_bytes; set = line % sets, sets = bytes / (line_bytes * ways). A
// line holds a valid and a changed mark for each sector. A piece hits a level that holds its line
// with its sector valid. A line that is there without the sector is a miss that takes no new way.
//
// Recency. A hit, a fill, a write-back from the level nearer to the core make a line the most
// recently used of its set (lru), or turn the tree away from its way (tree-plru: ways a power of
// two, bit 0 of a node points to the lower half). A victim is the lowest way that is empty, else
// the least recently used, or the one the tree points at.
//
// Load. The levels are asked from 1 on, in the core's own instance. The first hit, or memory, gives
// the sector; then it is filled into the levels in front, from the farthest to level 1. An
// exclusive level is not filled on the way: a hit there moves the whole line, with all its sectors
// and marks, to the level in front (before that level's victim comes out), and victims of the
// level in front, changed or not, go there.
//
// Victims. Before a line is placed its victim leaves: of an inclusive level, it first takes the
// changed sectors of the same line from all levels in front, where the line goes away (all cores'
// instances below this one); then a changed line is written to the next level: where the line is
// there, the changed sectors become valid and changed in it, else it is placed there with only
// them valid, without a read; an exclusive next level takes it with all its sectors, changed or
// not. Behind the last level is memory: each changed sector is a write of sector_bytes.
//
// Store. A hit in level 1 changes the sector there. A miss first loads the sector (a read by
// `allocate`, where memory gives it), then changes it. A bypassed store (see StoreStreams) does not
// load: the levels that hold the sector lose it, and one write of a sector goes to memory for each
// sector so written, however many stores make it up.
//
// Store prefetch. As a load, read by `software_prefetch`; the line is not changed.
//
// Cores. Levels that share no core between instances are private. A store to a line that other
// cores' private levels hold takes it away from them, a load of a sector changed there writes it
// back to the nearest level that both cores share, or memory, and leaves it unchanged in theirs;
// a store takes over changed sectors of the line, other than its own, by the same write-back.
//
// Prefetchers look at the pieces that miss level 1 (next_line) or at all pieces by stream (stride);
// see there.

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
// Of a level towards the levels nearer to the cores.
enum class Inclusion : std::uint8_t { non_inclusive, inclusive, exclusive };

struct CacheLevel {
    std::string name;       // "L1"
    std::size_t bytes = 0;  // of one instance
    std::size_t ways = 0;   // 0: fully associative
    unsigned cores = 1;     // that share one instance; 0: all
    Replacement replacement = Replacement::lru;
    Inclusion inclusion = Inclusion::non_inclusive;
    // The instances of cores without accesses of their own (CacheMachine::idle_cores) serve the
    // others: behind this level stands one more, exclusive, shared by all, of their bytes and ways.
    bool borrows_idle = false;
};

// Stores that a core writes past its caches. Per core, a store that begins where one of the last
// `streams` store streams ended continues it, if at most `gap` other accesses of the core came
// between; else it begins a stream in place of the one continued longest ago. Once a stream has
// written `lines` whole lines, the lines that it begins after that bypass.
// Bypassing ends while a strided stream is under way: an access stream (Access::stream) that made
// `strided` steps in a row of one length of at least a line, the last of them within the core's
// last `window` accesses.
struct StoreStreams {
    unsigned lines = 0;  // 0: stores never bypass
    unsigned streams = 4;
    unsigned gap = 16;
    unsigned strided = 8;  // 0: strided streams do not matter
    unsigned window = 64;
};

struct Prefetchers {
    // After a miss of level 1 the next line, where it lies in the same 4 KiB, is loaded to level 2.
    bool next_line = false;
    // An access stream that makes its third equal step of other than 0 in a row loads the sectors
    // `stride_ahead` steps ahead, in the same 4 KiB, to level 2; then at each further such step.
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

struct Access {
    std::uint64_t address = 0;
    std::uint32_t bytes = 8;
    AccessKind kind = AccessKind::load;
    std::uint8_t stream = 0;  // which of a loop's references makes it; below most_streams
};

inline constexpr unsigned most_streams = 16;

// One reference of an inner loop: in step i it accesses address + i * stride.
struct StridedAccess {
    Access first;
    std::int64_t stride = 0;
};

struct LevelCounts {
    std::uint64_t hits = 0;  // pieces of loads, stores and store prefetches; no prefetchers'
    std::uint64_t misses = 0;
    std::uint64_t write_backs = 0;  // lines with changes that left
};

struct CacheCounts {
    std::uint64_t loads = 0;  // pieces
    std::uint64_t stores = 0;
    std::uint64_t store_prefetches = 0;
    std::vector<LevelCounts> levels;
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
};

class CacheModel {
public:
    // `threads` simulate disjoint parts of the sets at once, with the same counts; refused with
    // RequestError for a machine whose sets do not part that way (says why), as are machines that
    // make no sense: sizes that are no multiples, levels that share fewer cores than those in
    // front, too many streams.
    explicit CacheModel(CacheMachine machine, unsigned threads = 1);
    ~CacheModel();
    CacheModel(CacheModel&&) noexcept;
    CacheModel& operator=(CacheModel&&) noexcept;

    [[nodiscard]] const CacheMachine& machine() const noexcept;

    void access(unsigned core, std::span<const Access> accesses);
    // for i in 0..count: each of `references` in order. As access() of the same one by one.
    void walk(unsigned core, std::span<const StridedAccess> references, std::uint64_t count);
    // for i in 0..outer: walk, then each reference's address moves on by outer_strides.
    void walk(unsigned core, std::span<const StridedAccess> references,
              std::span<const std::int64_t> outer_strides, std::uint64_t outer,
              std::uint64_t count);

    // All changed lines are written to memory, as they would be in the end; they stay, unchanged.
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
