// The traffic generator's inner kernels, one source for all instruction sets. Included by each
// isa_<name>.cpp after kernels/pattern.hpp; the same rules hold.

#include <cstddef>
#include <utility>

#include "kernels/pause_chain.hpp"
#include "kernels/traffic_table.hpp"
#include "memgauge/traffic.hpp"
#include "scramble.hpp"

namespace memgauge::kernels::MEMGAUGE_ISA {

struct Lines {
    using V = Vector<double>;
    using Value = V::Value;
    static constexpr std::size_t elements = V::line_bytes / sizeof(double);
    static constexpr unsigned vectors = static_cast<unsigned>(elements / V::lanes);
    static constexpr double step = 0x1p-40;  // ramp_step_of(ElementType::f64)
};

// Compilers see that addresses differ by constants, keep each in a register of its own, run out of
// them and spill. What they cannot see, they leave as written, and in this order.
template <class T>
MEMGAUGE_INLINE T opaque(T value) {
    asm volatile("" : "+r"(value) : : "memory");
    return value;
}

// Sums that do not wait for each other, used in turn.
struct Sums {
    Lines::Value at[least_sums];

    MEMGAUGE_INLINE void read(const double* line, unsigned turn) {
#pragma GCC unroll 4
        for (unsigned u = 0; u < Lines::vectors; ++u) {
            Lines::Value& sum = at[(turn * Lines::vectors + u) % least_sums];
            sum = Lines::V::add(sum, Lines::V::load(line + u * Lines::V::lanes));
        }
    }
};

// What a line holds: its first element, and from there one step more for each.
struct LineRamp {
    Lines::Value offsets[Lines::vectors];
    Lines::Value per_line;

    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the loop sets all of them
    MEMGAUGE_INLINE LineRamp() : per_line(Lines::V::broadcast(Lines::elements * Lines::step)) {
#pragma GCC unroll 4
        for (unsigned u = 0; u < Lines::vectors; ++u) {
            offsets[u] =
                Lines::V::ramp(static_cast<double>(u * Lines::V::lanes) * Lines::step, Lines::step);
        }
    }

    // All sums are exact: whatever the order of addition, an element gets the same bits.
    [[nodiscard]] MEMGAUGE_INLINE Lines::Value first(const TrafficTask& task,
                                                     std::size_t element) const {
        return Lines::V::broadcast(task.ramp_begin +
                                   static_cast<double>(static_cast<std::ptrdiff_t>(element)) *
                                       Lines::step);
    }

