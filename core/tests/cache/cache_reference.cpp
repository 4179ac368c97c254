#include "cache/cache_reference.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

namespace memgauge::test {

namespace {

constexpr std::uint64_t prefetch_page = 4096;
__extension__ using Wide = __int128;

std::uint64_t sum(std::uint64_t address, std::int64_t step) {
    return address + static_cast<std::uint64_t>(step);
}

}  // namespace

PlainSet::PlainSet(std::size_t ways, Replacement replacement)
    : replacement_{replacement}, ways_(ways, PlainLine{0, {}, false}), order_(ways), upper_(ways) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
}

std::size_t PlainSet::way_of(std::uint64_t line) const {
    std::size_t way = 0;
    while (way < ways_.size() && (!ways_[way].is_there || ways_[way].line != line)) {
        ++way;
    }
    return way;
}

PlainLine* PlainSet::find(std::uint64_t line) {
    const std::size_t way = way_of(line);
    return way < ways_.size() ? &ways_[way] : nullptr;
}

const PlainLine* PlainSet::victim() const {
    if (!std::ranges::all_of(ways_, &PlainLine::is_there)) {
        return nullptr;
    }
    return &ways_[replacement_ == Replacement::lru ? order_.front() : pointed_at()];
}

std::size_t PlainSet::pointed_at() const {
    std::size_t node = 1;
    while (node < ways_.size()) {
        node = 2 * node + (upper_[node] ? 1U : 0U);
    }
    return node - ways_.size();
}

void PlainSet::put(std::uint64_t line, Marks marks) {
    *std::ranges::find(ways_, false, &PlainLine::is_there) = {line, marks};
}

Marks PlainSet::take(std::uint64_t line) {
    PlainLine& taken = ways_[way_of(line)];
    taken.is_there = false;
    return taken.marks;
}

void PlainSet::touch(std::uint64_t line) {
    const std::size_t way = way_of(line);
    if (replacement_ == Replacement::lru) {
        std::erase(order_, way);
        order_.push_back(way);
        return;
    }
    for (std::size_t child = way + ways_.size(); child > 1; child /= 2) {
        upper_[child / 2] = child % 2 == 0;
    }
}

std::vector<PlainLine*> PlainSet::lines() {
    std::vector<PlainLine*> found;
    for (PlainLine& line : ways_) {
        if (line.is_there) {
            found.push_back(&line);
        }
    }
    return found;
}

PlainCaches::PlainCaches(const CacheMachine& machine) : machine_{machine} {
    for (const CacheLevel& level : machine.levels) {
        levels_.push_back(level);
        const unsigned idle = level.borrows_idle ? machine.idle_cores / level.cores : 0;
        if (idle > 0) {
            CacheLevel borrowed = level;
            borrowed.name += " borrowed";
            borrowed.bytes *= idle;
            borrowed.cores = 0;
            borrowed.inclusion = Inclusion::exclusive;
            levels_.push_back(borrowed);
        }
    }
    for (std::size_t level = 0; level < levels_.size(); ++level) {
        contents_.emplace_back(instance_of(level, machine.cores - 1) + 1);
    }
    cores_.resize(machine.cores);
    reset_counts();
}

std::size_t PlainCaches::sets(std::size_t level) const {
    const CacheLevel& spec = levels_[level];
    return spec.ways == 0 ? 1 : spec.bytes / (machine_.line_bytes * spec.ways);
}

unsigned PlainCaches::instance_of(std::size_t level, unsigned core) const {
    return levels_[level].cores == 0 ? 0 : core / levels_[level].cores;
}

PlainSet& PlainCaches::set_of(std::size_t level, unsigned instance, std::uint64_t line) {
    const CacheLevel& spec = levels_[level];
    const std::size_t ways = spec.ways == 0 ? spec.bytes / machine_.line_bytes : spec.ways;
    return contents_[level][instance]
        .try_emplace(line % sets(level), ways, spec.replacement)
        .first->second;
}

std::uint64_t PlainCaches::line_of(std::uint64_t sector) const {
    return sector * machine_.sector_bytes / machine_.line_bytes;
}

unsigned PlainCaches::bit_of(std::uint64_t sector) const {
    return 1U << (sector % (machine_.line_bytes / machine_.sector_bytes));
}

