#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "cache/engine.hpp"
#include "cache/levels/geometry.hpp"
#include "cache/loops/moves.hpp"
#include "cache/workers.hpp"
#include "memgauge/cache_model.hpp"

namespace memgauge {
namespace {

__extension__ using Wide = __int128;

constexpr std::uint64_t address_end = 1ull << cache::address_bits;

[[noreturn]] void refuse(const CacheMachine& machine, const std::string& why) {
    throw RequestError("cache model of " + machine.name + ": " + why);
}

void check_access(const CacheMachine& machine, const CacheAccess& access) {
    if (access.stream >= most_streams) {
        refuse(machine, "access stream " + std::to_string(access.stream) + "; give 0 to " +
                            std::to_string(most_streams - 1));
    }
    if (access.bytes == 0) refuse(machine, "an access of 0 bytes; give at least 1");
    if (access.address >= address_end || address_end - access.address < access.bytes) {
        refuse(machine, "an access at " + std::to_string(access.address) +
                            " ends beyond 2^48; give a smaller address");
    }
}

void check_accesses(const CacheMachine& machine, std::span<const CacheAccess> accesses) {
    bool good = true;
    for (const CacheAccess& access : accesses) {
        const std::uint64_t last = access.address + access.bytes - 1;
        good &= access.stream < most_streams && access.bytes != 0 &&
                (access.address | last) < address_end;
    }
    if (good) return;
    for (const CacheAccess& access : accesses) check_access(machine, access);
}

// Address after `steps` of `stride`, or what check_access refuses.
std::uint64_t moved(std::uint64_t address, std::int64_t stride, std::uint64_t steps) {
    const auto to =
        static_cast<Wide>(address) + static_cast<Wide>(stride) * static_cast<Wide>(steps);
    return to < 0 || to >= Wide{address_end} ? address_end : static_cast<std::uint64_t>(to);
}

// Strides are monotonous: the first and the last step bound all between.
void check_steps(const CacheMachine& machine, CacheAccess access, std::int64_t stride,
                 std::uint64_t steps) {
    check_access(machine, access);
    access.address = moved(access.address, stride, steps);
    if (access.address >= address_end) {
        refuse(machine, "a loop goes below address 0 or beyond 2^48; give other strides");
    }
    check_access(machine, access);
}

void check_nest(const CacheMachine& machine, const cache::Nest& nest) {
    if (!nest.outer_strides.empty() && nest.outer_strides.size() != nest.references.size()) {
        refuse(machine, std::to_string(nest.outer_strides.size()) + " outer strides for " +
                            std::to_string(nest.references.size()) +
                            " references; give one for each");
    }
    if (nest.outer == 0) return;
    for (std::size_t r = 0; r < nest.references.size() && nest.count != 0; ++r) {
        const StridedAccess& reference = nest.references[r];
        const std::int64_t stride = nest.outer_strides.empty() ? 0 : nest.outer_strides[r];
        CacheAccess last = reference.first;
        check_steps(machine, last, stride, nest.outer - 1);
        last.address = moved(last.address, stride, nest.outer - 1);
        check_steps(machine, reference.first, reference.stride, nest.count - 1);
        check_steps(machine, last, reference.stride, nest.count - 1);
    }
    for (const StridedAccess& reference : nest.after) {
        check_steps(machine, reference.first, reference.stride, nest.outer - 1);
    }
}

}  // namespace

std::uint64_t CacheCounts::read_bytes() const noexcept {
    return load_read_bytes + allocate_read_bytes + software_prefetch_read_bytes +
           hardware_prefetch_read_bytes;
}

std::uint64_t CacheCounts::write_bytes() const noexcept {
    return write_back_bytes + bypass_write_bytes;
}

struct CacheModel::State {
    CacheMachine machine;
    std::vector<CacheLevel> levels;
    cache::Parts parts;

    State(CacheMachine of, unsigned threads)
        : machine(std::move(of)),
          levels(cache::simulated_levels(machine)),
          parts(engines(machine, levels, threads)) {}

    static std::vector<std::unique_ptr<cache::Engine>> engines(
        const CacheMachine& machine, const std::vector<CacheLevel>& levels, unsigned threads) {
        cache::check_parts(machine, levels, threads);
        std::vector<std::unique_ptr<cache::Engine>> made;
        made.reserve(threads);
        for (unsigned i = 0; i < threads; ++i) {
            made.push_back(cache::make_engine(machine, levels, {.index = i, .count = threads}));
        }
        return made;
    }

