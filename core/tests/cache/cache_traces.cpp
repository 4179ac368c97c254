#include "cache/cache_traces.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <numeric>
#include <random>
#include <span>
#include <sstream>

namespace memgauge::test {

namespace {

class Dice {
public:
    explicit Dice(const Draw& draw) : draw_{draw} {}

    // From least to most, both included.
    template <typename Number>
    Number of(Number least, Number most) {
        const auto width = static_cast<std::uint64_t>(most - least) + 1;
        return static_cast<Number>(least + static_cast<Number>(draw_(width)));
    }
    bool one_in(unsigned many) { return draw_(many) == 0; }
    std::uint64_t below(std::uint64_t end) { return draw_(end); }
    template <typename Value>
    Value among(std::initializer_list<Value> values) {
        return *(values.begin() + of<std::ptrdiff_t>(0, std::ssize(values) - 1));
    }

private:
    const Draw& draw_;
};

unsigned power_of_two(Dice& dice, unsigned most_exponent) {
    return 1U << dice.of(0U, most_exponent);
}

void give_shape(Dice& dice, CacheLevel& level, std::size_t line_bytes, std::size_t parts) {
    const std::size_t sets = parts * dice.of<std::size_t>(1, 7);
    if (dice.one_in(4)) {
        level.replacement = Replacement::tree_plru;
        level.ways = power_of_two(dice, 4);
    } else {
        level.ways = dice.of<std::size_t>(1, dice.one_in(2) ? 3 : 16);
    }
    level.bytes = sets * level.ways * line_bytes;
    if (dice.one_in(8) && level.replacement == Replacement::lru && parts == 1) {
        level.ways = 0;
        level.bytes = dice.of<std::size_t>(1, 24) * line_bytes;
    }
}

// Instances nest: each level is shared by a multiple of the cores of the one in front, or by all.
unsigned wider(Dice& dice, unsigned cores) {
    return cores == 0 || dice.one_in(3) ? 0 : cores * dice.among({1U, 1U, 2U, 3U});
}

CacheMachine random_machine(Dice& dice, unsigned parts) {
    CacheMachine machine;
    machine.name = "random";
    machine.line_bytes = std::size_t{8} << dice.of(0U, 4U);
    machine.sector_bytes = machine.line_bytes >> (dice.one_in(2) ? dice.of(0U, 3U) : 0U);
    machine.cores = dice.one_in(3) ? dice.of(2U, 4U) : 1;
    machine.idle_cores = dice.one_in(3) ? dice.of(0U, 6U) : 0;
    const unsigned levels = dice.of(1U, 4U);
    unsigned cores = dice.one_in(8) ? 0 : dice.among({1U, 1U, 1U, 2U});
    for (unsigned index = 0; index < levels; ++index) {
        CacheLevel level;
        level.name = std::string{"L"} + std::to_string(index + 1);
        level.cores = cores;
        give_shape(dice, level, machine.line_bytes, parts);
        if (index > 0) {
            level.inclusion =
                dice.among({Inclusion::non_inclusive, Inclusion::inclusive, Inclusion::exclusive});
        }
        level.borrows_idle = cores != 0 && level.ways != 0 && dice.one_in(4);
        // What is borrowed is shared by all, and so is all behind it.
        cores = level.borrows_idle ? 0 : wider(dice, cores);
        machine.levels.push_back(level);
    }
    if (dice.one_in(2)) {
        machine.store_streams = {dice.of(1U, 3U), dice.of(1U, 5U), dice.of(0U, 6U), dice.of(0U, 4U),
                                 dice.of(0U, 12U)};
    }
    machine.prefetchers = {parts == 1 && dice.one_in(4), dice.one_in(4),
                           dice.one_in(16) ? ~0U : dice.of(1U, 6U)};
    return machine;
}

// Where accesses go: a few lines more than fit, near a border of 4 KiB or far from one, or at
// either end of the addresses.
struct Ground {
    std::uint64_t begin;
    std::uint64_t bytes;
};

constexpr std::uint64_t address_end = std::uint64_t{1} << 48U;

// Far from the other ground where there is room.
std::uint64_t far_from(const Ground& ground) {
    return ground.begin == 0 || ground.begin > address_end / 2 ? 0 : std::uint64_t{1} << 24U;
}

CacheAccess random_access(Dice& dice, const Ground& ground) {
    CacheAccess access;
    access.address = ground.begin + dice.of<std::uint64_t>(0, ground.bytes - 1);
    access.bytes = dice.among({1U, 4U, 8U, 8U, 16U, 64U, 100U});
    if (!dice.one_in(3)) {
        access.address = access.address / 8 * 8;
    }
    access.kind = dice.among({AccessKind::load, AccessKind::load, AccessKind::load,
                              AccessKind::store, AccessKind::store, AccessKind::store_prefetch});
    access.stream = dice.of<std::uint8_t>(0, 3);
    return access;
}

std::vector<CacheAccess> random_accesses(Dice& dice, const Ground& ground) {
    std::vector<CacheAccess> accesses;
    const unsigned count = dice.of(1U, 24U);
    while (accesses.size() < count) {
        accesses.push_back(random_access(dice, ground));
    }
    return accesses;
}

StridedAccess random_reference(Dice& dice, const Ground& ground, std::uint8_t stream) {
    StridedAccess reference;
    reference.first = random_access(dice, ground);
    reference.first.stream = stream;
    const auto bytes = static_cast<std::int64_t>(reference.first.bytes);
    reference.stride = dice.among({bytes, bytes, bytes, -bytes, std::int64_t{0}, std::int64_t{24},
                                   std::int64_t{128}, std::int64_t{-72}, std::int64_t{512}});
    return reference;
}

Deed random_walk(Dice& dice, const Ground& ground, unsigned core) {
    Deed walk;
    walk.what = Deed::What::walk;
    walk.core = core;
    const auto references = dice.of<std::uint8_t>(1, 4);
    for (std::uint8_t index = 0; index < references; ++index) {
        walk.references.push_back(random_reference(dice, ground, index));
        walk.outer_strides.push_back(
            dice.among({std::int64_t{0}, std::int64_t{8}, std::int64_t{256}, std::int64_t{-40}}));
    }
    walk.count = dice.of<std::uint64_t>(0, 20);
    walk.outer = dice.one_in(2) ? 1 : dice.of<std::uint64_t>(0, 4);
    if (dice.one_in(3)) {
        walk.after.push_back(random_reference(dice, ground, references));
    }
    return walk;
}

// Bytes after which addresses fall into the same set of a level again.
std::int64_t span_of(Dice& dice, const CacheMachine& machine) {
    const CacheLevel& level = machine.levels[dice.of<std::size_t>(0, machine.levels.size() - 1)];
    return static_cast<std::int64_t>(level.ways == 0 ? machine.line_bytes
                                                     : level.bytes / level.ways);
}

// A loop as kernels have it: long, all references at one pace, their bases often in conflict.
Deed long_walk(Dice& dice, const Ground& ground, const CacheMachine& machine, unsigned core) {
    Deed walk;
    walk.what = Deed::What::walk;
    walk.core = core;
    const std::int64_t span = span_of(dice, machine);
    const auto line = static_cast<std::int64_t>(machine.line_bytes);
    const std::int64_t pace =
        dice.among({std::int64_t{8}, std::int64_t{8}, std::int64_t{16}, std::int64_t{-8}, line,
                    span, std::int64_t{0}, std::int64_t{24}});
    const auto references = dice.of<std::uint8_t>(1, 4);
    const std::uint64_t far = far_from(ground);
    for (std::uint8_t index = 0; index < references; ++index) {
        StridedAccess one;
        one.first = random_access(dice, ground);
        one.first.address = far + (one.first.address & ~std::uint64_t{7});
        if (dice.one_in(2)) {
            one.first.address = far + ground.begin / 64 * 64 +
                                dice.of<std::uint64_t>(0, 5) * static_cast<std::uint64_t>(span);
        }
        one.first.bytes = dice.among({8U, 8U, 8U, 16U, 4U});
        one.first.stream = index;
        one.stride = dice.one_in(5) ? dice.among({std::int64_t{0}, line, span}) : pace;
        walk.references.push_back(one);
        walk.outer_strides.push_back(
            dice.among({std::int64_t{0}, std::int64_t{8}, span, -line, std::int64_t{4096}}));
    }
    walk.count = dice.of<std::uint64_t>(50, 700);
    walk.outer = dice.one_in(2) ? 1 : dice.of<std::uint64_t>(2, 4);
    if (dice.one_in(4)) {
        walk.after.push_back(random_reference(dice, ground, references));
    }
    return walk;
}

MovingMemory memory_of(const Deed& deed, const StridedAccess& one, std::int64_t shift,
                       std::initializer_list<std::int64_t> ways) {
    auto least = static_cast<std::int64_t>(one.first.address);
    std::int64_t most = least + one.first.bytes;
    const auto reach = [&](std::int64_t way) {
        least += std::min<std::int64_t>(way, 0);
        most += std::max<std::int64_t>(way, 0);
    };
    for (const std::int64_t way : ways) reach(way);
    reach(static_cast<std::int64_t>(deed.periods - 1) * shift);
    return {static_cast<std::uint64_t>(least), static_cast<std::uint64_t>(most - least), shift,
            one.first.stream, one.first.kind == AccessKind::store};
}

std::vector<MovingMemory> memories_of(const Deed& deed) {
    const auto count = static_cast<std::int64_t>(deed.count) - 1;
    const auto outer = static_cast<std::int64_t>(deed.outer) - 1;
    std::vector<MovingMemory> memories;
    for (std::size_t r = 0; r < deed.references.size(); ++r) {
        const StridedAccess& one = deed.references[r];
        memories.push_back(memory_of(deed, one, deed.shifts[r],
                                     {count * one.stride, outer * deed.outer_strides[r]}));
    }
    for (std::size_t r = 0; r < deed.after.size(); ++r) {
        const StridedAccess& one = deed.after[r];
        const std::int64_t shift = deed.shifts[deed.references.size() + r];
        memories.push_back(memory_of(deed, one, shift, {outer * one.stride}));
    }
    return memories;
}

// Whether all accesses lie at addresses that there are.
bool lies_within(const CacheAccess& first, std::initializer_list<std::int64_t> ways) {
    std::int64_t least = static_cast<std::int64_t>(first.address);
    std::int64_t most = least + first.bytes;
    for (const std::int64_t way : ways) {
        least += std::min<std::int64_t>(way, 0);
        most += std::max<std::int64_t>(way, 0);
    }
    return least >= 0 && most <= static_cast<std::int64_t>(address_end);
}

bool is_possible(const Deed& deed) {
    const auto last = [](std::uint64_t count) {
        return static_cast<std::int64_t>(std::max<std::uint64_t>(count, 1) - 1);
    };
    for (std::size_t index = 0; index < deed.references.size(); ++index) {
        const StridedAccess& one = deed.references[index];
        if (!lies_within(one.first, {last(deed.count) * one.stride,
                                     last(deed.outer) * deed.outer_strides[index]})) {
            return false;
        }
    }
    return std::ranges::all_of(deed.accesses,
                               [](const CacheAccess& one) { return lies_within(one, {}); }) &&
           std::ranges::all_of(deed.after, [&](const StridedAccess& one) {
               return lies_within(one.first, {last(deed.outer) * one.stride});
           });
}

Deed any_deed(Dice& dice, const Ground& ground, const CacheMachine& machine) {
    Deed deed;
    deed.core = dice.of(0U, machine.cores - 1);
    if (dice.one_in(60)) {
        const std::uint64_t around = CacheModel{machine}.bytes_around_sets();
        return random_periods([&](std::uint64_t below) { return dice.below(below); }, around, 12);
    }
    if (dice.one_in(60)) {
        return long_walk(dice, ground, machine, deed.core);
    }
    if (dice.one_in(12)) {
        deed.what = dice.among({Deed::What::write_back_all, Deed::What::reset_counts});
        return deed;
    }
    if (dice.one_in(2)) {
        return random_walk(dice, ground, deed.core);
    }
    deed.accesses = random_accesses(dice, ground);
    return deed;
}

Deed random_deed(Dice& dice, const Ground& ground, const CacheMachine& machine) {
    Deed deed = any_deed(dice, ground, machine);
    while (!is_possible(deed)) {
        deed = any_deed(dice, ground, machine);
    }
    return deed;
}

const char* name_of(AccessKind kind) {
    constexpr std::array names = {"load", "store", "store_prefetch"};
    return names[static_cast<std::size_t>(kind)];
}

std::ostream& operator<<(std::ostream& out, const CacheAccess& access) {
    return out << name_of(access.kind) << ' ' << access.address << '+' << access.bytes << " stream "
               << unsigned{access.stream};
}

void write(std::ostream& out, const CacheMachine& machine) {
    constexpr std::array inclusions = {"non-inclusive", "inclusive", "exclusive"};
    out << "line " << machine.line_bytes << " sector " << machine.sector_bytes << " cores "
        << machine.cores << " idle " << machine.idle_cores << '\n';
    for (const CacheLevel& level : machine.levels) {
        out << "  " << level.name << ' ' << level.bytes << " bytes, " << level.ways << " ways, "
            << level.cores << " cores, "
            << (level.replacement == Replacement::lru ? "lru" : "tree_plru") << ", "
            << inclusions[static_cast<std::size_t>(level.inclusion)]
            << (level.borrows_idle ? ", borrows\n" : "\n");
    }
    const StoreStreams& stores = machine.store_streams;
    out << "  stores: lines " << stores.lines << " streams " << stores.streams << " gap "
        << stores.gap << " strided " << stores.strided << " window " << stores.window << '\n';
    out << "  prefetch: next_line " << machine.prefetchers.next_line << " stride "
        << machine.prefetchers.stride << " ahead " << machine.prefetchers.stride_ahead << '\n';
}

void write(std::ostream& out, const std::vector<StridedAccess>& references) {
    for (const StridedAccess& one : references) {
        out << "    " << one.first << " stride " << one.stride << '\n';
    }
}

void write(std::ostream& out, const Deed& deed) {
    switch (deed.what) {
        case Deed::What::write_back_all:
            out << "write_back_all\n";
            return;
        case Deed::What::reset_counts:
            out << "reset_counts\n";
            return;
        case Deed::What::access:
            out << "core " << deed.core << '\n';
            for (const CacheAccess& access : deed.accesses) {
                out << "    " << access << '\n';
            }
            return;
        case Deed::What::periods:
            out << deed.periods << " periods, shifts";
            for (const std::int64_t shift : deed.shifts) {
                out << ' ' << shift;
            }
            out << ": ";
            [[fallthrough]];
        case Deed::What::walk:
            out << "core " << deed.core << " walk " << deed.outer << " x " << deed.count
                << " outer strides";
            for (const std::int64_t stride : deed.outer_strides) {
                out << ' ' << stride;
            }
            out << '\n';
            write(out, deed.references);
            out << "   after\n";
            write(out, deed.after);
    }
}

}  // namespace

Deed random_periods(const Draw& draw, std::uint64_t around, std::uint64_t most_periods) {
    Dice dice{draw};
    Deed deed;
    deed.what = Deed::What::periods;
    deed.count = dice.of<std::uint64_t>(1, 40);
    deed.outer = dice.of<std::uint64_t>(1, 4);
    deed.periods = dice.of<std::uint64_t>(1, most_periods);
    const auto lines = static_cast<std::int64_t>(around == 0 ? 4096 : around);
    const std::int64_t of_stores = lines * dice.of(0, 2);
    const auto add = [&](std::uint8_t stream) {
        constexpr std::uint64_t begin = 1U << 28U, apart = 1U << 26U;
        StridedAccess one;
        one.first.address = begin + stream * apart + dice.below(2000) * 8;
        one.first.bytes = dice.among({8U, 8U, 8U, 4U, 16U});
        one.first.kind = dice.among(
            {AccessKind::load, AccessKind::load, AccessKind::store, AccessKind::store_prefetch});
        one.first.stream = stream;
        if (dice.one_in(12)) one.first.address += 3;
        one.stride = dice.among({std::int64_t{8}, std::int64_t{8}, std::int64_t{-8},
                                 std::int64_t{128}, std::int64_t{24}, std::int64_t{0}, lines});
        const bool stored = one.first.kind == AccessKind::store && !dice.one_in(8);
        deed.shifts.push_back(stored ? of_stores : lines * dice.of(-1, 2));
        return one;
    };
    const auto references = dice.of<std::uint8_t>(1, 4);
    for (std::uint8_t r = 0; r < references; ++r) {
        deed.references.push_back(add(r));
        deed.outer_strides.push_back(dice.among(
            {std::int64_t{0}, std::int64_t{8}, std::int64_t{-64}, std::int64_t{320}, lines}));
    }
    if (dice.one_in(2)) deed.after.push_back(add(references));
    // Seldom what is not so.
    if (dice.one_in(10)) deed.shifts.front() += dice.among({8, 64, 1024});
    return deed;
}

Deed walk_of(const Deed& deed, std::uint64_t period) {
    Deed walk = deed;
    const auto move = [&](std::vector<StridedAccess>& all, std::size_t first) {
        for (std::size_t r = 0; r < all.size(); ++r) {
            all[r].first.address += period * static_cast<std::uint64_t>(deed.shifts[first + r]);
        }
    };
    move(walk.references, 0);
    move(walk.after, walk.references.size());
    return walk;
}

std::uint64_t carry_out_periods(CacheModel& model, const Deed& deed) {
    const std::vector<MovingMemory> memories = memories_of(deed);
    for (std::uint64_t i = 0; i < deed.periods; ++i) {
        const Deed walk = walk_of(deed, i);
        model.walk(walk.core, walk.references, walk.outer_strides, walk.outer, walk.count,
                   walk.after);
        const std::uint64_t left = deed.periods - 1 - i;
        if (left > 0 && model.repeat(memories, left)) return left;
        model.mark();
    }
    return 0;
}

Trace random_trace(std::uint64_t seed) {
    std::mt19937_64 engine{seed};
    Trace trace = drawn_trace([&engine](std::uint64_t below) { return engine() % below; });
    trace.seed = seed;
    return trace;
}

Trace drawn_trace(const Draw& draw) {
    Dice dice{draw};
    Trace trace;
    trace.threads = dice.one_in(16) ? dice.of(2U, 4U) : 1;
    trace.machine = random_machine(dice, trace.threads);
    const auto bytes = dice.among<std::uint64_t>({200, 1000, 4096, 20000});
    const Ground ground{
        dice.among<std::uint64_t>({0x10000, 0x3f80, 0x123456780, 0, address_end - bytes}), bytes};
    const unsigned deeds = dice.of(1U, 5U);
    while (trace.deeds.size() < deeds) {
        trace.deeds.push_back(random_deed(dice, ground, trace.machine));
    }
    Deed end;
    end.what = Deed::What::write_back_all;
    trace.deeds.push_back(end);
    return trace;
}

std::string difference(const Trace& trace) {
    CacheModel model{trace.machine, trace.threads};
    PlainCaches plain{trace.machine};
    for (const Deed& deed : trace.deeds) {
        carry_out(model, deed);
        carry_out(plain, deed);
        const std::string counted = text_of(model.counts());
        const std::string meant = text_of(plain.counts());
        if (counted != meant) {
            return std::string{"model:     "}.append(counted).append("\nreference: ").append(meant);
        }
    }
    return {};
}

std::string text_of(const Trace& trace) {
    std::ostringstream out;
    out << "seed " << trace.seed << ", " << trace.threads << " threads, ";
    write(out, trace.machine);
    for (const Deed& deed : trace.deeds) {
        write(out, deed);
    }
    return out.str();
}

std::string text_of(const CacheCounts& counts) {
    std::ostringstream out;
    out << "pieces " << counts.loads << ' ' << counts.stores << ' ' << counts.store_prefetches
        << " read " << counts.load_read_bytes << ' ' << counts.allocate_read_bytes << ' '
        << counts.software_prefetch_read_bytes << ' ' << counts.hardware_prefetch_read_bytes
        << " by stream";
    for (const auto bytes : counts.stream_read_bytes) {
        out << ' ' << bytes;
    }
    out << " written " << counts.write_back_bytes << ' ' << counts.bypass_write_bytes << " levels";
    for (const auto& level : counts.levels) {
        out << ' ' << level.hits << '/' << level.misses << '/' << level.write_backs;
    }
    return out.str();
}

void carry_out(CacheModel& model, const Deed& deed) {
    switch (deed.what) {
        case Deed::What::access:
            return model.access(deed.core, deed.accesses);
        case Deed::What::walk:
            return model.walk(deed.core, deed.references, deed.outer_strides, deed.outer,
                              deed.count, deed.after);
        case Deed::What::periods:
            carry_out_periods(model, deed);
            return;
        case Deed::What::write_back_all:
            return model.write_back_all();
        case Deed::What::reset_counts:
            return model.reset_counts();
    }
}

void carry_out(PlainCaches& plain, const Deed& deed) {
    switch (deed.what) {
        case Deed::What::access:
            for (const CacheAccess& access : deed.accesses) {
                plain.access(deed.core, access);
            }
            return;
        case Deed::What::walk:
            return plain.walk(deed.core, deed.references, deed.outer_strides, deed.outer,
                              deed.count, deed.after);
        case Deed::What::periods:
            for (std::uint64_t i = 0; i < deed.periods; ++i) {
                const Deed walk = walk_of(deed, i);
                plain.walk(walk.core, walk.references, walk.outer_strides, walk.outer, walk.count,
                           walk.after);
            }
            return;
        case Deed::What::write_back_all:
            return plain.write_back_all();
        case Deed::What::reset_counts:
            return plain.reset_counts();
    }
}

}  // namespace memgauge::test
