// The tuned kernels, one source for all instruction sets. No include guard against a second
// instruction set is needed: each isa_<name>.cpp defines MEMGAUGE_ISA, its namespace, and in it
// Vector<T>, then includes this once. Everything lives in that namespace, and nothing of the
// standard library is called, so that no function compiled with, say, -mavx512f can be picked by
// the linker for code that runs on lesser processors.
//
// Vector<T> has: Value, lanes, line_bytes (what a non-temporal store must fill to avoid a partial
// write), load, store, broadcast, add, multiply, ramp(begin, step), sum, prefetch_near,
// prefetch_far, has_stream, stream, open_line (before the first stream into a line), close_streams
// (orders them before the time stamp), and the shapes that are worth having: offers(unroll,
// streams).

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/table.hpp"

#ifndef MEMGAUGE_ISA
#error "define MEMGAUGE_ISA and Vector<T> before including kernels/pattern.hpp"
#endif

#define MEMGAUGE_INLINE inline __attribute__((always_inline))

namespace memgauge::kernels::MEMGAUGE_ISA {

// The operands of one kernel by role: out = f(x, y).
template <class T>
struct Roles {
    const T* x;
    const T* y;
    T* out;
    T scalar;
};

template <Operation operation, class T>
MEMGAUGE_INLINE Roles<T> bind(const KernelOperands& operands) {
    T* const a = static_cast<T*>(operands.a);
    T* const b = static_cast<T*>(operands.b);
    T* const c = static_cast<T*>(operands.c);
    const T scalar = static_cast<T>(operands.scalar);
    switch (operation) {
        case Operation::copy:
            return {a, nullptr, c, scalar};
        case Operation::scale:
            return {c, nullptr, b, scalar};
        case Operation::add:
            return {a, b, c, scalar};
        case Operation::triad:
            return {b, c, a, scalar};
        case Operation::update:
            return {a, b, a, scalar};
        case Operation::read:
            return {a, nullptr, nullptr, scalar};
        case Operation::write:
            return {nullptr, nullptr, a, scalar};
    }
    return {};
}

constexpr bool has_two_sources(Operation operation) {
    return operation == Operation::add || operation == Operation::triad ||
           operation == Operation::update;
}

// One vector of results. Products are rounded before they are added (the file is compiled with
// -ffp-contract=off), so that every variant on every processor gives the same bits.
template <Operation operation, class V, class T>
MEMGAUGE_INLINE typename V::Value apply(const Roles<T>& roles, std::size_t i,
                                        typename V::Value scalar) {
    const typename V::Value x = V::load(roles.x + i);
    if constexpr (operation == Operation::copy) return x;
    if constexpr (operation == Operation::scale) return V::multiply(scalar, x);
    if constexpr (operation == Operation::add) return V::add(x, V::load(roles.y + i));
    return V::add(x, V::multiply(scalar, V::load(roles.y + i)));
}

template <Operation operation, class T>
MEMGAUGE_INLINE T apply_scalar(const Roles<T>& roles, std::size_t i) {
    if constexpr (operation == Operation::copy) return roles.x[i];
    if constexpr (operation == Operation::scale) return roles.scalar * roles.x[i];
    if constexpr (operation == Operation::add) return roles.x[i] + roles.y[i];
    return roles.x[i] + roles.scalar * roles.y[i];
}

struct Distances {
    std::size_t near_bytes;
    std::size_t far_bytes;
};

// An address that may lie past the end of an array: only ever prefetched, which cannot fault.
MEMGAUGE_INLINE const void* ahead(const void* from, std::size_t bytes) {
    return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from) + bytes);
}

// One request for each line of the step that begins at `from`.
template <class V, unsigned level, std::size_t step_bytes>
MEMGAUGE_INLINE void prefetch(const void* from, const Distances& distances) {
    if constexpr (level > 0) {
#pragma GCC unroll 16
        for (std::size_t line = 0; line < step_bytes; line += V::line_bytes) {
            V::prefetch_near(ahead(from, distances.near_bytes + line));
            if constexpr (level > 1) V::prefetch_far(ahead(from, distances.far_bytes + line));
        }
    }
}

