#include "nests/description.hpp"

#include <algorithm>

namespace memgauge::nests {
namespace {

using Strides = std::array<std::size_t, most_loops>;

Nest one_part(Body body, std::size_t element_bytes, const Strides& trips,
              std::initializer_list<Strides> references) {
    Nest nest{.body = body, .element_bytes = element_bytes, .references = references.size()};
    nest.parts[0].trips = trips;
    std::ranges::transform(references, nest.parts[0].references.begin(),
                           [](const Strides& strides) { return Reference{0, strides}; });
    return nest;
}

constexpr std::size_t real_bytes = 8;
constexpr std::size_t complex_bytes = 16;

// Rows in whole turns of the rows of A that exist, then those left over.
Nest gemv(const NestShape& s) {
    const std::size_t height = rows_of_a(s);
    const Strides a{0, 0, s.n, 1};
    const Strides x{0, 0, 0, 1};
    const Strides y{0, height, 1, 0};
    Nest nest = one_part(Body::dot, real_bytes, {1, s.m / height, height, s.n}, {a, x, y});
    if (s.m % height != 0) {
        nest.parts[1] = nest.parts[0];
        nest.parts[1].trips = {1, 1, s.m % height, s.n};
        nest.parts[1].references[2].first = s.m / height * height;
        nest.part_count = 2;
    }
    return nest;
}

Nest gemm(std::size_t n) {
    return one_part(Body::dot, real_bytes, {1, n, n, n},
                    {{0, n, 0, 1}, {0, 0, 1, n}, {0, n, 1, 0}});
}

Nest stream(Body body, std::size_t n, std::size_t stride = 1) {
    const Strides each{0, 0, 0, stride};
    if (body == Body::add || body == Body::triad) {
        return one_part(body, real_bytes, {1, 1, 1, n}, {each, each, each});
    }
    return one_part(body, real_bytes, {1, 1, 1, n}, {each, each});
}

// The innermost loop cut: so many trips of it for all of the loop around it. The loop outside both
// may be any, the outermost must be free.
Nest tiled(const Nest& plain, std::size_t tile) {
    Nest nest = plain;
    const auto cut = [&](Loops& loops, std::size_t tiles, std::size_t trips) {
        const Loops& whole = plain.parts[0];
        loops.trips = {whole.trips[1], tiles, whole.trips[2], trips};
        for (std::size_t i = 0; i < plain.references; ++i) {
            const Strides& strides = whole.references[i].strides;
            loops.references[i].strides = {strides[1], tile * strides[3], strides[2], strides[3]};
        }
    };
    const std::size_t trips = plain.parts[0].trips[innermost];
    const std::size_t whole_tiles = trips / tile;
    if (whole_tiles > 0) cut(nest.parts[0], whole_tiles, tile);
    if (trips % tile == 0) return nest;
    Loops& left = nest.parts[whole_tiles > 0 ? 1 : 0];
    cut(left, 1, trips % tile);
    for (std::size_t i = 0; i < plain.references; ++i) {
        left.references[i].first = whole_tiles * tile * left.references[i].strides[innermost];
    }
    nest.part_count = whole_tiles > 0 ? 2 : 1;
    return nest;
}

Nest transpose(std::size_t m, std::size_t n) {
    return one_part(Body::copy, real_bytes, {1, 1, m, n}, {{0, 0, n, 1}, {0, 0, 1, m}});
}

// S1CF: the outermost extent is `outer`, the innermost `inner`; planes and columns, or exchanged.
Nest first_copy(std::size_t outer, std::size_t rows, std::size_t inner) {
    const Strides in_order{0, rows * inner, inner, 1};
    return one_part(Body::copy, complex_bytes, {1, outer, rows, inner}, {in_order, in_order});
}
Nest first_rotation(std::size_t outer, std::size_t rows, std::size_t inner) {
    return one_part(Body::copy, complex_bytes, {1, inner, outer, rows},
                    {{0, 1, rows * inner, inner}, {0, outer * rows, rows, 1}});
}
Nest first_fused(std::size_t outer, std::size_t rows, std::size_t inner) {
    return one_part(Body::copy, complex_bytes, {1, outer, rows, inner},
                    {{0, rows * inner, inner, 1}, {0, rows, 1, outer * rows}});
}

// S2CF: y x outer x x x rows, walked outer, x, y, rows.
Nest second(std::size_t outer, const NestShape& s) {
    return one_part(Body::copy, complex_bytes, {outer, s.x, s.y, s.rows},
                    {{s.x * s.rows, s.rows, outer * s.x * s.rows, 1},
                     {s.x * s.y * s.rows, s.y * s.rows, s.rows, 1}});
}

// Whether each trip of `outer` begins where the last of `found`'s loop `inner` ended.
bool goes_on(const Loops& loops, std::size_t outer, const Loops& found, std::size_t inner,
             std::size_t references) noexcept {
    for (std::size_t i = 0; i < references; ++i) {
        const std::size_t past = found.trips[inner] * found.references[i].strides[inner];
        if (loops.references[i].strides[outer] != past) return false;
    }
    return true;
}

Nest loops_of(const NestSpec& spec) {
    const NestShape& s = spec.shape;
    switch (spec.kind) {
        case NestKind::gemv:
            return gemv(s);
        case NestKind::gemm:
            return gemm(s.n);
        case NestKind::copy:
            return stream(Body::copy, s.n);
        case NestKind::scale:
            return stream(Body::scale, s.n);
        case NestKind::add:
            return stream(Body::add, s.n);
        case NestKind::triad:
            return stream(Body::triad, s.n);
        case NestKind::strided_copy:
            return stream(Body::copy, s.n, s.stride);
        case NestKind::transpose:
            return transpose(s.m, s.n);
        case NestKind::s1cf_first:
            return first_copy(s.planes, s.rows, s.cols);
        case NestKind::s1cf_second:
            return first_rotation(s.planes, s.rows, s.cols);
        case NestKind::s1cf:
            return first_fused(s.planes, s.rows, s.cols);
        case NestKind::s1pf_first:
            return first_copy(s.cols, s.rows, s.planes);
        case NestKind::s1pf_second:
            return first_rotation(s.cols, s.rows, s.planes);
        case NestKind::s1pf:
            return first_fused(s.cols, s.rows, s.planes);
        case NestKind::s2cf:
            return second(s.planes, s);
        case NestKind::s2pf:
            return second(s.cols, s);
    }
    return {};
}

// 64 bytes hold a power of two of elements, and of a stride between two powers as many as of the
// larger one.
PrefetchRhythm rhythm_in(const Nest& nest, const Reference& reference, std::size_t loop) noexcept {
    const std::size_t step_bytes = reference.strides[loop] * nest.element_bytes;
    const std::size_t period = std::max<std::size_t>(1, prefetch_line_bytes / step_bytes);
    return {period, period * nest.prefetch_lines, period * nest.prefetch_far_lines};
}

}  // namespace

std::uint64_t walked_bytes(const NestSpec& spec, const NestArray& array, std::size_t piece_bytes) {
    if (spec.kind == NestKind::gemv && array.name == "A") {
        return trips_of(spec) * array.element_bytes;
    }
    if (spec.kind == NestKind::strided_copy && spec.shape.stride > 1) {
        const std::size_t pieces = (array.bytes + piece_bytes - 1) / piece_bytes;
        return piece_bytes * std::min(spec.shape.n, pieces);
    }
    return array.bytes;
}

std::size_t rows_of_a(const NestShape& shape) noexcept {
    return shape.cap == 0 ? shape.m : std::min(shape.cap, shape.m);
}

Nest describe(const NestSpec& spec) {
    static_cast<void>(arrays_of(spec));  // says what makes no sense
    Nest nest = loops_of(spec);
    if (spec.shape.tile != 0) nest = tiled(nest, spec.shape.tile);
    nest.store_prefetch = spec.store_prefetch;
    nest.load_prefetch = spec.load_prefetch;
    nest.prefetch_lines = spec.prefetch_lines;
    nest.prefetch_far_lines = spec.prefetch_far_lines;
    return nest;
}

Loops joined(const Loops& loops, std::size_t references) noexcept {
    Loops found;
    for (std::size_t i = 0; i < references; ++i) {
        found.references[i].first = loops.references[i].first;
        found.references[i].strides[innermost] = loops.references[i].strides[innermost];
    }
    // Loops of more than one trip, from the innermost on, in the innermost places.
    std::size_t free = innermost;
    for (std::size_t loop = most_loops; loop-- > 0;) {
        if (loops.trips[loop] == 1) continue;
        const bool first = free == innermost;
        if (!first && goes_on(loops, loop, found, free + 1, references)) {
            found.trips[free + 1] *= loops.trips[loop];
            continue;
        }
        found.trips[free] = loops.trips[loop];
        for (std::size_t i = 0; i < references; ++i) {
            found.references[i].strides[free] = loops.references[i].strides[loop];
        }
        --free;  // wraps when all places are taken: then no loop is left
    }
    return found;
}

Nest as_run(const Nest& nest) noexcept {
    Nest found = nest;
    if (nest.body == Body::dot || nest.prefetches()) return found;
    for (std::size_t part = 0; part < nest.part_count; ++part) {
        found.parts[part] = joined(nest.parts[part], nest.references);
    }
    return found;
}

PrefetchRhythm prefetch_rhythm(const Nest& nest, const Reference& stored) noexcept {
    return rhythm_in(nest, stored, nest.body == Body::dot ? innermost - 1 : innermost);
}

Prefetches prefetches_of(const Nest& nest, const Loops& loops) noexcept {
    Prefetches found;
    for (std::size_t i = 0; i < nest.references; ++i) {
        const bool is_store = i == nest.written();
        if (is_store && nest.body == Body::dot) continue;  // around the innermost loop
        if (!(is_store ? nest.store_prefetch : nest.load_prefetch)) continue;
        found.of[i] = rhythm_in(nest, loops.references[i], innermost);
        // All periods are powers of two, so that each divides the largest.
        found.group = std::max(found.group, found.of[i].period);
    }
    return found;
}

}  // namespace memgauge::nests
