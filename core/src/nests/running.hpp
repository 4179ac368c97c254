#pragma once
// The innermost loops as code that runs. Over where the arrays are: memory, or a test's record of
// what was accessed.

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "nests/walk.hpp"

namespace memgauge::nests {

struct Complex {
    double real;
    double imaginary;
};

// A stride that the compiler knows.
using Unit = std::integral_constant<std::size_t, 1>;

// Calls store(i) for each, with prefetches in between.
template <class Arrays, bool prefetched, class Out, class Store>
inline void in_turn(const Out& to, std::size_t stride, std::size_t count,
                    const PrefetchRhythm& rhythm, const Store& store) {
    if constexpr (!prefetched) {
        for (std::size_t i = 0; i < count; ++i) store(i);
    } else {
        for (std::size_t i = 0; i < count;) {
            Arrays::prefetch_for_store(to, (i + rhythm.ahead) * stride);
            for (const std::size_t end = std::min(count, i + rhythm.period); i < end; ++i) {
                store(i);
            }
        }
    }
}

// What a loop prefetches. any: loads too, or twice; decided while it runs.
enum class Prefetching : unsigned char { none, stores, any };

// Calls prefetch(i, end) before each group of trips, then trip(i) for each of it.
template <class Prefetch, class Trip>
inline void in_groups(std::size_t count, std::size_t group, const Prefetch& prefetch,
                      const Trip& trip) {
    for (std::size_t i = 0; i < count;) {
        const std::size_t end = std::min(count, i + group);
        prefetch(i, end);
        for (; i < end; ++i) trip(i);
    }
}

// Calls prefetch(offset) for what the trips from `begin` to `end` have to prefetch of a reference.
template <class Prefetch>
inline void ahead_of(const PrefetchRhythm& rhythm, std::size_t stride, std::size_t begin,
                     std::size_t end, const Prefetch& prefetch) {
    if (rhythm.period == 0) return;
    for (std::size_t i = begin; i < end; i += rhythm.period) {
        // GCC takes a loop of nothing but prefetches for one without effects, and drops it.
        asm volatile("");
        prefetch((i + rhythm.ahead) * stride);
        if (rhythm.far != 0) prefetch((i + rhythm.far) * stride);
    }
}

template <class In, class XStride>
inline double dot_row(In a, In x, XStride x_stride, std::size_t count) {
    double sum = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
        const double of_row = a[k];  // first
        sum += of_row * x[k * x_stride];
    }
    return sum;
}

// `Arrays` gives pointers, in<Element>(array, offset) and out<Element>(array, offset), and
// prefetch_for_store(pointer, offset) and prefetch_for_load.
template <class Arrays, Prefetching prefetching>
class Running {
    static constexpr bool prefetched = prefetching == Prefetching::stores;
    static constexpr bool any = prefetching == Prefetching::any;

public:
    Running(const Nest& nest, const Arrays& arrays) : nest_(nest), arrays_(arrays) {}

    // The two innermost loops.
    void rows(const Loops& loops, const Offsets& offsets) const {
        switch (nest_.body) {
            case Body::copy:
                nest_.element_bytes == sizeof(double) ? copies<double>(loops, offsets)
                                                      : copies<Complex>(loops, offsets);
                return;
            case Body::dot:
                dots(loops, offsets);
                return;
            default:
                stream(loops, offsets);
        }
    }

private:
    [[nodiscard]] static constexpr std::size_t row_loop() noexcept { return innermost - 1; }

    // Of a reference's stores; nothing is computed where nothing is prefetched.
    [[nodiscard]] PrefetchRhythm rhythm_of(const Loops& loops, std::size_t reference) const {
        if constexpr (prefetching == Prefetching::none) return {};
        return prefetch_rhythm(nest_, loops.references[reference]);
    }

    template <class Element>
    void copies(const Loops& loops, const Offsets& offsets) const {
        const std::size_t in_stride = loops.references[0].strides[innermost];
        const std::size_t out_stride = loops.references[1].strides[innermost];
        if (in_stride == 1 && out_stride == 1) {
            copy_rows<Element>(loops, offsets, Unit{}, Unit{});
        } else if (in_stride == 1) {
            copy_rows<Element>(loops, offsets, Unit{}, out_stride);
        } else if (out_stride == 1) {
            copy_rows<Element>(loops, offsets, in_stride, Unit{});
        } else {
            copy_rows<Element>(loops, offsets, in_stride, out_stride);
        }
    }

    template <class Element, class InStride, class OutStride>
    void copy_rows(const Loops& loops, const Offsets& offsets, InStride in_stride,
                   OutStride out_stride) const {
        const auto from = arrays_.template in<Element>(0, offsets[0]);
        const auto to = arrays_.template out<Element>(1, offsets[1]);
        const std::size_t in_step = loops.references[0].strides[row_loop()];
        const std::size_t out_step = loops.references[1].strides[row_loop()];
        const PrefetchRhythm rhythm = rhythm_of(loops, 1);
        const std::size_t count = loops.trips[innermost];
        [[maybe_unused]] const Prefetches ahead = any ? prefetches_of(nest_, loops) : Prefetches{};
        for (std::size_t j = 0; j < loops.trips[row_loop()]; ++j) {
            const auto row = from + j * in_step;
            const auto into = to + j * out_step;
            const auto store = [&](std::size_t i) { into[i * out_stride] = row[i * in_stride]; };
            if constexpr (any) {
                const auto prefetch = [&](std::size_t begin, std::size_t end) {
                    load_ahead(ahead.of[0], row, in_stride, begin, end);
                    store_ahead(ahead.of[1], into, out_stride, begin, end);
                };
                in_groups(count, ahead.group, prefetch, store);
            } else {
                in_turn<Arrays, prefetched>(into, out_stride, count, rhythm, store);
            }
        }
    }