std::vector<PlainCaches::Piece> PlainCaches::pieces(std::uint64_t address,
                                                    std::uint64_t bytes) const {
    std::vector<Piece> cut;
    const std::uint64_t end = address + bytes;
    for (std::uint64_t at = address; at < end;
         at = (at / machine_.sector_bytes + 1) * machine_.sector_bytes) {
        cut.push_back({at, at / machine_.sector_bytes});
    }
    return cut;
}

bool PlainCaches::holds(std::size_t level, unsigned core, std::uint64_t sector) {
    const std::uint64_t line = line_of(sector);
    const PlainLine* found = set_of(level, instance_of(level, core), line).find(line);
    return found != nullptr && (found->marks.valid & bit_of(sector)) != 0;
}

std::size_t PlainCaches::first_shared(unsigned one, unsigned other) const {
    std::size_t level = 0;
    while (level < levels_.size() && instance_of(level, one) != instance_of(level, other)) {
        ++level;
    }
    return level;
}

void PlainCaches::place(std::size_t level, unsigned instance, std::uint64_t line, Marks marks) {
    PlainSet& set = set_of(level, instance, line);
    if (PlainLine* there = set.find(line)) {
        there->marks.valid |= marks.valid;
        there->marks.changed |= marks.changed;
    } else {
        if (const PlainLine* victim = set.victim()) {
            evict(level, instance, victim->line);
        }
        set.put(line, marks);
    }
    set.touch(line);
}

void PlainCaches::take_from_in_front(std::size_t level, unsigned instance, std::uint64_t line,
                                     Marks& marks) {
    for (std::size_t front = 0; front < level; ++front) {
        for (unsigned core = 0; core < machine_.cores; ++core) {
            PlainSet& set = set_of(front, instance_of(front, core), line);
            if (instance_of(level, core) == instance && set.find(line) != nullptr) {
                const Marks taken = set.take(line);
                marks.valid |= taken.valid;
                marks.changed |= taken.changed;
            }
        }
    }
}

void PlainCaches::evict(std::size_t level, unsigned instance, std::uint64_t line) {
    Marks marks = set_of(level, instance, line).take(line);
    if (levels_[level].inclusion == Inclusion::inclusive) {
        take_from_in_front(level, instance, line, marks);
    }
    if (marks.changed != 0) {
        ++counts_.levels[level].write_backs;
    }
    const unsigned core = instance * levels_[level].cores;
    const std::size_t next = level + 1;
    if (next < levels_.size() && levels_[next].inclusion == Inclusion::exclusive) {
        place(next, instance_of(next, core), line, marks);
    } else if (marks.changed != 0) {
        give(next, core, line, marks.changed);
    }
}

void PlainCaches::to_memory(unsigned changed) {
    counts_.write_back_bytes +=
        static_cast<std::uint64_t>(std::popcount(changed)) * machine_.sector_bytes;
}

void PlainCaches::give(std::size_t level, unsigned core, std::uint64_t line, unsigned changed) {
    if (level < levels_.size()) {
        place(level, instance_of(level, core), line, {changed, changed});
    } else {
        to_memory(changed);
    }
}

void PlainCaches::read_memory(Cause cause, unsigned stream) {
    std::uint64_t CacheCounts::* const bytes[] = {
        &CacheCounts::load_read_bytes, &CacheCounts::allocate_read_bytes,
        &CacheCounts::software_prefetch_read_bytes, &CacheCounts::hardware_prefetch_read_bytes};
    counts_.*bytes[static_cast<std::size_t>(cause)] += machine_.sector_bytes;
    counts_.stream_read_bytes[stream] += machine_.sector_bytes;
}

void PlainCaches::load(unsigned core, std::uint64_t sector, std::size_t first, Cause cause,
                       unsigned stream) {
    const std::uint64_t line = line_of(sector);
    if (!holds(0, core, sector)) {
        clean_others(core, line);
    }
    const bool counted = cause != Cause::hardware_prefetch;
    std::size_t hit = first;
    for (; hit < levels_.size() && !holds(hit, core, sector); ++hit) {
        counts_.levels[hit].misses += counted ? 1 : 0;
    }
    Marks moves{bit_of(sector), 0};
    if (hit == levels_.size()) {
        read_memory(cause, stream);
    } else {
        counts_.levels[hit].hits += counted ? 1 : 0;
        PlainSet& set = set_of(hit, instance_of(hit, core), line);
        if (hit != first && levels_[hit].inclusion == Inclusion::exclusive) {
            moves = set.take(line);
        } else {
            set.touch(line);
        }
    }
    for (std::size_t level = hit; level-- > first;) {
        if (levels_[level].inclusion != Inclusion::exclusive) {
            place(level, instance_of(level, core), line, moves);
            moves = {bit_of(sector), 0};
        }
    }
}