template <class V, StoreKind kind, class T>
MEMGAUGE_INLINE void put(T* to, typename V::Value value) {
    if constexpr (kind == StoreKind::non_temporal) {
        V::stream(to, value);
    } else {
        V::store(to, value);
    }
}

template <class V, StoreKind kind, std::size_t step_bytes>
MEMGAUGE_INLINE void open_lines(void* to) {
    if constexpr (kind == StoreKind::non_temporal) {
#pragma GCC unroll 16
        for (std::size_t line = 0; line < step_bytes; line += V::line_bytes) {
            V::open_line(static_cast<char*>(to) + line);
        }
    }
}

// How a call's elements are divided: scalars up to the first aligned line, then `streams` parts of
// `distance` elements walked side by side, then one walk over what is left, then scalars.
struct Layout {
    std::size_t head;
    std::size_t distance;
    std::size_t vector_end;
};

template <class T>
MEMGAUGE_INLINE std::size_t elements_to_alignment(const T* at, std::size_t bytes) {
    const std::size_t past = reinterpret_cast<std::uintptr_t>(at) % bytes;
    return past == 0 ? 0 : (bytes - past) / sizeof(T);
}

// Parts begin an odd number of lines apart: a distance that is a multiple of a large power of two
// would put all sub-streams into the same cache sets and memory banks.
template <class T, std::size_t step, std::size_t line_bytes, unsigned streams>
MEMGAUGE_INLINE Layout divide(const T* anchor, std::size_t count) {
    Layout layout{elements_to_alignment(anchor, line_bytes), 0, 0};
    if (layout.head > count) layout.head = count;
    const std::size_t steps = (count - layout.head) / step;
    layout.vector_end = layout.head + steps * step;
    if constexpr (streams > 1) {
        std::size_t part = steps / streams;
        if (part % 2 == 0 && part > 0) --part;
        layout.distance = part * step;
    }
    return layout;
}

template <Operation operation, class V, StoreKind kind, unsigned unroll, unsigned level, class T>
MEMGAUGE_INLINE void map_step(const Roles<T>& roles, std::size_t i, typename V::Value scalar,
                              const Distances& distances) {
    constexpr std::size_t bytes = unroll * V::lanes * sizeof(T);
    prefetch<V, level, bytes>(roles.x + i, distances);
    if constexpr (has_two_sources(operation)) prefetch<V, level, bytes>(roles.y + i, distances);
    typename V::Value results[unroll];
#pragma GCC unroll 4
    for (unsigned u = 0; u < unroll; ++u) {
        results[u] = apply<operation, V>(roles, i + u * V::lanes, scalar);
    }
    // After the loads: for `update` the line opened is the line just read.
    open_lines<V, kind, bytes>(roles.out + i);
#pragma GCC unroll 4
    for (unsigned u = 0; u < unroll; ++u) put<V, kind>(roles.out + i + u * V::lanes, results[u]);
}

template <Operation operation, class T, StoreKind kind, unsigned unroll, unsigned streams,
          unsigned level>
double map_kernel(const KernelOperands& operands) noexcept {
    using V = Vector<T>;
    constexpr std::size_t step = unroll * V::lanes;
    const Roles<T> roles = bind<operation, T>(operands);
    const Distances distances{operands.prefetch_near_bytes, operands.prefetch_far_bytes};
    const Layout layout = divide<T, step, V::line_bytes, streams>(roles.out, operands.count);
    const typename V::Value scalar = V::broadcast(roles.scalar);
    for (std::size_t i = 0; i < layout.head; ++i) roles.out[i] = apply_scalar<operation>(roles, i);
    std::size_t i = layout.head;
    if constexpr (streams > 1) {
        for (const std::size_t end = i + layout.distance; i < end; i += step) {
#pragma GCC unroll 4
            for (unsigned s = 0; s < streams; ++s) {
                map_step<operation, V, kind, unroll, level>(roles, i + s * layout.distance, scalar,
                                                            distances);
            }
        }
        i += (streams - 1) * layout.distance;
    }
    for (; i < layout.vector_end; i += step) {
        map_step<operation, V, kind, unroll, level>(roles, i, scalar, distances);
    }
    if constexpr (kind == StoreKind::non_temporal) V::close_streams();
    for (; i < operands.count; ++i) roles.out[i] = apply_scalar<operation>(roles, i);
    return 0.0;
}