    template <StoreKind kind>
    MEMGAUGE_INLINE void write(double* line, Lines::Value first_element) const {
        open_lines<Lines::V, kind, Lines::V::line_bytes>(line);
#pragma GCC unroll 4
        for (unsigned u = 0; u < Lines::vectors; ++u) {
            put<Lines::V, kind>(line + u * Lines::V::lanes,
                                Lines::V::add(first_element, offsets[u]));
        }
    }
};

// Reads only: in the shape of the `read` kernel, four vectors of one sub-stream, then of the other.
MEMGAUGE_INLINE void read_piece(const double* front, std::size_t distance, Sums& sums) {
    constexpr unsigned run = Lines::vectors < 4 ? 4 / Lines::vectors : 1;
    const double* const back = opaque(front + distance);
#pragma GCC unroll 16
    for (unsigned line = 0; line < lines_per_piece; ++line) {
        const unsigned turn = line / run;
        const std::size_t offset = (turn / 2 * run + line % run) * Lines::elements;
        sums.read((turn % 2 == 0 ? front : back) + offset, line);
        if (line % run == run - 1) asm volatile("" ::: "memory");  // keeps the order
    }
}

template <StoreKind kind, unsigned reads>
MEMGAUGE_INLINE void sequential_piece(TrafficTask& task, Sums& sums, const LineRamp& ramp) {
    const double* from = task.reads + task.read_at * Lines::elements;
    if constexpr (reads == slots_per_piece) {
        read_piece(from, task.distance, sums);
    } else {
        const std::size_t first = task.write_at * Lines::elements;
        const double* from_back = opaque(from + task.distance);
        double* to = task.writes + first;
        double* to_back = opaque(to + task.distance);
        Lines::Value front = ramp.first(task, first);
        Lines::Value back = ramp.first(task, first + task.distance);
        unsigned turn = 0;
#pragma GCC unroll 8
        for (unsigned slot = 0; slot < slots_per_piece; ++slot) {
            if (reads_in_slot(slot, reads)) {
                sums.read(from, turn++);
                sums.read(from_back, turn++);
                from += Lines::elements;
                from_back += Lines::elements;
            } else {
                ramp.write<kind>(to, front);
                ramp.write<kind>(to_back, back);
                front = Lines::V::add(front, ramp.per_line);
                back = Lines::V::add(back, ramp.per_line);
                to += Lines::elements;
                to_back += Lines::elements;
            }
        }
    }
    const std::size_t last = task.span - slots_per_piece;
    task.read_at = task.read_at + reads > last ? 0 : task.read_at + reads;
    const std::size_t write_at = task.write_at + slots_per_piece - reads;
    task.write_at = write_at > last ? 0 : write_at;
}

template <StoreKind kind, unsigned reads>
MEMGAUGE_INLINE void random_piece(TrafficTask& task, Sums& sums, const LineRamp& ramp) {
    std::uint64_t read_at = task.read_at;
    std::uint64_t write_at = task.write_at;
#pragma GCC unroll 16
    for (unsigned line = 0; line < lines_per_piece; ++line) {
        const bool is_read = reads_in_slot(line / 2, reads);
        const std::uint64_t number =
            scrambled_next(is_read ? read_at : write_at, task.random_mask, task.random_shift);
        const std::size_t element = opaque(number) * Lines::elements;
        if (is_read) {
            sums.read(task.reads + element, line);
        } else {
            ramp.write<kind>(task.writes + element, ramp.first(task, element));
        }
    }
    task.read_at = read_at;
    task.write_at = write_at;
}

template <StoreKind kind, TrafficOrder order, unsigned reads>
MEMGAUGE_INLINE void traffic_piece(TrafficTask& task, Sums& sums, const LineRamp& ramp) {
    if constexpr (order == TrafficOrder::sequential) {
        sequential_piece<kind, reads>(task, sums, ramp);
    } else {
        random_piece<kind, reads>(task, sums, ramp);
    }
}

template <StoreKind kind, TrafficOrder order, unsigned reads>
std::size_t traffic_kernel(TrafficTask& state, std::size_t pieces) noexcept {
    // Field by field, so that they may live in registers; some compilers copy the whole by memcpy.
    TrafficTask task{
        state.reads,       state.writes,       state.ramp_begin, state.distance, state.span,
        state.random_mask, state.random_shift, state.fraction,   state.whole,    state.delay,
        state.read_at,     state.write_at,     state.remainder,  state.chain,    0.0};
    const LineRamp ramp;
    Sums sums;  // NOLINT(cppcoreguidelines-pro-type-member-init): set at once
#pragma GCC unroll 8
    for (Lines::Value& sum : sums.at) sum = Lines::V::broadcast(0.0);
    std::size_t more = 0;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        task.remainder += task.fraction;
        if (reads < slots_per_piece && task.remainder >= task.whole) {
            task.remainder -= task.whole;
            ++more;
            traffic_piece<kind, order, reads + (reads < slots_per_piece)>(task, sums, ramp);
        } else {
            traffic_piece<kind, order, reads>(task, sums, ramp);
        }
        task.chain = pause_chain(task.chain, task.delay);
    }
#pragma GCC unroll 8
    for (unsigned k = 1; k < least_sums; ++k) sums.at[0] = Lines::V::add(sums.at[0], sums.at[k]);
    state.sum = Lines::V::sum(sums.at[0]);
    state.read_at = task.read_at;
    state.write_at = task.write_at;
    state.remainder = task.remainder;
    state.chain = task.chain;
    return more;
}

template <class V>
void traffic_close() noexcept {
    if constexpr (V::can_stream(Lines::vectors)) V::close_streams();
}

template <StoreKind kind, TrafficOrder order, unsigned reads>
consteval TrafficKernel traffic_kernel_of() {
    // Reads have no kind of store.
    constexpr StoreKind used = reads == slots_per_piece ? StoreKind::temporal : kind;
    if constexpr (used == StoreKind::non_temporal && !Lines::V::can_stream(Lines::vectors)) {
        return nullptr;
    } else {
        return &traffic_kernel<used, order, reads>;
    }
}

template <unsigned... reads>
consteval TrafficTable make_traffic_table(std::integer_sequence<unsigned, reads...>) {
    constexpr auto now = StoreKind::temporal;
    constexpr auto streamed = StoreKind::non_temporal;
    constexpr auto forward = TrafficOrder::sequential;
    constexpr auto scattered = TrafficOrder::random;
    return {Lines::V::line_bytes,
            {{{traffic_kernel_of<now, forward, reads>()...},
              {traffic_kernel_of<now, scattered, reads>()...}},
             {{traffic_kernel_of<streamed, forward, reads>()...},
              {traffic_kernel_of<streamed, scattered, reads>()...}}},
            &traffic_close<Lines::V>};
}

inline constexpr TrafficTable traffic_table =
    make_traffic_table(std::make_integer_sequence<unsigned, slots_per_piece + 1>{});

}  // namespace memgauge::kernels::MEMGAUGE_ISA
