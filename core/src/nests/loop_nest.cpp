// A team's sets of arrays, and the nest run on them.

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/arrays/ramp.hpp"
#include "memgauge/blas.hpp"
#include "memgauge/clock.hpp"
#include "memgauge/counters/modelled.hpp"
#include "nests/contents.hpp"
#include "round_up.hpp"

namespace memgauge {

using nests::InMemory;
using nests::Nest;

namespace {

// Arrays of a set begin in different places of their pages, so that walks side by side do not meet
// in the same set of a cache; at a whole line of any cache.
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t stagger_bytes = std::size_t{17} * 128;

// Where the arrays of a set begin in it, and where the next set does.
struct SetLayout {
    std::vector<std::size_t> begins;
    std::size_t bytes = 0;
};

SetLayout lay_out(const std::vector<NestArray>& arrays) {
    SetLayout layout;
    for (const NestArray& array : arrays) {
        const std::size_t stagger = layout.begins.size() * stagger_bytes;
        layout.begins.push_back(layout.bytes + stagger);
        layout.bytes += round_up(stagger + array.bytes, page_bytes);
    }
    return layout;
}

std::size_t bytes_of_sets(const NestSpec& spec, const SetLayout& layout, std::size_t copies) {
    if (copies == 0) {
        throw RequestError("loop nest " + std::string(to_string(spec.kind)) +
                           ": 0 copies of its arrays leave nothing to work on; give at least 1");
    }
    if (copies > (std::size_t{1} << 62) / layout.bytes) {
        throw RequestError("loop nest " + std::string(to_string(spec.kind)) + ": " +
                           std::to_string(copies) +
                           " copies of its arrays are more than can be addressed; give fewer");
    }
    return copies * layout.bytes;
}

// Traffic that an execution is known to ask for where nothing is kept from before: each array
// once, those written read first; of a capped matrix every walk, of elements further apart than
// lines a line each.
struct Booked {
    std::uint64_t read_bytes = 0;
    std::uint64_t write_bytes = 0;
};

constexpr std::size_t booked_line_bytes = 64;

Booked booked_of(const NestSpec& spec, const std::vector<NestArray>& arrays) {
    Booked booked;
    for (const NestArray& array : arrays) {
        const std::uint64_t bytes = nests::walked_bytes(spec, array, booked_line_bytes);
        booked.read_bytes += bytes;
        if (array.written) booked.write_bytes += bytes;
    }
    return booked;
}

class NestJob final : public Job {
public:
    NestJob(const Team& team, const NestSpec& spec, const Nest& nest, const Blas* blas,
            const Booked& booked, std::vector<InMemory> sets)
        : team_(team),
          spec_(spec),
          nest_(nest),
          blas_(blas),
          booked_(booked),
          sets_(std::move(sets)) {}

    void run(ThreadSlice& slice) noexcept override {
        const Clock& clock = Clock::instance();
        for (const InMemory& set : sets_) {
            const Ticks begin = clock.now();
            execute(set);
            slice.iterations.push_back({begin, clock.now()});
        }
        KnownTraffic::instance().add(sets_.size() * booked_.read_bytes,
                                     sets_.size() * booked_.write_bytes);
    }
    [[nodiscard]] std::size_t iterations() const noexcept override { return sets_.size(); }

private:
    void execute(const InMemory& set) const noexcept {
        if (blas_ == nullptr) {
            nests::run(nest_, set, &team_);
        } else if (!team_.stop_requested()) {
            blas_->run(spec_, set.begins);
        }
    }

    const Team& team_;
    const NestSpec& spec_;
    const Nest& nest_;
    const Blas* blas_;
    const Booked& booked_;
    std::vector<InMemory> sets_;  // in turn
};

}  // namespace

struct LoopNest::State {
    State(Team& owner, const NestSpec& asked, std::size_t sets, PagePolicy pages,
          const MemorySource& memory, const StopCheck& stop, std::shared_ptr<const Blas> library)
        : team(owner),
          spec(asked),
          blas(std::move(library)),
          nest(nests::describe(asked)),
          arrays(arrays_of(asked)),
          booked(booked_of(asked, arrays)),
          layout(lay_out(arrays)),
          copies(sets) {
        if (blas != nullptr) Blas::check(spec);
        const std::size_t bytes = bytes_of_sets(spec, layout, copies);
        for (std::size_t rank = 0; rank < team.size(); ++rank) {
            buffers.emplace_back(BufferRequest{.bytes = bytes, .pages = pages, .memory = memory},
                                 stop);
        }
    }

