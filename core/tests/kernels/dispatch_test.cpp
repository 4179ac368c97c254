// Names, dispatch and traffic of the kernels.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "memgauge/kernels.hpp"

using namespace memgauge;

namespace {

std::string message_of(const KernelSpec& spec) {
    try {
        find_kernel(spec);
    } catch (const RequestError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("names read back as what they name") {
    for (int k = 0; k < 7; ++k) {
        const auto operation = static_cast<Operation>(k);
        CHECK(operation_from_string(to_string(operation)) == operation);
    }
    for (int k = 0; k < 6; ++k) {
        const auto isa = static_cast<Isa>(k);
        CHECK(isa_from_string(to_string(isa)) == isa);
    }
    CHECK(element_type_from_string("float") == ElementType::f32);
    CHECK(variant_from_string("tuned") == Variant::tuned);
    CHECK(store_kind_from_string("non-temporal") == StoreKind::non_temporal);
    CHECK_THROWS_WITH_AS(operation_from_string("dot"),
                         "unknown kernel 'dot'; choose among copy, scale, add, triad, read, write, "
                         "update",
                         RequestError);
}

TEST_CASE("supported instruction sets end with generic and are distinct") {
    std::vector<Isa> isas = supported_isas();
    REQUIRE_FALSE(isas.empty());
    CHECK(isas.back() == Isa::generic);
    std::sort(isas.begin(), isas.end());
    CHECK(std::adjacent_find(isas.begin(), isas.end()) == isas.end());
}

TEST_CASE("every tuned spec listed for a prefetch distance is found") {
    const std::vector<PrefetchDistances> distances{{0, 0}, {2048, 0}, {2048, 16384}};
    for (int k = 0; k < 7; ++k) {
        for (const ElementType element : {ElementType::f32, ElementType::f64}) {
            const auto operation = static_cast<Operation>(k);
            for (const KernelSpec& spec : tuned_specs(operation, element, distances)) {
                CHECK((find_kernel(spec) != nullptr));
            }
        }
    }
}

TEST_CASE("prefetch is listed for what has sources, and is other code than none") {
    for (int k = 0; k < 7; ++k) {
        const auto operation = static_cast<Operation>(k);
        const auto count = [operation](const PrefetchDistances& distances) {
            return tuned_specs(operation, ElementType::f64, {distances}).size();
        };
        const std::vector<KernelSpec> plain = tuned_specs(operation, ElementType::f64);
        CHECK(plain.size() == count({0, 0}));
        CHECK(count({2048, 0}) == (operation == Operation::write ? 0 : plain.size()));
        CHECK(count({2048, 16384}) == count({2048, 0}));
        CHECK(count({0, 16384}) == 0);  // far without near
        for (KernelSpec spec : tuned_specs(operation, ElementType::f64, {{2048, 0}})) {
            const KernelFunction near = find_kernel(spec);
            spec.prefetch_far_bytes = 16384;
            CHECK((find_kernel(spec) != near));
            spec.prefetch_near_bytes = spec.prefetch_far_bytes = 0;
            CHECK((find_kernel(spec) != near));
        }
    }
}

TEST_CASE("the default tuned spec is one of those listed") {
    for (int k = 0; k < 7; ++k) {
        const auto operation = static_cast<Operation>(k);
        const KernelSpec spec = default_tuned_spec(operation, ElementType::f64);
        CHECK(spec.variant == Variant::tuned);
        CHECK(spec.operation == operation);
        CHECK((find_kernel(spec) != nullptr));
    }
}

TEST_CASE("what cannot run is refused with the reason") {
    const KernelSpec tuned{.variant = Variant::tuned, .isa = Isa::generic};
    KernelSpec far = tuned;
    far.prefetch_far_bytes = 4096;
    CHECK(message_of(far).find("cannot prefetch far without near") == 0);
    KernelSpec streaming = tuned;
    streaming.store = StoreKind::non_temporal;
    CHECK(message_of(streaming).find("no such kernel: triad (double, generic, non-temporal") == 0);
    KernelSpec odd = tuned;
    odd.unroll = 3;
    CHECK(message_of(odd).find("no such kernel") == 0);
    KernelSpec foreign = tuned;
#if defined(__x86_64__)
    foreign.isa = Isa::neon;
#else
    foreign.isa = Isa::avx2;
#endif
    CHECK(message_of(foreign).find("this processor has only") != std::string::npos);
    foreign.variant = Variant::standard;
    CHECK(message_of(foreign).find("this processor has plain loops for ") != std::string::npos);
}

TEST_CASE("a plain loop is compiled for the best that the compiler would take here") {
    const std::vector<Isa> isas = standard_isas();
    REQUIRE_FALSE(isas.empty());
    CHECK(isas.front() == standard_isa());
    CHECK(KernelSpec{}.isa == standard_isa());
    const std::vector<Isa> supported = supported_isas();
    for (const Isa isa : isas) {
        CHECK(std::ranges::count(isas, isa) == 1);
        CHECK(std::ranges::count(supported, isa) == 1);
        for (int k = 0; k < 7; ++k) {
            const KernelSpec spec{.operation = static_cast<Operation>(k), .isa = isa};
            CHECK((find_kernel(spec) != nullptr));
            // Each set's loops are code of their own.
            const bool is_first = isa == isas.front();
            CHECK((find_kernel(spec) == find_kernel({.operation = spec.operation})) == is_first);
        }
    }
#if defined(__x86_64__)
    CHECK(std::ranges::count(isas, Isa::sse2) == 1);
#elif defined(__aarch64__)
    CHECK(isas == std::vector{Isa::neon});
#elif defined(__powerpc64__)
    CHECK(isas == std::vector{Isa::vsx});
#endif
}

TEST_CASE("traffic counts as STREAM does, and names the write-allocate reads beside it") {
    KernelSpec spec{.operation = Operation::triad, .element = ElementType::f64};
    CHECK(traffic(spec).counted_read == 16);
    CHECK(traffic(spec).counted_write == 8);
    CHECK(traffic(spec).write_allocate == 8);
    spec.store = StoreKind::non_temporal;  // ignored for standard
    CHECK(traffic(spec).write_allocate == 8);
    spec.variant = Variant::tuned;
    CHECK(traffic(spec).write_allocate == 0);
    spec = {.operation = Operation::update, .element = ElementType::f32};
    CHECK(traffic(spec).counted_read == 8);
    CHECK(traffic(spec).counted_write == 4);
    CHECK(traffic(spec).write_allocate == 0);
    spec.operation = Operation::read;
    CHECK(traffic(spec).counted_write == 0);
    CHECK(traffic(spec).write_allocate == 0);
}
