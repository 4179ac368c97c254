// Kinds and extents: names, what makes sense, arrays.

#include <algorithm>
#include <array>
#include <initializer_list>

#include "nests/description.hpp"

namespace memgauge {
namespace {

struct Extent {
    std::string_view name;
    std::size_t NestShape::* value;
};

constexpr Extent m{"m", &NestShape::m};
constexpr Extent n{"n", &NestShape::n};
constexpr Extent cap{"cap", &NestShape::cap};
constexpr Extent stride{"stride", &NestShape::stride};
constexpr Extent planes{"planes", &NestShape::planes};
constexpr Extent rows{"rows", &NestShape::rows};
constexpr Extent cols{"cols", &NestShape::cols};
constexpr Extent x{"x", &NestShape::x};
constexpr Extent y{"y", &NestShape::y};
constexpr Extent tile{"tile", &NestShape::tile};
constexpr std::array<Extent, 10> all_extents{m, n, cap, stride, planes, rows, cols, x, y, tile};

// Operands: what is read, then what is written; the extents that must be given, and one that may.
struct Kind {
    std::string_view name;
    std::array<std::string_view, nests::most_references> arrays;
    std::array<const Extent*, 4> extents;
    const Extent* optional = nullptr;
};

constexpr std::array<Kind, 16> kinds{{
    {"gemv", {"A", "x", "y"}, {&m, &n}, &cap},
    {"gemm", {"A", "B", "C"}, {&n}},
    {"copy", {"a", "c"}, {&n}},
    {"scale", {"c", "b"}, {&n}},
    {"add", {"a", "b", "c"}, {&n}},
    {"triad", {"b", "c", "a"}, {&n}},
    {"strided-copy", {"a", "b"}, {&n, &stride}},
    {"transpose", {"a", "b"}, {&m, &n}, &tile},
    {"s1cf-first", {"in", "tmp"}, {&planes, &rows, &cols}},
    {"s1cf-second", {"tmp", "out"}, {&planes, &rows, &cols}},
    {"s1cf", {"in", "out"}, {&planes, &rows, &cols}, &tile},
    {"s1pf-first", {"in", "tmp"}, {&planes, &rows, &cols}},
    {"s1pf-second", {"tmp", "out"}, {&planes, &rows, &cols}},
    {"s1pf", {"in", "out"}, {&planes, &rows, &cols}, &tile},
    {"s2cf", {"in", "out"}, {&y, &planes, &x, &rows}},
    {"s2pf", {"in", "out"}, {&y, &cols, &x, &rows}},
}};

const Kind& kind_of(const NestSpec& spec) noexcept {
    return kinds[static_cast<std::size_t>(spec.kind)];
}

constexpr std::size_t most_bytes = std::size_t{1} << 48;
// What counts in 64 bits still, some times over; a processor needs years for as many.
constexpr double most_trips = 0x1p58;

std::string needs_of(const Kind& kind) {
    std::string list;
    for (const Extent* extent : kind.extents) {
        if (extent == nullptr) break;
        list.append(list.empty() ? "" : ", ").append(extent->name);
    }
    return list;
}

void check_extents(const NestSpec& spec) {
    const Kind& kind = kind_of(spec);
    for (const Extent& extent : all_extents) {
        const bool needed = std::ranges::any_of(kind.extents, [&](const Extent* one) {
            return one != nullptr && one->value == extent.value;
        });
        const bool taken =
            needed || (kind.optional != nullptr && kind.optional->value == extent.value);
        const std::size_t given = spec.shape.*extent.value;
        if ((needed && given == 0) || (!taken && given != 0)) {
            throw RequestError("loop nest " + std::string(kind.name) + ": " +
                               std::string(extent.name) + " of " + std::to_string(given) +
                               (needed ? " is nothing to do" : " is no extent of it") + "; give " +
                               needs_of(kind) + ", each at least 1");
        }
    }
}

void check_trips(const NestSpec& spec) {
    double trips = 1.0;
    for (const Extent* extent : kind_of(spec).extents) {
        if (extent != nullptr) trips *= static_cast<double>(spec.shape.*extent->value);
    }
    if (spec.kind == NestKind::gemm) trips *= trips * trips;
    if (trips <= most_trips) return;
    throw RequestError("loop nest " + std::string(kind_of(spec).name) +
                       ": more than 2^58 trips never end; give smaller extents");
}

void check_prefetch(const NestSpec& spec) {
    const std::string name = "loop nest " + std::string(kind_of(spec).name);
    constexpr std::size_t most_lines = std::size_t{1} << 24;
    if (spec.prefetch_lines == 0 || spec.prefetch_lines > most_lines ||
        spec.prefetch_far_lines > most_lines) {
        throw RequestError(name + ": prefetch " + std::to_string(spec.prefetch_lines) + " and " +
                           std::to_string(spec.prefetch_far_lines) +
                           " lines ahead; give 1 to 2^24, and 0 for no far prefetch");
    }
    if (spec.prefetch_far_lines != 0 && spec.prefetch_far_lines <= spec.prefetch_lines) {
        throw RequestError(name + ": a far prefetch " + std::to_string(spec.prefetch_far_lines) +
                           " lines ahead is no farther than the near one, " +
                           std::to_string(spec.prefetch_lines) + "; give more, or 0");
    }
}

// Of extents; RequestError where more than most_bytes.
std::size_t product(const NestSpec& spec, std::size_t element_bytes,
                    std::initializer_list<std::size_t> extents) {
    std::size_t bytes = element_bytes;
    for (const std::size_t extent : extents) {
        if (bytes > 0 && extent > most_bytes / bytes) {
            throw RequestError("loop nest " + std::string(to_string(spec.kind)) +
                               ": an array of more than 2^48 bytes cannot be addressed; give "
                               "smaller extents");
        }
        bytes *= extent;
    }
    return bytes;
}

// In the order of the operands; 0 where there is none.
std::array<std::size_t, nests::most_references> bytes_of(const NestSpec& spec) {
    const NestShape& s = spec.shape;
    const auto reals = [&](auto... extents) { return product(spec, 8, {extents...}); };
    const auto complexes = [&](auto... extents) { return product(spec, 16, {extents...}); };
    switch (spec.kind) {
        case NestKind::gemv:
            return {reals(nests::rows_of_a(s), s.n), reals(s.n), reals(s.m)};
        case NestKind::gemm:
            return {reals(s.n, s.n), reals(s.n, s.n), reals(s.n, s.n)};
        case NestKind::copy:
        case NestKind::scale:
            return {reals(s.n), reals(s.n), 0};
        case NestKind::add:
        case NestKind::triad:
            return {reals(s.n), reals(s.n), reals(s.n)};
        case NestKind::strided_copy: {
            const std::size_t last = reals(s.n - 1, s.stride) + 8;
            return {last, last, 0};
        }
        case NestKind::transpose:
            return {reals(s.m, s.n), reals(s.m, s.n), 0};
        case NestKind::s2cf:
            return {complexes(s.y, s.planes, s.x, s.rows), complexes(s.y, s.planes, s.x, s.rows),
                    0};
        case NestKind::s2pf:
            return {complexes(s.y, s.cols, s.x, s.rows), complexes(s.y, s.cols, s.x, s.rows), 0};
        default:
            return {complexes(s.planes, s.rows, s.cols), complexes(s.planes, s.rows, s.cols), 0};
    }
}

}  // namespace

std::string_view to_string(NestKind kind) noexcept {
    const auto index = static_cast<std::size_t>(kind);
    return index < kinds.size() ? kinds[index].name : "?";
}

NestKind nest_kind_from_string(std::string_view name) {
    std::string choices;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (kinds[i].name == name) return static_cast<NestKind>(i);
        choices.append(i == 0 ? "" : ", ").append(kinds[i].name);
    }
    throw RequestError("unknown loop nest '" + std::string(name) + "'; choose among " + choices);
}