    template <class In>
    static void load_ahead(const PrefetchRhythm& rhythm, const In& from, std::size_t stride,
                           std::size_t begin, std::size_t end) {
        ahead_of(rhythm, stride, begin, end,
                 [&](std::size_t offset) { Arrays::prefetch_for_load(from, offset); });
    }
    template <class Out>
    static void store_ahead(const PrefetchRhythm& rhythm, const Out& to, std::size_t stride,
                            std::size_t begin, std::size_t end) {
        ahead_of(rhythm, stride, begin, end,
                 [&](std::size_t offset) { Arrays::prefetch_for_store(to, offset); });
    }

    void dots(const Loops& loops, const Offsets& offsets) const {
        if (loops.references[1].strides[innermost] == 1) {
            dot_rows(loops, offsets, Unit{});
        } else {
            dot_rows(loops, offsets, loops.references[1].strides[innermost]);
        }
    }

    template <class XStride>
    void dot_rows(const Loops& loops, const Offsets& offsets, XStride x_stride) const {
        const auto a = arrays_.template in<double>(0, offsets[0]);
        const auto x = arrays_.template in<double>(1, offsets[1]);
        const auto y = arrays_.template out<double>(2, offsets[2]);
        const std::size_t a_step = loops.references[0].strides[row_loop()];
        const std::size_t x_step = loops.references[1].strides[row_loop()];
        const PrefetchRhythm rhythm = rhythm_of(loops, 2);
        const std::size_t count = loops.trips[innermost];
        if constexpr (any) {
            const Prefetches ahead = prefetches_of(nest_, loops);
            const PrefetchRhythm stored = nest_.store_prefetch ? rhythm : PrefetchRhythm{};
            const auto prefetch = [&](std::size_t begin, std::size_t end) {
                store_ahead(stored, y, 1, begin, end);
            };
            in_groups(loops.trips[row_loop()], std::max<std::size_t>(1, stored.period), prefetch,
                      [&](std::size_t j) {
                          y[j] = dot_ahead(a + j * a_step, x + j * x_step, x_stride, count, ahead);
                      });
        } else {
            in_turn<Arrays, prefetched>(y, 1, loops.trips[row_loop()], rhythm, [&](std::size_t j) {
                y[j] = dot_row(a + j * a_step, x + j * x_step, x_stride, count);
            });
        }
    }

    template <class In>
    static double dot_ahead(In a, In x, std::size_t x_stride, std::size_t count,
                            const Prefetches& ahead) {
        double sum = 0.0;
        const auto prefetch = [&](std::size_t begin, std::size_t end) {
            load_ahead(ahead.of[0], a, 1, begin, end);
            load_ahead(ahead.of[1], x, x_stride, begin, end);
        };
        in_groups(count, ahead.group, prefetch, [&](std::size_t k) {
            const double of_row = a[k];  // first
            sum += of_row * x[k * x_stride];
        });
        return sum;
    }

    // One loop, next to next.
    void stream(const Loops& loops, const Offsets& offsets) const {
        const std::size_t last = nest_.written();
        const auto b = arrays_.template in<double>(0, offsets[0]);
        const auto to = arrays_.template out<double>(last, offsets[last]);
        const PrefetchRhythm rhythm = rhythm_of(loops, last);
        [[maybe_unused]] const Prefetches ahead = any ? prefetches_of(nest_, loops) : Prefetches{};
        const auto each = [&](const auto& store) {
            if constexpr (any) {
                const auto prefetch = [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = 0; i < last; ++i) {
                        load_ahead(ahead.of[i], arrays_.template in<double>(i, offsets[i]), 1,
                                   begin, end);
                    }
                    store_ahead(ahead.of[last], to, 1, begin, end);
                };
                in_groups(loops.trips[innermost], ahead.group, prefetch, store);
            } else {
                in_turn<Arrays, prefetched>(to, 1, loops.trips[innermost], rhythm, store);
            }
        };
        if (nest_.body == Body::scale) {
            each([&](std::size_t i) { to[i] = stream_scalar * b[i]; });
            return;
        }
        const auto c = arrays_.template in<double>(1, offsets[1]);
        if (nest_.body == Body::add) {
            each([&](std::size_t i) {
                const double first = b[i];
                to[i] = first + c[i];
            });
        } else {
            each([&](std::size_t i) {
                const double first = b[i];
                to[i] = first + stream_scalar * c[i];
            });
        }
    }

    const Nest& nest_;
    const Arrays& arrays_;
};

// Of nests that prefetch loads, or twice. `stopped` is asked each time the two innermost loops are
// done.
template <class Arrays, class Stopped>
void run_prefetching(const Nest& nest, const Arrays& arrays, const Stopped& stopped) {
    const Running<Arrays, Prefetching::any> inner(nest, arrays);
    for (OuterLoops at(nest); !at.done() && !stopped(); at.advance()) {
        inner.rows(at.loops(), at.offsets());
    }
}

// Of all others.
template <class Arrays, class Stopped>
void run(const Nest& described, const Arrays& arrays, const Stopped& stopped) {
    const Nest nest = as_run(described);
    const auto all = [&](const auto& inner) {
        for (OuterLoops at(nest); !at.done() && !stopped(); at.advance()) {
            inner.rows(at.loops(), at.offsets());
        }
    };
    nest.store_prefetch ? all(Running<Arrays, Prefetching::stores>(nest, arrays))
                        : all(Running<Arrays, Prefetching::none>(nest, arrays));
}

}  // namespace memgauge::nests