    void check_core(unsigned core) const {
        if (core >= machine.cores) {
            refuse(machine, "core " + std::to_string(core) + " of " +
                                std::to_string(machine.cores) + "; give a smaller number");
        }
    }
};

// What a thread that comes later works on.
struct OwnNest {
    std::vector<StridedAccess> references;
    std::vector<std::int64_t> outer_strides;
    std::vector<StridedAccess> after;

    explicit OwnNest(const cache::Nest& nest)
        : references(nest.references.begin(), nest.references.end()),
          outer_strides(nest.outer_strides.begin(), nest.outer_strides.end()),
          after(nest.after.begin(), nest.after.end()) {}
};

CacheModel::CacheModel(CacheMachine machine, unsigned threads)
    : state_(std::make_unique<State>(std::move(machine), threads)) {}
CacheModel::~CacheModel() = default;
CacheModel::CacheModel(CacheModel&&) noexcept = default;
CacheModel& CacheModel::operator=(CacheModel&&) noexcept = default;

const CacheMachine& CacheModel::machine() const noexcept {
    return state_->machine;
}

const std::vector<CacheLevel>& CacheModel::levels() const noexcept {
    return state_->levels;
}

void CacheModel::access(unsigned core, std::span<const CacheAccess> accesses) {
    state_->check_core(core);
    check_accesses(state_->machine, accesses);
    if (state_->parts.is_alone()) {
        state_->parts.each([&](cache::Engine& part) { part.access(core, accesses); });
        return;
    }
    std::vector<CacheAccess> own(accesses.begin(), accesses.end());
    state_->parts.each(
        [core, own = std::move(own)](cache::Engine& part) { part.access(core, own); });
}

void CacheModel::walk(unsigned core, std::span<const StridedAccess> references,
                      std::uint64_t count) {
    walk(core, references, {}, 1, count);
}

void CacheModel::walk(unsigned core, std::span<const StridedAccess> references,
                      std::span<const std::int64_t> outer_strides, std::uint64_t outer,
                      std::uint64_t count, std::span<const StridedAccess> after) {
    const cache::Nest nest{references, outer_strides, outer, count, after};
    state_->check_core(core);
    check_nest(state_->machine, nest);
    if (state_->parts.is_alone()) {
        state_->parts.each([&](cache::Engine& part) { part.walk(core, nest); });
        return;
    }
    state_->parts.each([core, outer, count, own = OwnNest(nest)](cache::Engine& part) {
        part.walk(core, {own.references, own.outer_strides, outer, count, own.after});
    });
}

std::uint64_t CacheModel::bytes_around_sets() const {
    if (!cache::is_one_core_lru(state_->machine, state_->levels)) return 0;
    std::uint64_t sets = 1;
    for (const CacheLevel& level : state_->levels) {
        sets = std::lcm(sets, std::uint64_t{cache::sets_of(level, state_->machine)});
        if (sets >= address_end) return 0;
    }
    const std::uint64_t bytes = sets * state_->machine.line_bytes;
    return bytes < address_end ? bytes : 0;
}

bool CacheModel::mark() {
    bool all = true;
    for (cache::Engine* part : state_->parts.settled()) all &= part->mark();
    return all;
}

bool CacheModel::repeat(std::span<const MovingMemory> memories, std::uint64_t times) {
    const auto moves = cache::Moves::of(memories, state_->machine, bytes_around_sets());
    if (!moves) return false;
    const std::vector<cache::Engine*> parts = state_->parts.settled();
    const bool all = std::ranges::all_of(
        parts, [&](const cache::Engine* part) { return part->can_repeat(*moves, times); });
    if (!all) return false;
    for (cache::Engine* part : parts) part->repeat(*moves, times);
    return true;
}

void CacheModel::write_back_all() {
    for (cache::Engine* part : state_->parts.settled()) part->write_back_all();
}

CacheCounts CacheModel::counts() {
    CacheCounts counts;
    counts.levels.resize(state_->levels.size());
    counts.stream_read_bytes.resize(most_streams);
    for (cache::Engine* part : state_->parts.settled()) part->add_to(counts);
    return counts;
}

void CacheModel::reset_counts() {
    for (cache::Engine* part : state_->parts.settled()) part->reset_counts();
}

void CacheModel::clear() {
    for (cache::Engine* part : state_->parts.settled(true)) part->clear();
}

}  // namespace memgauge
