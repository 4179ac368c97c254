// Raw values as libpcp and NVML hand them over, of any type and length.

#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>

#include "counters/nvml/library.hpp"
#include "counters/pcp/value.hpp"
#include "fuzz.hpp"
#include "memgauge/counters/source.hpp"

namespace memgauge::fuzz {
namespace {

// A block of the length that its header tells, on the heap, so that reading beyond it is seen.
class HeapBlock {
public:
    explicit HeapBlock(Input& input) {
        const std::size_t bytes = sizeof(std::uint32_t) + input.below(20);
        memory_ = std::make_unique<std::uint32_t[]>((bytes + 3) / 4);
        auto* const begin = reinterpret_cast<unsigned char*>(memory_.get());
        const auto header =
            static_cast<std::uint32_t>(bytes) | input.take<std::uint8_t>() * 0x1000000U;
        std::memcpy(begin, &header, sizeof header);
        for (std::size_t i = sizeof header; i < bytes; ++i) begin[i] = input.take<std::uint8_t>();
    }

    [[nodiscard]] const pcp::Block* get() const noexcept {
        return reinterpret_cast<const pcp::Block*>(memory_.get());
    }

private:
    std::unique_ptr<std::uint32_t[]> memory_;
};

void check_pcp(Input& input) {
    const HeapBlock block(input);
    const bool in_place = input.below(2) == 0;
    const int format = in_place ? pcp::in_place : 1 + static_cast<int>(input.below(3));
    const PcpType type = pcp::type_of(static_cast<int>(input.below(12)) - 2);
    std::optional<unsigned> bits;
    if (input.below(2) == 0) bits = static_cast<unsigned>(input.below(100));
    pcp::Value value{};
    if (in_place) {
        value.of.number = input.take<std::int32_t>();
    } else if (input.below(8) != 0) {
        value.of.block = block.get();
    }
    const pcp::Number got = pcp::number(value, format, type, bits);
    require(!got.present || got.value < slot_limit, "a value of PCP beyond 2^63 is given");
    require(!got.present || pcp::is_integer(type) != bits.has_value(),
            "an integer has parts, or a fraction none");
    if (got.present && in_place && type == PcpType::i32) {
        require(got.value == static_cast<std::uint64_t>(value.of.number), "a value is read wrong");
    }
}

void check_units(std::uint32_t packed) {
    PcpMetric metric;
    pcp::unpack_units(packed, metric);
    for (const int one : {metric.count, metric.time, metric.space, metric.count_scale}) {
        require(one >= -8 && one < 8, "a dimension of a unit is out of its nibble");
    }
    require(metric.time_scale >= 0 && metric.time_scale < 16, "a scale is out of its nibble");
}

void check_nvml(Input& input) {
    nvml::FieldValue field{};
    field.type = static_cast<nvml::ValueType>(static_cast<int>(input.below(10)) - 1);
    field.result = input.below(4) == 0 ? input.take<std::int32_t>() : nvml::success;
    field.value.unsigned_long_long = input.take<std::uint64_t>();
    const nvml::Number got = nvml::number(field);
    if (got.result != nvml::success) return;
    require(got.value < slot_limit, "a value of NVML beyond 2^63 is given");
    require(got.bits == 64 || got.value < std::uint64_t{1} << got.bits,
            "a value of NVML has more bits than it is told to have");
    require(field.result == nvml::success && field.type != nvml::ValueType::floating,
            "a value is made of none");
}

}  // namespace

void run(Data data) {
    Input input(data);
    check_units(input.take<std::uint32_t>());
    while (!input.empty()) {
        check_pcp(input);
        check_nvml(input);
    }
}

}  // namespace memgauge::fuzz