void PlainCaches::take_from_others(unsigned core, std::uint64_t line) {
    for (unsigned other = 0; other < machine_.cores; ++other) {
        const std::size_t shared = first_shared(core, other);
        unsigned changed = 0;
        for (std::size_t level = 0; level < shared; ++level) {
            PlainSet& set = set_of(level, instance_of(level, other), line);
            if (set.find(line) != nullptr) {
                changed |= set.take(line).changed;
            }
        }
        if (changed != 0) {
            give(shared, core, line, changed);
        }
    }
}

void PlainCaches::clean_others(unsigned core, std::uint64_t line) {
    for (unsigned other = 0; other < machine_.cores; ++other) {
        const std::size_t shared = first_shared(core, other);
        unsigned changed = 0;
        for (std::size_t level = 0; level < shared; ++level) {
            if (PlainLine* there = set_of(level, instance_of(level, other), line).find(line)) {
                changed |= std::exchange(there->marks.changed, 0);
            }
        }
        if (changed != 0) {
            give(shared, core, line, changed);
        }
    }
}

void PlainCaches::prefetch(unsigned core, std::uint64_t sector, unsigned stream) {
    if (holds(0, core, sector)) {
        return;
    }
    const bool second = levels_.size() > 1 && levels_[1].inclusion != Inclusion::exclusive;
    load(core, sector, second ? 1 : 0, Cause::hardware_prefetch, stream);
}

void PlainCaches::follow_steps(PlainCore& core, const CacheAccess& access) {
    auto& stream = core.streams[access.stream];
    if (stream.last) {
        const auto step = static_cast<std::int64_t>(access.address - *stream.last);
        stream.equal_steps =
            stream.equal_steps > 0 && step == stream.step ? stream.equal_steps + 1 : 1;
        stream.step = step;
        const auto length = static_cast<std::uint64_t>(step < 0 ? -step : step);
        const unsigned needed = machine_.store_streams.strided;
        if (needed > 0 && length >= machine_.line_bytes && stream.equal_steps >= needed) {
            core.strided_at = core.clock;
        }
    }
    stream.last = access.address;
}

PlainCore::StoreStream& PlainCaches::store_stream(PlainCore& core, const CacheAccess& access) {
    const StoreStreams& rule = machine_.store_streams;
    PlainCore::StoreStream* found = nullptr;
    for (auto& one : core.stores) {
        const bool goes_on =
            one.end == access.address && core.clock - one.continued - 1 <= rule.gap;
        if (goes_on && (found == nullptr || one.continued > found->continued)) {
            found = &one;
        }
    }
    if (found == nullptr) {
        if (core.stores.size() < rule.streams) {
            core.stores.emplace_back();
            found = &core.stores.back();
        } else {
            found = &*std::ranges::min_element(core.stores, {}, &PlainCore::StoreStream::continued);
        }
        *found = {access.address, 0, 0, std::nullopt};
    }
    found->end = access.address + access.bytes;
    found->continued = core.clock;
    return *found;
}

bool PlainCaches::is_to_bypass(const PlainCore& core, const PlainCore::StoreStream& stream,
                               std::uint64_t sector) const {
    const StoreStreams& rule = machine_.store_streams;
    if (core.strided_at && core.clock - *core.strided_at <= rule.window) {
        return false;
    }
    const std::uint64_t line_bytes = machine_.line_bytes;
    const std::uint64_t border = (stream.begin + line_bytes - 1) / line_bytes * line_bytes;
    return line_of(sector) * line_bytes >= border + rule.lines * line_bytes;
}

bool PlainCaches::bypassed(unsigned core, std::uint64_t sector, PlainCore::StoreStream& stream) {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
        if (holds(level, core, sector)) {
            return false;
        }
    }
    for (LevelCounts& level : counts_.levels) {
        ++level.misses;
    }
    counts_.bypass_write_bytes += machine_.sector_bytes;
    stream.last_bypassed = sector;
    return true;
}

