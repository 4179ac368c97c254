#include "memgauge/chase.hpp"

#include <functional>
#include <string>

#include "memgauge/names.hpp"
#include "memory/chase/links.hpp"
#include "memory/chase/ring_access.hpp"
#include "memory/chase/walk.hpp"

namespace memgauge {

namespace {

BufferRequest buffer_request(const ChaseRequest& request) {
    memory::check(request);
    BufferRequest buffer;
    buffer.bytes = request.bytes;
    buffer.pages = request.pages;
    buffer.memory = request.memory;
    return buffer;
}

class Walk final : public Job {
public:
    Walk(void**& position, const Buffer& buffer, unsigned sweeps, std::size_t hops,
         std::size_t warm_hops, std::size_t iterations)
        : position_(position),
          buffer_(buffer),
          sweeps_(sweeps),
          hops_(hops),
          warm_hops_(warm_hops),
          iterations_(iterations) {}

    void prepare() override {
        for (unsigned sweep = 0; sweep < sweeps_; ++sweep) {
            memory::sweep(buffer_.data(), buffer_.size());
        }
        position_ = memory::walk(position_, warm_hops_);
    }

    void run(ThreadSlice& slice) noexcept override {
        const Clock& clock = Clock::instance();
        void** position = position_;
        for (std::size_t iteration = 0; iteration < iterations_; ++iteration) {
            const Ticks begin = clock.now();
            position = memory::walk(position, hops_);
            slice.iterations.push_back({begin, clock.now()});
        }
        position_ = position;
    }

    [[nodiscard]] std::size_t iterations() const noexcept override { return iterations_; }

private:
    void**& position_;
    const Buffer& buffer_;
    unsigned sweeps_;
    std::size_t hops_;
    std::size_t warm_hops_;
    std::size_t iterations_;
};

constexpr Names<3> chase_order_names{"random", "block-random", "stride"};

}  // namespace

std::string_view to_string(ChaseOrder order) noexcept {
    return name_of(chase_order_names, order);
}

ChaseOrder chase_order_from_string(std::string_view name) {
    return value_of<ChaseOrder>(chase_order_names, "chase order", name);
}

struct ChaseRing::State {
    State(Team& a_team, const ChaseRequest& request, const StopCheck& stop)
        : team(a_team),
          buffer(buffer_request(request), stop),
          layout(buffer.data(), request),
          position(layout.node(0)) {}

    Team& team;
    Buffer buffer;
    memory::Layout layout;
    void** position;  // where the last walk ended
};

ChaseRing::ChaseRing(Team& team, const ChaseRequest& request, const StopCheck& stop, Team* linkers)
    : state_(std::make_unique<State>(team, request, stop)) {
    Team& linking = linkers == nullptr ? team : *linkers;
    const auto parallel = [&](const std::function<void()>& work) {
        linking.parallel(
            [&](std::size_t rank) {
                if (linkers != nullptr || rank == 0) {
                    work();
                }
            },
            stop);
    };
    memory::link(state_->layout, request,
                 {parallel, [&linking] { return linking.stop_requested(); }});
}

ChaseRing::~ChaseRing() = default;

const Team& memory::RingAccess::team(const ChaseRing& ring) noexcept {
    return ring.state_->team;
}

void**& memory::RingAccess::position(ChaseRing& ring) noexcept {
    return ring.state_->position;
}

Slice ChaseRing::run(std::size_t hops, std::size_t warm_hops, std::size_t iterations,
                     unsigned sweeps) {
    Walk walk(state_->position, state_->buffer, sweeps, hops, warm_hops, iterations);
    std::vector<Job*> jobs(state_->team.size(), nullptr);
    jobs.front() = &walk;
    return state_->team.run(jobs);
}

std::size_t ChaseRing::nodes() const noexcept {
    return state_->layout.nodes();
}

// A first return after exactly as many hops as there are nodes proves it: each hop led to a node,
// and none came twice, or the walk would never have returned.
bool ChaseRing::is_single_cycle() const {
    void** const start = state_->layout.node(0);
    void** position = start;
    for (std::size_t hop = 1; hop <= nodes(); ++hop) {
        position = static_cast<void**>(*position);
        if (!state_->layout.holds(position)) {
            return false;
        }
        if (position == start) {
            return hop == nodes();
        }
    }
    return false;
}

Backing ChaseRing::backing() const {
    return state_->buffer.backing();
}

}  // namespace memgauge
