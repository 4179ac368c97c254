// Loops that translate the address of every element: what they compute, and when they call the
// library. A stand-in takes the library's place.

#include "kernels/translated.hpp"

#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <vector>

#include "memgauge/kernels.hpp"
#include "memgauge/stream_arrays.hpp"
#include "refusal.hpp"

using namespace memgauge;
using memgauge::test::refusal;

namespace {

constexpr Operation all_operations[] = {Operation::copy,  Operation::scale, Operation::add,
                                        Operation::triad, Operation::read,  Operation::write,
                                        Operation::update};
constexpr Access translated_ones[] = {Access::translated, Access::translated_source,
                                      Access::translated_destination};

constexpr std::uint64_t known_pool = 77;
std::byte* pool_begin = nullptr;
int lookups = 0;

pmemobj::Pool* look_up(ObjectId object) {
    ++lookups;
    return object.pool == known_pool ? reinterpret_cast<pmemobj::Pool*>(pool_begin) : nullptr;
}

// Three arrays within one stretch of memory, which is the pool.
template <class T>
struct StandInPool {
    static constexpr std::size_t count = 1003;
    static constexpr std::size_t header = 128;

    StandInPool() : memory(header / sizeof(T) + 3 * count) {
        for (std::size_t i = 0; i < memory.size(); ++i) {
            memory[i] = static_cast<T>(1.0 + 0.001 * static_cast<double>(i % 1013));
        }
        pool_begin = reinterpret_cast<std::byte*>(memory.data());
        lookups = 0;
    }

    T* array(std::size_t index) { return memory.data() + header / sizeof(T) + index * count; }

    KernelOperands operands() {
        return {array(0), array(1), array(2), count, 0.41, 1.0, 0x1p-20, 0, 0, nullptr};
    }
    TranslatedOperands translated() {
        TranslatedOperands made{};
        for (std::size_t k = 0; k < 3; ++k) {
            made.objects[k] = {known_pool, header + k * count * sizeof(T)};
        }
        made.by = {&cache, &invalidate, look_up};
        return made;
    }

    std::vector<T> memory;
    pmemobj::PoolCache cache{nullptr, 0, 0};
    int invalidate = 0;
};

// What translated loops are compiled for: with others the compiler may fuse operations.
Isa baseline() {
#if defined(__x86_64__)
    return Isa::sse2;
#else
    return standard_isa();
#endif
}

template <class T>
void check_same_bits(ElementType element, Operation operation, Access access) {
    const KernelSpec plain{.operation = operation, .element = element, .isa = baseline()};
    StandInPool<T> expected;
    const double sum = find_kernel(plain)(expected.operands());

    StandInPool<T> pool;
    KernelSpec spec = plain;
    spec.access = access;
    const TranslatedOperands translated = pool.translated();
    KernelOperands operands = pool.operands();
    // What is translated is not found through the pointers.
    const bool reads = access != Access::translated_destination;
    const bool writes = access != Access::translated_source;
    if (reads && writes) operands.a = operands.b = operands.c = nullptr;
    operands.translated = &translated;
    INFO(to_string(operation), " ", to_string(element), " ", to_string(access));
    CHECK(find_kernel(spec)(operands) == sum);
    CHECK(pool.memory == expected.memory);
    const bool uses =
        (reads && operation != Operation::write) || (writes && operation != Operation::read);
    CHECK(lookups == (uses ? 1 : 0));
}

}  // namespace

TEST_CASE("translated loops give the bits of the plain ones, and look their pool up once") {
    for (const Operation operation : all_operations) {
        for (const Access access : translated_ones) {
            check_same_bits<double>(ElementType::f64, operation, access);
            check_same_bits<float>(ElementType::f32, operation, access);
        }
    }
}

TEST_CASE("a pool is looked up again after one was closed, and not before") {
    StandInPool<double> pool;
    const TranslatedOperands translated = pool.translated();
    KernelOperands operands = pool.operands();
    operands.translated = &translated;
    const KernelFunction copy =
        find_kernel({.operation = Operation::copy, .access = Access::translated});
    copy(operands);
    copy(operands);
    CHECK(lookups == 1);
    ++pool.invalidate;
    copy(operands);
    CHECK(lookups == 2);
    CHECK(pool.cache.invalidate == pool.invalidate);
}

TEST_CASE("elements of two pools are looked up at every change between them") {
    StandInPool<double> pool;
    TranslatedOperands translated = pool.translated();
    translated.by.pool_by_oid = [](ObjectId) {
        ++lookups;
        return reinterpret_cast<pmemobj::Pool*>(pool_begin);
    };
    translated.objects[2].pool = known_pool + 1;
    KernelOperands operands = pool.operands();
    operands.translated = &translated;
    find_kernel({.operation = Operation::copy, .access = Access::translated})(operands);
    CHECK(lookups == 2 * static_cast<int>(StandInPool<double>::count));
}

TEST_CASE("what is translated follows from where the arrays lie") {
    const auto of = [](Operation operation, bool source, bool destination) {
        return access_of(Access::translated, operation, source, destination);
    };
    CHECK(of(Operation::copy, true, true) == Access::translated);
    CHECK(of(Operation::copy, true, false) == Access::translated_source);
    CHECK(of(Operation::triad, false, true) == Access::translated_destination);
    CHECK(of(Operation::read, true, false) == Access::translated);
    CHECK(of(Operation::write, false, true) == Access::translated);
    CHECK(access_of(Access::direct, Operation::copy, true, true) == Access::direct);
    for (const auto& nowhere :
         {std::tuple{Operation::copy, false, false}, std::tuple{Operation::read, false, true},
          std::tuple{Operation::write, true, false}}) {
        const std::string why = refusal([&] { static_cast<void>(std::apply(of, nowhere)); });
        CHECK(why.find("--memory pmemobj:PATH") != std::string::npos);
    }
}

TEST_CASE("translated access is refused where there is none") {
    KernelSpec spec = default_tuned_spec(Operation::copy, ElementType::f64);
    spec.access = Access::translated;
    CHECK(refusal([&] { find_kernel(spec); }).find("take the standard variant") !=
          std::string::npos);

    Team team({allowed_cpus().front()});
    StreamArrays arrays(team, {.elements = 4096, .memory = {}});
    CHECK(refusal([&] {
              arrays.run({.operation = Operation::copy, .access = Access::translated}, {});
          }).find("its memory is no pool") != std::string::npos);
    CHECK(access_from_string("translated") == Access::translated);
    CHECK(refusal([] { access_from_string("D_RW"); }).find("direct, translated") !=
          std::string::npos);
}