template <class T>
MEMGAUGE_INLINE T ramp_value(const KernelOperands& operands, std::size_t i) {
    return static_cast<T>(operands.ramp_begin + static_cast<double>(i) * operands.ramp_step);
}

// Stores made-up values: sums of exact multiples of the step, no loads. A constant would be
// quicker to make, but hardware may treat repeated lines, above all zeros, unlike data.
template <class V, StoreKind kind, unsigned unroll, class T>
MEMGAUGE_INLINE void ramp_step(T* to, typename V::Value& value,
                               const typename V::Value (&offsets)[unroll],
                               typename V::Value stride) {
    open_lines<V, kind, unroll * V::lanes * sizeof(T)>(to);
#pragma GCC unroll 4
    for (unsigned u = 0; u < unroll; ++u) {
        put<V, kind>(to + u * V::lanes, u == 0 ? value : V::add(value, offsets[u]));
    }
    value = V::add(value, stride);
}

template <class T, StoreKind kind, unsigned unroll, unsigned streams>
double ramp_kernel(const KernelOperands& operands) noexcept {
    using V = Vector<T>;
    using Value = typename V::Value;
    constexpr std::size_t step = unroll * V::lanes;
    T* const out = static_cast<T*>(operands.a);
    const Layout layout = divide<T, step, V::line_bytes, streams>(out, operands.count);
    const T difference = static_cast<T>(operands.ramp_step);
    Value offsets[unroll];
    for (unsigned u = 0; u < unroll; ++u) {
        offsets[u] = V::broadcast(static_cast<T>(u * V::lanes) * difference);
    }
    const Value stride = V::broadcast(static_cast<T>(step) * difference);
    for (std::size_t i = 0; i < layout.head; ++i) out[i] = ramp_value<T>(operands, i);
    std::size_t i = layout.head;
    if constexpr (streams > 1) {
        Value values[streams];
        for (unsigned s = 0; s < streams; ++s) {
            values[s] = V::ramp(ramp_value<T>(operands, i + s * layout.distance), difference);
        }
        for (const std::size_t end = i + layout.distance; i < end; i += step) {
#pragma GCC unroll 4
            for (unsigned s = 0; s < streams; ++s) {
                ramp_step<V, kind, unroll>(out + i + s * layout.distance, values[s], offsets,
                                           stride);
            }
        }
        i += (streams - 1) * layout.distance;
    }
    Value value = V::ramp(ramp_value<T>(operands, i), difference);
    for (; i < layout.vector_end; i += step) {
        ramp_step<V, kind, unroll>(out + i, value, offsets, stride);
    }
    if constexpr (kind == StoreKind::non_temporal) V::close_streams();
    for (; i < operands.count; ++i) out[i] = ramp_value<T>(operands, i);
    return 0.0;
}

// Additions that wait for each other hide the memory: an add takes 3 to 4 cycles and a core can
// load two vectors in each, so at least eight sums are kept.
inline constexpr unsigned least_sums = 8;

template <class V, unsigned unroll, unsigned level, class T>
MEMGAUGE_INLINE void sum_step(const T* from, typename V::Value* sums, const Distances& distances) {
    prefetch<V, level, unroll * V::lanes * sizeof(T)>(from, distances);
#pragma GCC unroll 4
    for (unsigned u = 0; u < unroll; ++u) {
        sums[u] = V::add(sums[u], V::load(from + u * V::lanes));
    }
}

