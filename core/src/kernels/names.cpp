// Names of the kernels' parameters, and the traffic each operation causes.

#include "memgauge/names.hpp"

#include <array>
#include <cstddef>
#include <string_view>

#include "memgauge/kernels.hpp"

namespace memgauge {

namespace {

constexpr Names<7> operation_names{"copy", "scale", "add", "triad", "read", "write", "update"};
constexpr Names<2> element_names{"float", "double"};
constexpr Names<2> variant_names{"standard", "tuned"};
constexpr Names<3> store_names{"temporal", "non-temporal", "flushed"};
constexpr Names<4> access_names{"direct", "translated", "translated-source",
                                "translated-destination"};
constexpr Names<6> isa_names{"generic", "sse2", "avx2", "avx512", "neon", "vsx"};

}  // namespace

std::string_view to_string(Operation operation) noexcept {
    return name_of(operation_names, operation);
}
std::string_view to_string(ElementType element) noexcept {
    return name_of(element_names, element);
}
std::string_view to_string(Variant variant) noexcept {
    return name_of(variant_names, variant);
}
std::string_view to_string(StoreKind kind) noexcept {
    return name_of(store_names, kind);
}
std::string_view to_string(Access access) noexcept {
    return name_of(access_names, access);
}
std::string_view to_string(Isa isa) noexcept {
    return name_of(isa_names, isa);
}

Operation operation_from_string(std::string_view name) {
    return value_of<Operation>(operation_names, "kernel", name);
}
ElementType element_type_from_string(std::string_view name) {
    return value_of<ElementType>(element_names, "element type", name);
}
Variant variant_from_string(std::string_view name) {
    return value_of<Variant>(variant_names, "variant", name);
}
StoreKind store_kind_from_string(std::string_view name) {
    return value_of<StoreKind>(store_names, "store kind", name);
}
Access access_from_string(std::string_view name) {
    return value_of<Access>(access_names, "access", name);
}
Isa isa_from_string(std::string_view name) {
    return value_of<Isa>(isa_names, "instruction set", name);
}

std::size_t element_bytes(ElementType element) noexcept {
    return element == ElementType::f32 ? sizeof(float) : sizeof(double);
}

ElementTraffic traffic(const KernelSpec& spec) noexcept {
    struct Counts {
        unsigned reads;
        unsigned writes;
        bool reads_destination;
    };
    constexpr std::array<Counts, 7> counts{{{1, 1, false},
                                            {1, 1, false},
                                            {2, 1, false},
                                            {2, 1, false},
                                            {1, 0, false},
                                            {0, 1, false},
                                            {2, 1, true}}};
    const Counts& count = counts[static_cast<std::size_t>(spec.operation)];
    const auto bytes = static_cast<unsigned>(element_bytes(spec.element));
    const bool streaming = spec.variant == Variant::tuned && spec.store == StoreKind::non_temporal;
    const bool allocates = !streaming && !count.reads_destination;
    return {count.reads * bytes, count.writes * bytes, allocates ? count.writes * bytes : 0U};
}

}  // namespace memgauge