    [[nodiscard]] std::byte* begin_of(std::size_t rank, std::size_t copy,
                                      std::size_t array) const noexcept {
        return buffers[rank].data() + copy * layout.bytes + layout.begins[array];
    }
    [[nodiscard]] InMemory set(std::size_t rank, std::size_t copy) const noexcept {
        InMemory set;
        for (std::size_t i = 0; i < arrays.size(); ++i) set.begins[i] = begin_of(rank, copy, i);
        return set;
    }
    void fill(std::size_t rank) const noexcept {
        for (std::size_t copy = 0; copy < copies; ++copy) {
            for (std::size_t i = 0; i < arrays.size(); ++i) {
                nests::fill(team, i, reinterpret_cast<double*>(begin_of(rank, copy, i)),
                            arrays[i].bytes / sizeof(double));
            }
        }
    }
    [[nodiscard]] NestJob job(std::size_t rank, std::size_t repetitions) const {
        std::vector<InMemory> sets;
        sets.reserve(repetitions);
        for (std::size_t i = 0; i < repetitions; ++i)
            sets.push_back(set(rank, (next + i) % copies));
        return {team, spec, nest, blas.get(), booked, std::move(sets)};
    }
    [[nodiscard]] std::size_t used() const noexcept { return std::min(copies, executed); }

    Team& team;
    NestSpec spec;
    std::shared_ptr<const Blas> blas;
    Nest nest;
    std::vector<NestArray> arrays;
    Booked booked;
    SetLayout layout;
    std::size_t copies;
    std::vector<Buffer> buffers;  // of each thread
    std::size_t next = 0;         // set
    std::size_t executed = 0;
};

LoopNest::LoopNest(Team& team, const NestSpec& spec, std::size_t copies, PagePolicy pages,
                   const MemorySource& memory, const StopCheck& stop,
                   std::shared_ptr<const Blas> blas)
    : state_(std::make_unique<State>(team, spec, copies, pages, memory, stop, std::move(blas))) {
    team.parallel([this](std::size_t rank) { state_->fill(rank); }, stop);
}

LoopNest::~LoopNest() = default;

Slice LoopNest::run(std::size_t repetitions, const StopCheck& stop) {
    State& state = *state_;
    std::vector<NestJob> jobs;
    jobs.reserve(state.team.size());
    for (std::size_t rank = 0; rank < state.team.size(); ++rank) {
        jobs.push_back(state.job(rank, repetitions));
    }
    std::vector<Job*> pointers;
    pointers.reserve(jobs.size());
    for (NestJob& job : jobs) pointers.push_back(&job);
    Slice slice = state.team.run(pointers, stop);
    state.next = (state.next + repetitions) % state.copies;
    state.executed += repetitions;
    return slice;
}

std::vector<NestValidation> LoopNest::validate(const StopCheck& stop) {
    const State& state = *state_;
    if (state.used() == 0) return {};
    const nests::Products products(state.team, state.spec, state.nest, stop);
    std::vector<nests::Difference> found(state.team.size());
    state.team.parallel(
        [&](std::size_t rank) {
            for (std::size_t copy = 0; copy < state.used(); ++copy) {
                found[rank].add(nests::difference(state.team, state.spec, state.nest,
                                                  state.set(rank, copy), products));
            }
        },
        stop);
    nests::Difference total;
    for (const nests::Difference& of_rank : found) total.add(of_rank);
    return {nests::validation_of(state.spec, state.nest, state.arrays.back().name, total)};
}

std::vector<Backing> LoopNest::backing() const {
    std::vector<Backing> backings;
    for (const Buffer& buffer : state_->buffers) backings.push_back(buffer.backing());
    return backings;
}

const NestSpec& LoopNest::spec() const noexcept {
    return state_->spec;
}

void* LoopNest::array(std::size_t rank, std::size_t copy, std::size_t index) const {
    const State& state = *state_;
    if (rank < state.team.size() && copy < state.copies && index < state.arrays.size()) {
        return state.begin_of(rank, copy, index);
    }
    throw RequestError("loop nest " + std::string(to_string(state.spec.kind)) + " has no array " +
                       std::to_string(index) + " in set " + std::to_string(copy) + " of thread " +
                       std::to_string(rank) + ": there are " + std::to_string(state.arrays.size()) +
                       " arrays in each of " + std::to_string(state.copies) + " sets of " +
                       std::to_string(state.team.size()) + " threads");
}

void LoopNest::corrupt(std::size_t rank, std::size_t array, std::size_t element) {
    auto* const begin = static_cast<std::byte*>(this->array(rank, 0, array));
    const NestArray& asked = state_->arrays[array];
    const std::size_t elements = asked.bytes / asked.element_bytes;
    if (element >= elements) {
        throw RequestError("no element " + std::to_string(element) + " in array " + asked.name +
                           " to corrupt: it has " + std::to_string(elements));
    }
    kernels::flip_bit(ElementType::f64, begin + element * asked.element_bytes);
}

}  // namespace memgauge
