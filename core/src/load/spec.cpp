#include "load/spec.hpp"

#include <string>
#include <vector>

#include "kernels/processor.hpp"
#include "kernels/table.hpp"
#include "memgauge/names.hpp"

namespace memgauge {

namespace {

using kernels::slots_per_piece;

constexpr unsigned most_group_accesses = 1000;

bool streams(const TrafficSpec& spec) noexcept {
    return spec.writes > 0 && spec.store == StoreKind::non_temporal;
}

// Reads alone take the instruction set of the `read` kernel; mixes that which stores best.
const kernels::TrafficTable& table_for(const TrafficSpec& spec) {
    const Operation like = spec.writes == 0 ? Operation::read : Operation::write;
    return *kernels::table_of(default_tuned_spec(like, ElementType::f64).isa)->traffic;
}

void check_ratio(const TrafficSpec& spec) {
    if (spec.reads == 0 && spec.writes == 0) {
        throw RequestError("traffic of 0 reads and 0 writes does nothing: give at least one");
    }
    if (spec.reads > most_group_accesses || spec.writes > most_group_accesses - spec.reads) {
        throw RequestError(
            "traffic of " + std::to_string(spec.reads) + " reads and " +
            std::to_string(spec.writes) + " writes cannot be mixed: their sum is at most " +
            std::to_string(most_group_accesses) + "; give the ratio in smaller numbers");
    }
}

constexpr Names<2> traffic_order_names{"sequential", "random"};

}  // namespace

std::string_view to_string(TrafficOrder order) noexcept {
    return name_of(traffic_order_names, order);
}

TrafficOrder traffic_order_from_string(std::string_view name) {
    return value_of<TrafficOrder>(traffic_order_names, "traffic order", name);
}

void check(const TrafficSpec& spec) {
    static_cast<void>(load::mix_of(spec));
}

LineTraffic line_traffic(const TrafficSpec& spec) noexcept {
    const std::size_t line = load::cache_line_bytes();
    return {line, streams(spec) || spec.writes == 0 ? 0 : line};
}

load::Mix load::mix_of(const TrafficSpec& spec) {
    check_ratio(spec);
    if (spec.store == StoreKind::flushed) {
        throw RequestError(
            "cannot make traffic of flushed stores: a mix has no point at which its lines could be "
            "known to be written back; ask for temporal or non-temporal ones");
    }
    const std::size_t whole = spec.reads + spec.writes;
    const std::size_t reads = std::size_t{slots_per_piece} * spec.reads;
    const auto slots = static_cast<unsigned>(reads / whole);
    const bool streaming = streams(spec);
    const kernels::TrafficTable& table = table_for(spec);
    kernels::TrafficKernel const kernel =
        table.at[streaming ? 1 : 0][static_cast<std::size_t>(spec.order)][slots];
    const bool can =
        !streaming || default_tuned_spec(Operation::write, ElementType::f64).store == spec.store;
    if (kernel == nullptr || !can) {
        throw RequestError(
            "cannot make traffic of non-temporal stores: this processor has none that is known; "
            "ask for temporal ones");
    }
    return {kernel, streaming ? table.close : nullptr, slots, reads % whole, whole};
}

std::size_t load::cache_line_bytes() noexcept {
    return kernels::table_of(supported_isas().front())->traffic->line_bytes;
}

}  // namespace memgauge
