#include "memgauge/stream_arrays.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "kernels/arrays/layout.hpp"
#include "kernels/arrays/pieces.hpp"
#include "kernels/arrays/replay.hpp"
#include "kernels/arrays/stream_job.hpp"

namespace memgauge {

using kernels::ArrayLayout;
using kernels::BlockState;
using kernels::Deviation;
using kernels::Range;

namespace {

constexpr std::size_t array_count = 3;

Buffer make_buffer(const ArraysRequest& request, const ArrayLayout& layout, std::size_t array,
                   const StopCheck& stop) {
    BufferRequest buffer;
    buffer.bytes = layout.elements() * element_bytes(request.element);
    buffer.pages = request.pages;
    buffer.memory = request.memory;
    buffer.offset_bytes = array * request.offset_bytes;
    return Buffer(buffer, stop);
}

ObjectId object_of(const Buffer& buffer) noexcept {
    return buffer.object().value_or(ObjectId{});
}

}  // namespace

struct StreamArrays::State {
    State(Team& owner, const ArraysRequest& arrays_request, const StopCheck& stop)
        : team(owner),
          request(arrays_request),
          layout(kernels::lay_out(arrays_request, owner.size())),
          buffers{make_buffer(request, layout, 0, stop), make_buffer(request, layout, 1, stop),
                  make_buffer(request, layout, 2, stop)},
          views{request.element,
                {buffers[0].data(), buffers[1].data(), buffers[2].data()},
                {object_of(buffers[0]), object_of(buffers[1]), object_of(buffers[2])}},
          blocks(layout.blocks) {}

    [[nodiscard]] kernels::StreamPlan plan(const KernelSpec& spec, const SliceRequest& slice) const;
    [[nodiscard]] std::vector<BlockState> replayed(const kernels::StreamPlan& plan) const;
    [[nodiscard]] std::vector<std::size_t> unsound_after(const kernels::StreamPlan& plan) const;
    [[nodiscard]] std::array<Deviation, array_count> deviations(std::size_t rank) const;

