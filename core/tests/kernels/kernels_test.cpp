// Every kernel that can run here against a scalar oracle: the same bits, nothing beside the range.
// Of plain loops the compiler may fuse a multiplication with an addition: the oracle then does too.

#include "memgauge/kernels.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

using namespace memgauge;

namespace {

constexpr std::array operations{Operation::copy,  Operation::scale, Operation::add,
                                Operation::triad, Operation::read,  Operation::write,
                                Operation::update};

// Three arrays with a guard zone before and after the range a kernel may touch.
template <class T>
struct Operands {
    static constexpr std::size_t guard = 64;

    Operands(std::size_t range_count, std::size_t shift)
        : count(range_count), first(guard + shift) {
        for (std::size_t k = 0; k < 3; ++k) {
            arrays[k].resize(count + 2 * guard + shift);
            for (std::size_t i = 0; i < arrays[k].size(); ++i) {
                arrays[k][i] = static_cast<T>(1.0 + 0.37 * static_cast<double>(k) +
                                              0.001 * static_cast<double>(i % 1013));
            }
        }
    }

    KernelOperands view(const KernelSpec& spec) {
        return {arrays[0].data() + first,
                arrays[1].data() + first,
                arrays[2].data() + first,
                count,
                0.41,
                1.0,
                0x1p-20,
                spec.prefetch_near_bytes,
                spec.prefetch_far_bytes};
    }

    // x + s * y in one rounding, or in two whatever the compiler would like to fuse.
    static T multiplied_added(T x, T s, T y, bool fused) {
        if (fused) return std::fma(s, y, x);
        volatile T product = s * y;
        return x + product;
    }

    void apply_oracle(Operation operation, bool fused) {
        auto& [a, b, c] = arrays;
        const T s = static_cast<T>(0.41);
        for (std::size_t i = first; i < first + count; ++i) {
            switch (operation) {
                case Operation::copy:
                    c[i] = a[i];
                    break;
                case Operation::scale:
                    b[i] = s * c[i];
                    break;
                case Operation::add:
                    c[i] = a[i] + b[i];
                    break;
                case Operation::triad:
                    a[i] = multiplied_added(b[i], s, c[i], fused);
                    break;
                case Operation::update:
                    a[i] = multiplied_added(a[i], s, b[i], fused);
                    break;
                case Operation::write:
                    a[i] = static_cast<T>(1.0 + static_cast<double>(i - first) * 0x1p-20);
                    break;
                case Operation::read:
                    break;
            }
        }
    }

    std::size_t count;
    std::size_t first;
    std::array<std::vector<T>, 3> arrays;
};

std::string description(const KernelSpec& spec, std::size_t count, std::size_t shift) {
    return std::string(to_string(spec.operation)) + " " + std::string(to_string(spec.element)) +
           " " + std::string(to_string(spec.variant)) + " " + std::string(to_string(spec.isa)) +
           " " + std::string(to_string(spec.store)) + " unroll " + std::to_string(spec.unroll) +
           " streams " + std::to_string(spec.streams) + " near " +
           std::to_string(spec.prefetch_near_bytes) + " count " + std::to_string(count) +
           " shift " + std::to_string(shift);
}

template <class T>
void check_kernel(const KernelSpec& spec, std::size_t count, std::size_t shift) {
    INFO(description(spec, count, shift));
    Operands<T> expected(count, shift);
    Operands<T> operands = expected;
    Operands<T> fused = expected;
    expected.apply_oracle(spec.operation, false);
    fused.apply_oracle(spec.operation, true);
    const double result = find_kernel(spec)(operands.view(spec));
    const bool may_fuse = spec.variant == Variant::standard;
    const auto& oracle =
        may_fuse && operands.arrays == fused.arrays ? fused.arrays : expected.arrays;
    for (std::size_t k = 0; k < 3; ++k) CHECK(operands.arrays[k] == oracle[k]);
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
        sum += static_cast<double>(operands.arrays[0][operands.first + i]);
    }
    const double epsilon = sizeof(T) == sizeof(float) ? 1e-5 : 1e-13;
    if (spec.operation == Operation::read) {
        CHECK(result == doctest::Approx(sum).epsilon(epsilon));
    } else {
        CHECK(result == 0.0);
    }
}

template <class T>
void check_operation(Operation operation, ElementType element) {
    std::vector<KernelSpec> specs =
        tuned_specs(operation, element, {{0, 0}, {1024, 0}, {1024, 8192}});
    REQUIRE_FALSE(specs.empty());
    for (const Isa isa : standard_isas()) {
        specs.push_back({.operation = operation, .element = element, .isa = isa});
    }
    for (const KernelSpec& spec : specs) {
        for (const std::size_t count : {0U, 1U, 7U, 31U, 64U, 255U, 1000U, 4099U}) {
            for (const std::size_t shift : {0U, 1U, 5U}) check_kernel<T>(spec, count, shift);
        }
    }
}

}  // namespace

TEST_CASE("every kernel equals the scalar oracle bit for bit and touches nothing else") {
    for (const Operation operation : operations) {
        check_operation<float>(operation, ElementType::f32);
        check_operation<double>(operation, ElementType::f64);
    }
}

TEST_CASE("sources may be aligned differently from the destination") {
    for (const KernelSpec& spec : tuned_specs(Operation::triad, ElementType::f64)) {
        std::vector<double> a(3000, 1.0);
        std::vector<double> b(3001, 2.0);
        std::vector<double> c(3003, 4.0);
        find_kernel(spec)({a.data(), b.data() + 1, c.data() + 3, 3000, 0.5, 0, 0, 0, 0});
        CHECK(a == std::vector<double>(3000, 4.0));
    }
}

TEST_CASE("read adds up every element") {
    for (const KernelSpec& spec : tuned_specs(Operation::read, ElementType::f64)) {
        for (const std::size_t wrong : {0U, 1U, 500U, 1022U, 1023U}) {
            std::vector<double> a(1024, 1.0);
            a[wrong] = 1025.0;
            CHECK(find_kernel(spec)({a.data(), nullptr, nullptr, 1024, 0, 0, 0, 0, 0}) == 2048.0);
        }
    }
}
