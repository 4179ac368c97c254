#include "nests/contents.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "nests/walk.hpp"

namespace memgauge::nests {
namespace {

constexpr std::size_t vector_r = most_references;

// Sum of factor(k) * content of row `row` of an array of rows of n, last to first.
template <class Factor>
double row_product(std::size_t array, std::size_t row, std::size_t n, const Factor& factor) {
    double sum = 0.0;
    for (std::size_t k = n; k-- > 0;) sum += content(array, row * n + k) * factor(k);
    return sum;
}

// Calls value(i) for i below `count` on the team's threads, in turn.
template <class Value>
std::vector<double> on_team(Team& team, std::size_t count, const StopCheck& stop,
                            const Value& value) {
    std::vector<double> values(count);
    team.parallel(
        [&](std::size_t rank) {
            for (std::size_t i = rank; i < count && !team.stop_requested(); i += team.size()) {
                values[i] = value(i);
            }
        },
        stop);
    return values;
}

// What a map of elements makes of the doubles read.
double mapped(Body body, double first, double second) noexcept {
    switch (body) {
        case Body::scale:
            return stream_scalar * first;
        case Body::add:
            return first + second;
        case Body::triad:
            return first + stream_scalar * second;
        default:
            return first;
    }
}

class Mapped {
public:
    Mapped(const Nest& nest, const InMemory& arrays) noexcept
        : nest_(nest),
          doubles_(nest.element_bytes / sizeof(double)),
          written_(arrays.out<double>(nest.written(), 0)) {}

    // One row of the innermost loop.
    void compare(const Loops& loops, const Offsets& offsets, std::size_t j,
                 Difference& found) const noexcept {
        for (std::size_t i = 0; i < loops.trips[innermost]; ++i) {
            const auto element = [&](std::size_t reference) {
                const auto& strides = loops.references[reference].strides;
                return offsets[reference] + j * strides[innermost - 1] + i * strides[innermost];
            };
            const std::size_t into = element(nest_.written());
            for (std::size_t d = 0; d < doubles_; ++d) {
                const double second =
                    nest_.references == 3 ? content(1, element(1) * doubles_ + d) : 0.0;
                found.add(written_[into * doubles_ + d],
                          mapped(nest_.body, content(0, element(0) * doubles_ + d), second),
                          nest_.body == Body::triad ? triad_epsilon : 0.0, into);
            }
        }
    }

    // A fused multiply-add rounds once where two operations round twice.
    static constexpr double triad_epsilon = 0x1p-52;

private:
    const Nest& nest_;
    std::size_t doubles_;
    const double* written_;
};

Difference of_maps(const Team& team, const Nest& nest, const InMemory& arrays) noexcept {
    Difference found;
    const Mapped mapped(nest, arrays);
    for (OuterLoops at(nest); !at.done() && !team.stop_requested(); at.advance()) {
        for (std::size_t j = 0; j < at.loops().trips[innermost - 1]; ++j) {
            mapped.compare(at.loops(), at.offsets(), j, found);
        }
    }
    return found;
}

Difference of_gemv(const NestSpec& spec, const Nest& nest, const InMemory& arrays,
                   const Products& products) noexcept {
    Difference found;
    const double* const y = arrays.out<double>(nest.written(), 0);
    const std::vector<double>& rows = products.values();
    for (std::size_t i = 0; i < spec.shape.m; ++i) {
        found.add(y[i], rows[i % rows.size()], epsilon_of(spec, nest), i);
    }
    return found;
}

Difference of_gemm(const Team& team, const NestSpec& spec, const Nest& nest, const InMemory& arrays,
                   const Products& products) noexcept {
    Difference found;
    const std::size_t n = spec.shape.n;
    const double* const c = arrays.out<double>(nest.written(), 0);
    for (std::size_t i = 0; i < n && !team.stop_requested(); ++i) {
        double sum = 0.0;
        for (std::size_t j = 0; j < n; ++j) sum += c[i * n + j] * content(vector_r, j);
        found.add(sum, products.values()[i], epsilon_of(spec, nest), i);
    }
    return found;
}

}  // namespace

void fill(const Team& team, std::size_t array, double* at, std::size_t doubles) noexcept {
    for (std::size_t done = 0; done < doubles && !team.stop_requested();) {
        const std::size_t end = std::min(doubles, done + piece_doubles);
        for (; done < end; ++done) at[done] = content(array, done);
    }
}

void Difference::add(double found, double expected, double epsilon, std::size_t index) noexcept {
    const double error = std::fabs(found - expected) / std::fabs(expected);
    sum += error < 1.0 ? error : 1.0;
    ++compared;
    if (error <= epsilon) return;
    first_failed = failed == 0 ? index : std::min(first_failed, index);
    ++failed;
}

void Difference::add(const Difference& other) noexcept {
    if (other.failed > 0) {
        first_failed =
            failed == 0 ? other.first_failed : std::min(first_failed, other.first_failed);
    }
    sum += other.sum;
    compared += other.compared;
    failed += other.failed;
}

Products::Products(Team& team, const NestSpec& spec, const Nest& nest, const StopCheck& stop) {
    if (nest.body != Body::dot) return;
    const std::size_t n = spec.shape.n;
    if (spec.kind == NestKind::gemv) {
        values_ = on_team(team, rows_of_a(spec.shape), stop, [n](std::size_t row) {
            return row_product(0, row, n, [](std::size_t k) { return content(1, k); });
        });
        return;
    }
    const std::vector<double> b_r = on_team(team, n, stop, [n](std::size_t row) {
        return row_product(1, row, n, [](std::size_t k) { return content(vector_r, k); });
    });
    values_ = on_team(team, n, stop, [&](std::size_t row) {
        return row_product(0, row, n, [&](std::size_t k) { return b_r[k]; });
    });
}

// All terms are positive: a sum of n products is off by at most n + 1 roundings of 2^-53 of it,
// and GEMM's check takes two sums over each other on either side.
double epsilon_of(const NestSpec& spec, const Nest& nest) noexcept {
    if (nest.body != Body::dot) return nest.body == Body::triad ? Mapped::triad_epsilon : 0.0;
    const double sums = spec.kind == NestKind::gemm ? 4.0 : 2.0;
    return sums * (static_cast<double>(spec.shape.n) + 2.0) * 0x1p-53;
}

NestValidation validation_of(const NestSpec& spec, const Nest& nest, std::string array,
                             const Difference& difference) {
    return {.array = std::move(array),
            .average_relative_error = difference.sum / static_cast<double>(difference.compared),
            .epsilon = epsilon_of(spec, nest),
            .elements = difference.compared,
            .failed_elements = difference.failed,
            .first_failed = difference.first_failed,
            .passed = difference.failed == 0};
}

Difference difference(const Team& team, const NestSpec& spec, const Nest& nest,
                      const InMemory& arrays, const Products& products) noexcept {
    if (nest.body != Body::dot) return of_maps(team, nest, arrays);
    return spec.kind == NestKind::gemv ? of_gemv(spec, nest, arrays, products)
                                       : of_gemm(team, spec, nest, arrays, products);
}

}  // namespace memgauge::nests