    Team& team;
    ArraysRequest request;
    ArrayLayout layout;
    std::array<Buffer, array_count> buffers;
    kernels::ArrayViews views;
    std::vector<BlockState> blocks;  // every thread does the same to its block of an index
    bool negative = false;           // sign of the next update's scalar
};

StreamArrays::StreamArrays(Team& team, const ArraysRequest& request, const StopCheck& stop)
    : state_(std::make_unique<State>(team, request, stop)) {
    State& state = *state_;
    team.parallel(
        [&state](std::size_t rank) {
            const std::size_t part = state.layout.part_elements();
            kernels::for_pieces(state.team, {rank * part, part}, [&](const Range& piece) {
                kernels::fill_block(state.views, piece);
            });
        },
        stop);
}

StreamArrays::~StreamArrays() = default;

// What the covered blocks will hold when the plan is carried out: fill, lead-in, iterations.
std::vector<BlockState> StreamArrays::State::replayed(const kernels::StreamPlan& plan) const {
    std::vector<BlockState> after = blocks;
    for (const std::size_t block : plan.refills) after[block] = {};
    const SliceRequest& slice = plan.slice;
    for (std::size_t k = 0; k < slice.lead_in_blocks; ++k) {
        const std::size_t block = (slice.first_block + layout.blocks - 1 - k) % layout.blocks;
        kernels::replay(after[block], plan.spec.operation, plan.scalar);
    }
    for (std::size_t k = 0; k < slice.blocks; ++k) {
        BlockState& block = after[(slice.first_block + k) % layout.blocks];
        double scalar = plan.scalar;
        for (std::size_t iteration = 0; iteration < slice.iterations; ++iteration) {
            kernels::replay(block, plan.spec.operation, scalar);
            if (plan.sign_flips) scalar = -scalar;
        }
    }
    return after;
}

std::vector<std::size_t> StreamArrays::State::unsound_after(const kernels::StreamPlan& plan) const {
    const std::vector<BlockState> after = replayed(plan);
    std::vector<std::size_t> unsound;
    for (std::size_t block = 0; block < after.size(); ++block) {
        if (!kernels::is_sound(after[block], request.element)) unsound.push_back(block);
    }
    return unsound;
}

kernels::StreamPlan StreamArrays::State::plan(const KernelSpec& spec,
                                              const SliceRequest& slice) const {
    const double scalar = kernels::replay_scalar(request.element);
    const bool update = spec.operation == Operation::update;
    kernels::StreamPlan plan{
        spec, find_kernel(spec), slice, update && negative ? -scalar : scalar, update, {}};
    if (spec.operation != Operation::read) plan.refills = unsound_after(plan);
    return plan;
}

Slice StreamArrays::run(const KernelSpec& spec, const SliceRequest& slice) {
    State& state = *state_;
    if (spec.element != state.request.element) {
        throw RequestError("cannot run a kernel for " + std::string(to_string(spec.element)) +
                           " on arrays of " + std::string(to_string(state.request.element)));
    }
    kernels::check_slice(slice, spec.operation, state.layout);
    const bool in_pool = state.buffers[0].object().has_value();
    static_cast<void>(access_of(spec.access, spec.operation, in_pool, in_pool));
    const kernels::StreamPlan plan = state.plan(spec, slice);
    std::vector<kernels::StreamJob> jobs;
    jobs.reserve(state.team.size());
    std::vector<Job*> pointers;
    pointers.reserve(state.team.size());
    for (std::size_t rank = 0; rank < state.team.size(); ++rank) {
        pointers.push_back(&jobs.emplace_back(plan, state.layout, state.views, rank));
    }
    const double pingpong_ns = slice.pingpong ? state.team.pingpong_ns() : -1.0;
    std::vector<BlockState> after =
        spec.operation == Operation::read ? state.blocks : state.replayed(plan);
    Slice result = state.team.run(pointers);
    state.blocks.swap(after);
    state.negative = !state.negative;
    result.pingpong_ns = pingpong_ns;
    return result;
}

std::array<Deviation, array_count> StreamArrays::State::deviations(std::size_t rank) const {
    std::array<Deviation, array_count> found;
    for (std::size_t index = 0; index < layout.blocks; ++index) {
        for (std::size_t array = 0; array < array_count; ++array) {
            const kernels::Multiple& multiple = blocks[index].arrays[array];
            const double tolerance = std::max(kernels::stream_epsilon(request.element),
                                              kernels::rounding_bound(multiple, request.element));
            kernels::for_pieces(team, layout.block(rank, index), [&](const Range& piece) {
                found[array].add(kernels::deviation(request.element, views.at(array, piece.first),
                                                    piece, multiple.factor, tolerance));
            });
        }
    }
    return found;
}

std::vector<ArrayValidation> StreamArrays::validate(const StopCheck& stop) {
    const State& state = *state_;
    std::vector<std::array<Deviation, array_count>> found(state.team.size());
    state_->team.parallel([&](std::size_t rank) { found[rank] = state.deviations(rank); }, stop);
    std::vector<ArrayValidation> validations;
    for (std::size_t array = 0; array < array_count; ++array) {
        Deviation total;
        for (const auto& of_rank : found) total.add(of_rank[array]);
        const double average = total.sum / static_cast<double>(elements());
        const double epsilon = kernels::stream_epsilon(state.request.element);
        validations.push_back({static_cast<char>('a' + array), average, epsilon, elements(),
                               total.failed, total.first_failed,
                               total.failed == 0 && average <= epsilon});
    }
    return validations;
}

std::vector<Backing> StreamArrays::backing() const {
    std::vector<Backing> backings;
    for (const Buffer& buffer : state_->buffers) backings.push_back(buffer.backing());
    return backings;
}

std::size_t StreamArrays::elements() const noexcept {
    return state_->layout.elements();
}

std::size_t StreamArrays::elements_per_block() const noexcept {
    return state_->layout.elements_per_block;
}

void StreamArrays::corrupt(char array, std::size_t element) {
    if (array < 'a' || array > 'c' || element >= elements()) {
        throw RequestError("no element " + std::to_string(element) + " in array '" + array +
                           "': arrays a, b and c have " + std::to_string(elements()));
    }
    kernels::flip_bit(state_->request.element,
                      state_->views.at(static_cast<std::size_t>(array - 'a'), element));
}

}  // namespace memgauge