std::vector<NestKind> nest_kinds() {
    std::vector<NestKind> found;
    found.reserve(kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) found.push_back(static_cast<NestKind>(i));
    return found;
}

std::vector<NestArray> arrays_of(const NestSpec& spec) {
    check_extents(spec);
    check_trips(spec);
    check_prefetch(spec);
    const Kind& kind = kind_of(spec);
    const auto bytes = bytes_of(spec);
    const std::size_t element_bytes = spec.kind >= NestKind::s1cf_first ? 16 : 8;
    std::vector<NestArray> arrays;
    arrays.reserve(bytes.size());
    for (std::size_t i = 0; i < bytes.size() && !kind.arrays[i].empty(); ++i) {
        arrays.push_back({std::string(kind.arrays[i]), bytes[i], element_bytes, true, false});
    }
    arrays.back().read = false;
    arrays.back().written = true;
    return arrays;
}

std::uint64_t trips_of(const NestSpec& spec) {
    const nests::Nest nest = nests::describe(spec);
    std::uint64_t trips = 0;
    for (std::size_t part = 0; part < nest.part_count; ++part) {
        std::uint64_t of_part = 1;
        for (const std::size_t count : nest.parts[part].trips) of_part *= count;
        trips += of_part;
    }
    return trips;
}

}  // namespace memgauge
