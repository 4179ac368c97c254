#include "competition/work.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "kernels/translated.hpp"

namespace memgauge {

ArrayCounts needs(const Work& work) noexcept {
    if (const auto* const kernel = std::get_if<KernelSpec>(&work)) {
        return competition::arrays_of(kernel->operation);
    }
    const auto* const traffic = std::get_if<TrafficSpec>(&work);
    return {traffic->reads > 0 ? 1U : 0U, traffic->writes > 0 ? 1U : 0U};
}

}  // namespace memgauge

namespace memgauge::competition {

namespace {

constexpr std::size_t kernel_piece_bytes = 256;
constexpr kernels::Multiple as_filled{fill_factors.back(), 0.0};

// Pieces of `each_bytes`, to the nearest; at least one.
std::size_t pieces_of(std::size_t bytes, std::size_t each_bytes) noexcept {
    const std::size_t past_half = bytes % each_bytes >= (each_bytes + 1) / 2 ? 1 : 0;
    return std::max<std::size_t>(1, bytes / each_bytes + past_half);
}

// The spec for these arrays: `translated` becomes the access to those that lie in pools.
KernelSpec fitted(const Member& member, KernelSpec spec) {
    if (spec.element != member.arrays.element()) {
        throw RequestError("cannot run a kernel for " + std::string(to_string(spec.element)) +
                           " on arrays of " + std::string(to_string(member.arrays.element())));
    }
    const bool from_pool = member.arrays.in_pool(Role::source);
    const bool to_pool = member.arrays.in_pool(Role::destination);
    const Access possible = access_of(spec.access, spec.operation, from_pool, to_pool);
    if (spec.access == Access::direct || possible == Access::translated) return spec;
    if (spec.access != Access::translated && spec.access != possible) {
        throw RequestError("cannot run a kernel of " + std::string(to_string(spec.access)) +
                           " access: those arrays lie in no pool; ask for translated");
    }
    spec.access = possible;
    return spec;
}

// As many pieces as come nearest to so many bytes and hold the ratio exactly.
std::size_t pieces_of_ratio(std::size_t bytes, const load::Mix& mix,
                            std::size_t line_bytes) noexcept {
    const std::size_t period = mix.whole / std::gcd(mix.whole, mix.fraction);
    const std::size_t load_piece_bytes = std::size_t{kernels::lines_per_piece} * line_bytes;
    return pieces_of(bytes, period * load_piece_bytes) * period;
}

load::Generator& generator_of(Member& member) {
    if (member.arrays.element() != ElementType::f64) {
        throw RequestError("cannot make traffic in arrays of " +
                           std::string(to_string(member.arrays.element())) +
                           ": it writes doubles; make the arrays of those");
    }
    if (!member.generator) {
        member.generator = std::make_unique<load::Generator>(member.arrays.regions());
    }
    return *member.generator;
}

}  // namespace

KernelWork::KernelWork(Member& member, const KernelSpec& spec, std::size_t iteration_bytes)
    : member_(member),
      spec_(fitted(member, spec)),
      kernel_(find_kernel(spec_)),
      views_(member.arrays.views(spec.operation)),
      elements_(pieces_of(iteration_bytes, kernel_piece_bytes) * kernel_piece_bytes /
                element_bytes(spec.element)),
      scalar_(scalar_of(spec.operation, spec.element)),
      left_at_(member.cursors[static_cast<std::size_t>(spec.operation)]),
      at_(left_at_) {}

void KernelWork::prepare() noexcept {
    kernels::ready_access(spec_);
}

void KernelWork::iterate() noexcept {
    const bool alternates = spec_.operation == Operation::update;
    const std::size_t around = member_.arrays.elements();
    for_stretches(at_, elements_, around, [&](const kernels::Range& range, bool odd_lap) {
        kernels::call_kernel(spec_, kernel_, views_, range, scalar(alternates && odd_lap));
    });
    at_ = moved_on(at_, elements_, around);
}

void KernelWork::settle(std::size_t iterations) {
    const std::size_t around = member_.arrays.elements();
    const std::size_t walked = iterations * elements_;
    if (spec_.operation == Operation::update) {
        for_stretches(left_at_, walked, around, [&](const kernels::Range& range, bool odd_lap) {
            member_.contents.update(range, scalar(odd_lap));
        });
    } else if (arrays_of(spec_.operation).destinations > 0) {
        const kernels::Multiple result = result_of(spec_.operation, as_filled, scalar_);
        for_stretches(
            left_at_, std::min(walked, around), around,
            [&](const kernels::Range& range, bool) { member_.contents.overwrite(range, result); });
    }
    left_at_ = at_;
}

IterationBytes KernelWork::bytes() const noexcept {
    const ElementTraffic moved = traffic(spec_);
    return {elements_ * moved.counted_read, elements_ * moved.counted_write,
            elements_ * moved.write_allocate};
}

TrafficWork::TrafficWork(Member& member, const TrafficSpec& spec, std::size_t iteration_bytes)
    : member_(member),
      spec_(spec),
      mix_(load::mix_of(spec)),
      pieces_(pieces_of_ratio(iteration_bytes, mix_, generator_of(member).line_bytes())),
      refills_(spec.writes > 0 && !member.contents.is(as_filled)) {}

void TrafficWork::prepare() noexcept {
    if (refills_) member_.arrays.refill_destination();
    member_.generator->follow(spec_, mix_);
}

void TrafficWork::iterate() noexcept {
    member_.generator->advance(pieces_);
    member_.generator->close();
}

void TrafficWork::settle(std::size_t) {
    if (refills_) member_.contents.reset(as_filled);
}

IterationBytes TrafficWork::bytes() const noexcept {
    const std::uint64_t lines = std::uint64_t{pieces_} * kernels::lines_per_piece;
    const std::uint64_t reads = lines * spec_.reads / (spec_.reads + spec_.writes);
    const LineTraffic line = line_traffic(spec_);
    return {reads * line.line_bytes, (lines - reads) * line.line_bytes,
            (lines - reads) * line.write_allocate_bytes};
}

std::unique_ptr<IteratedWork> make_work(Member& member, const Work& work,
                                        std::size_t iteration_bytes) {
    const ArrayCounts wanted = needs(work);
    const ArrayCounts there = member.arrays.counts();
    if (there.sources < wanted.sources || there.destinations < wanted.destinations) {
        throw RequestError(
            "a member with " + std::to_string(there.sources) + " sources and " +
            std::to_string(there.destinations) + " destinations cannot do work that needs " +
            std::to_string(wanted.sources) + " and " + std::to_string(wanted.destinations) +
            ": ask for as many when making it");
    }
    if (const auto* const kernel = std::get_if<KernelSpec>(&work)) {
        return std::make_unique<KernelWork>(member, *kernel, iteration_bytes);
    }
    return std::make_unique<TrafficWork>(member, std::get<TrafficSpec>(work), iteration_bytes);
}

}  // namespace memgauge::competition
