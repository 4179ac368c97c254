// Flushed stores: same results, every written line written back, nothing else touched.

#include "kernels/flushed.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string_view>
#include <vector>

#include "memgauge/stream_arrays.hpp"
#include "memgauge/traffic.hpp"

using namespace memgauge;

namespace {

constexpr Operation all_operations[] = {Operation::copy,  Operation::scale, Operation::add,
                                        Operation::triad, Operation::read,  Operation::write,
                                        Operation::update};

bool all_pass(const std::vector<ArrayValidation>& validations) {
    for (const ArrayValidation& validation : validations) {
        if (!validation.passed || validation.failed_elements != 0) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("this processor has an instruction to write lines back") {
    const std::string_view name = write_back_instruction();
#if defined(__x86_64__)
    CHECK((name == "clwb" || name == "clflushopt" || name == "clflush"));
#elif defined(__aarch64__)
    CHECK((name == "dc cvap" || name == "dc cvac"));
#elif defined(__powerpc64__)
    CHECK((name == "dcbstps" || name == "dcbst"));
#else
    CHECK(name == "none");
#endif
}

TEST_CASE("lines are written back from any address, whatever their part that was written") {
    std::vector<std::byte> memory(70000, std::byte{7});
    for (const std::size_t begin : {0U, 1U, 63U, 64U, 4095U}) {
        for (const std::size_t bytes : {1U, 64U, 65U, 4096U, 60000U}) {
            kernels::write_back(memory.data() + begin, bytes);
        }
    }
    kernels::finish_write_backs();
    CHECK(memory == std::vector<std::byte>(70000, std::byte{7}));
}

TEST_CASE("what is written before it is written back ends where a piece of 4 KiB ends") {
    alignas(4096) static std::array<std::byte, 8192> memory{};
    CHECK(kernels::before_flush_bytes(memory.data()) == 4096);
    CHECK(kernels::before_flush_bytes(memory.data() + 8) == 4088);
    CHECK(kernels::before_flush_bytes(memory.data() + 4095) == 1);
}

TEST_CASE("flushed kernels leave what others leave, for both types and variants, shifted or not") {
    const std::vector<int> cpus = allowed_cpus();
    Team team(cpus.size() > 1 ? std::vector<int>{cpus[0], cpus[1]} : cpus);
    for (const ElementType element : {ElementType::f32, ElementType::f64}) {
        for (const std::size_t offset : {0U, 24U}) {
            StreamArrays arrays(team, {.element = element,
                                       .elements = 30'000,
                                       .memory = {},
                                       .offset_bytes = offset,
                                       .blocks = 3});
            for (int round = 0; round < 4; ++round) {
                for (const Operation operation : all_operations) {
                    KernelSpec spec = default_tuned_spec(operation, element);
                    spec.store = StoreKind::flushed;
                    if (round % 2 == 0) spec.variant = Variant::standard;
                    arrays.run(spec, {.blocks = 2, .lead_in_blocks = 1, .iterations = 2});
                }
            }
            CHECK(all_pass(arrays.validate()));
        }
    }
}

TEST_CASE("flushed stores read the lines they write, are never searched, and are named") {
    for (const Operation operation : all_operations) {
        KernelSpec flushed{.operation = operation, .store = StoreKind::flushed};
        const KernelSpec temporal{.operation = operation};
        CHECK(traffic(flushed).write_allocate == traffic(temporal).write_allocate);
        CHECK(traffic(flushed).counted_write == traffic(temporal).counted_write);
        flushed.variant = Variant::tuned;
        CHECK(traffic(flushed).write_allocate == traffic(temporal).write_allocate);
        for (const KernelSpec& spec : tuned_specs(operation, ElementType::f64)) {
            CHECK(spec.store != StoreKind::flushed);
            CHECK(spec.access == Access::direct);
        }
        CHECK(kernels::written_array(operation).has_value() ==
              (traffic(temporal).counted_write > 0));
    }
    CHECK(to_string(StoreKind::flushed) == "flushed");
    CHECK(store_kind_from_string("flushed") == StoreKind::flushed);
}

TEST_CASE("a mix has no flushed stores, and says so") {
    std::string why;
    try {
        check(TrafficSpec{1, 1, StoreKind::flushed});
    } catch (const RequestError& error) {
        why = error.what();
    }
    CHECK(why.find("ask for temporal or non-temporal") != std::string::npos);
}