template <class T, unsigned unroll, unsigned streams, unsigned level>
double sum_kernel(const KernelOperands& operands) noexcept {
    using V = Vector<T>;
    constexpr unsigned width = unroll * streams;
    constexpr unsigned rounds = width >= least_sums ? 1 : least_sums / width;
    constexpr std::size_t step = unroll * V::lanes;
    constexpr std::size_t turn = rounds * step;
    const T* const in = static_cast<const T*>(operands.a);
    const Distances distances{operands.prefetch_near_bytes, operands.prefetch_far_bytes};
    const Layout layout = divide<T, turn, V::line_bytes, streams>(in, operands.count);
    typename V::Value sums[rounds * width];
#pragma GCC unroll 16
    for (unsigned k = 0; k < rounds * width; ++k) sums[k] = V::broadcast(T{0});
    T rest = 0;
    for (std::size_t i = 0; i < layout.head; ++i) rest += in[i];
    std::size_t i = layout.head;
    if constexpr (streams > 1) {
        for (const std::size_t end = i + layout.distance; i < end; i += turn) {
#pragma GCC unroll 8
            for (unsigned k = 0; k < rounds * streams; ++k) {
                const unsigned s = k % streams;
                const unsigned r = k / streams;
                sum_step<V, unroll, level>(in + i + r * step + s * layout.distance,
                                           sums + k * unroll, distances);
            }
        }
        i += (streams - 1) * layout.distance;
    }
    for (; i < layout.vector_end; i += turn) {
#pragma GCC unroll 8
        for (unsigned r = 0; r < rounds; ++r) {
            sum_step<V, unroll, level>(in + i + r * step, sums + r * unroll, distances);
        }
    }
    for (; i < operands.count; ++i) rest += in[i];
#pragma GCC unroll 16
    for (unsigned k = 1; k < rounds * width; ++k) sums[0] = V::add(sums[0], sums[k]);
    return static_cast<double>(V::sum(sums[0])) + static_cast<double>(rest);
}

consteval Slot slot_at(std::size_t index) {
    Slot slot{};
    slot.prefetch = index % prefetch_count;
    index /= prefetch_count;
    slot.log_streams = index % width_count;
    index /= width_count;
    slot.log_unroll = index % width_count;
    index /= width_count;
    slot.store = index % store_count;
    index /= store_count;
    slot.element = index % element_count;
    slot.operation = index / element_count;
    return slot;
}

// What is worth compiling. `read` adds up at least eight vectors in all its shapes, so that less
// unrolling would be the same code again; `write` has no sources to prefetch. Under sanitizers the
// widths in the middle, which have all the code that the others have.
template <class T>
consteval bool is_offered(const Slot& slot) {
#if defined(MEMGAUGE_FEW_KERNELS)
    if (slot.log_unroll == 0 || slot.log_streams == 2) return false;
#endif
    using V = Vector<T>;
    const auto operation = static_cast<Operation>(slot.operation);
    const unsigned unroll = 1U << slot.log_unroll;
    const bool streaming = static_cast<StoreKind>(slot.store) == StoreKind::non_temporal;
    if (operation == Operation::read) {
        return !streaming && unroll == 4 && (unroll << slot.log_streams) <= V::most_sums;
    }
    if (operation == Operation::write && slot.prefetch > 0) return false;
    if (streaming && !V::can_stream(unroll)) return false;
    return V::offers(unroll, 1U << slot.log_streams);
}

template <std::size_t index, class T>
consteval KernelFunction function_of() {
    constexpr Slot slot = slot_at(index);
    constexpr auto operation = static_cast<Operation>(slot.operation);
    constexpr auto kind = static_cast<StoreKind>(slot.store);
    constexpr unsigned unroll = 1U << slot.log_unroll;
    constexpr unsigned streams = 1U << slot.log_streams;
    if constexpr (!is_offered<T>(slot)) {
        return nullptr;
    } else if constexpr (operation == Operation::read) {
        return &sum_kernel<T, unroll, streams, slot.prefetch>;
    } else if constexpr (operation == Operation::write) {
        return &ramp_kernel<T, kind, unroll, streams>;
    } else {
        return &map_kernel<operation, T, kind, unroll, streams, slot.prefetch>;
    }
}

template <std::size_t index>
consteval KernelFunction function_at() {
    if constexpr (static_cast<ElementType>(slot_at(index).element) == ElementType::f32) {
        return function_of<index, float>();
    } else {
        return function_of<index, double>();
    }
}

struct Functions {
    KernelFunction at[table_size];
};

template <std::size_t... index>
consteval Functions all_functions(std::index_sequence<index...>) {
    return {{function_at<index>()...}};
}

inline constexpr Functions functions = all_functions(std::make_index_sequence<table_size>{});

}  // namespace memgauge::kernels::MEMGAUGE_ISA
