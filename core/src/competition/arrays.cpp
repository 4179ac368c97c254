#include "competition/arrays.hpp"

#include <string>

#include "kernels/arrays/fill.hpp"
#include "kernels/arrays/pieces.hpp"
#include "load/spec.hpp"

namespace memgauge::competition {

namespace {

// Holds whole lines of every processor (64, 128 or 256 bytes).
constexpr std::size_t grain_bytes = 256;

std::unique_ptr<Buffer> make_buffer(bool wanted, const MemorySource& memory,
                                    const CompetitionRequest& all, const StopCheck& stop) {
    if (!wanted) return nullptr;
    BufferRequest request;
    request.bytes = elements_of(all) * element_bytes(all.element);
    request.pages = all.pages;
    request.memory = memory;
    return std::make_unique<Buffer>(request, stop);
}

}  // namespace

std::size_t elements_of(const CompetitionRequest& request) {
    if (request.array_bytes < grain_bytes) {
        throw RequestError("cannot compete in arrays of " + std::to_string(request.array_bytes) +
                           " bytes: give at least " + std::to_string(grain_bytes));
    }
    return request.array_bytes / grain_bytes * grain_bytes / element_bytes(request.element);
}

Arrays::Arrays(const MemberRequest& request, const CompetitionRequest& all, const StopCheck& stop)
    : element_(all.element),
      elements_(elements_of(all)),
      buffers_{make_buffer(request.sources > 0, request.source, all, stop),
               make_buffer(request.sources > 1, request.source, all, stop),
               make_buffer(request.destinations > 0, request.destination, all, stop)} {}

void Arrays::fill(const Team& team) const {
    for (std::size_t role = 0; role < role_count; ++role) {
        if (!buffers_[role]) continue;
        std::byte* const begin = buffers_[role]->data();
        kernels::for_pieces(team, {0, elements_}, [&](const kernels::Range& piece) {
            kernels::fill_ramp(element_, begin + piece.first * element_bytes(element_), piece,
                               fill_factors[role]);
        });
    }
}

void Arrays::refill_destination() const noexcept {
    kernels::fill_ramp(element_, data(Role::destination), {0, elements_},
                       fill_factors[static_cast<std::size_t>(Role::destination)]);
}

ArrayCounts Arrays::counts() const noexcept {
    return {(has(Role::source) ? 1U : 0U) + (has(Role::second) ? 1U : 0U),
            has(Role::destination) ? 1U : 0U};
}

const Buffer& Arrays::any() const noexcept {
    return has(Role::source) ? *at(Role::source) : *at(Role::destination);
}

kernels::ArrayViews Arrays::views(Operation operation) const noexcept {
    kernels::ArrayViews views{element_, {}, {}};
    const auto roles = roles_of(operation);
    for (std::size_t operand = 0; operand < roles.size(); ++operand) {
        const bool used = roles[operand] != Role::none;
        const Buffer& buffer = used ? *at(roles[operand]) : any();
        views.data[operand] = buffer.data();
        views.objects[operand] = buffer.object().value_or(ObjectId{});
    }
    return views;
}

load::Regions Arrays::regions() const {
    const std::size_t line = load::cache_line_bytes();
    const std::size_t offset = load::writes_offset_lines * line;
    const std::size_t bytes = elements_ * element_bytes(element_);
    const load::Layout layout = load::lay_out_within(bytes < offset ? 0 : bytes - offset, line);
    const std::size_t first = offset / sizeof(double);
    auto* const reads = reinterpret_cast<double*>(any().data());
    if (!has(Role::destination)) return {layout, reads, reads, 0};
    auto* const writes = reinterpret_cast<double*>(data(Role::destination)) + first;
    return {layout, has(Role::source) ? reads : writes, writes, first};
}

std::vector<Backing> Arrays::backing() const {
    std::vector<Backing> backings;
    for (const auto& buffer : buffers_) {
        if (buffer) backings.push_back(buffer->backing());
    }
    return backings;
}

}  // namespace memgauge::competition