void PlainCaches::piece(unsigned core, const CacheAccess& access, const Piece& piece,
                        PlainCore::StoreStream* stream) {
    const std::uint64_t line = line_of(piece.sector);
    const bool bypass = stream != nullptr && is_to_bypass(cores_[core], *stream, piece.sector);
    if (access.kind == AccessKind::store) {
        ++counts_.stores;
        if (bypass && stream->last_bypassed == piece.sector) {
            return;
        }
        take_from_others(core, line);
        if (bypass && bypassed(core, piece.sector, *stream)) {
            return;
        }
    } else {
        ++(access.kind == AccessKind::load ? counts_.loads : counts_.store_prefetches);
    }
    const bool missed = !holds(0, core, piece.sector);
    const Cause cause = access.kind == AccessKind::load    ? Cause::load
                        : access.kind == AccessKind::store ? Cause::allocate
                                                           : Cause::software_prefetch;
    load(core, piece.sector, 0, cause, access.stream);
    if (access.kind == AccessKind::store) {
        set_of(0, instance_of(0, core), line).find(line)->marks.changed |= bit_of(piece.sector);
    }
    if (missed && machine_.prefetchers.next_line) {
        prefetch_next_line(core, piece, access.stream);
    }
}

void PlainCaches::prefetch_next_line(unsigned core, const Piece& piece, unsigned stream) {
    const std::uint64_t begin = (line_of(piece.sector) + 1) * machine_.line_bytes;
    if (begin / prefetch_page != piece.address / prefetch_page) {
        return;
    }
    for (const Piece& next : pieces(begin, machine_.line_bytes)) {
        prefetch(core, next.sector, stream);
    }
}

void PlainCaches::prefetch_stride(unsigned core, const CacheAccess& access) {
    const auto& stream = cores_[core].streams[access.stream];
    if (!machine_.prefetchers.stride || stream.step == 0 || stream.equal_steps < 3) {
        return;
    }
    const Wide begin = static_cast<Wide>(access.address) +
                       static_cast<Wide>(stream.step) * machine_.prefetchers.stride_ahead;
    const Wide end = begin + access.bytes;
    if (end <= 0 || end > static_cast<Wide>(std::numeric_limits<std::int64_t>::max())) {
        return;
    }
    const Wide from = std::max<Wide>(begin, 0);
    for (const Piece& one :
         pieces(static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(end - from))) {
        if (one.address / prefetch_page == access.address / prefetch_page) {
            prefetch(core, one.sector, access.stream);
        }
    }
}

void PlainCaches::access(unsigned core, const CacheAccess& access) {
    PlainCore& kept = cores_[core];
    ++kept.clock;
    PlainCore::StoreStream* stream = nullptr;
    if (access.kind != AccessKind::store_prefetch) {
        follow_steps(kept, access);
    }
    if (access.kind == AccessKind::store && machine_.store_streams.lines > 0) {
        stream = &store_stream(kept, access);
    }
    for (const Piece& one : pieces(access.address, access.bytes)) {
        piece(core, access, one, stream);
    }
    if (access.kind != AccessKind::store_prefetch) {
        prefetch_stride(core, access);
    }
}

void PlainCaches::walk(unsigned core, std::span<const StridedAccess> references,
                       std::span<const std::int64_t> outer_strides, std::uint64_t outer,
                       std::uint64_t count, std::span<const StridedAccess> after) {
    for (std::uint64_t round = 0; round < outer; ++round) {
        const auto rounds = static_cast<std::int64_t>(round);
        for (std::uint64_t step = 0; step < count; ++step) {
            for (std::size_t index = 0; index < references.size(); ++index) {
                CacheAccess one = references[index].first;
                one.address = sum(one.address,
                                  rounds * outer_strides[index] +
                                      static_cast<std::int64_t>(step) * references[index].stride);
                access(core, one);
            }
        }
        for (const StridedAccess& last : after) {
            CacheAccess one = last.first;
            one.address = sum(one.address, rounds * last.stride);
            access(core, one);
        }
    }
}

void PlainCaches::write_back_all() {
    std::unordered_map<std::uint64_t, unsigned> changed;
    for (auto& level : contents_) {
        for (Instance& instance : level) {
            for (auto& [index, set] : instance) {
                for (PlainLine* line : set.lines()) {
                    changed[line->line] |= std::exchange(line->marks.changed, 0U);
                }
            }
        }
    }
    for (const auto& [line, sectors] : changed) {
        to_memory(sectors);
    }
}

void PlainCaches::reset_counts() {
    counts_ = {};
    counts_.levels.resize(levels_.size());
    counts_.stream_read_bytes.resize(most_streams);
}

}  // namespace memgauge::test
