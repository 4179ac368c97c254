#include "memgauge/accesses.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "memgauge/names.hpp"
#include "memory/accesses/cache_flush.hpp"
#include "memory/accesses/slots.hpp"
#include "memory/accesses/walk.hpp"

namespace memgauge {

namespace {

constexpr std::size_t filled_between_stops = std::size_t{4} << 20U;
constexpr float saxpy_scalar = 0x1p-10F;  // small: y stays near where it began

// The bits of 1 + (i mod 2^23) * 2^-23, the ramp of the float kernels: none is zero.
void fill(std::byte* begin, std::size_t bytes, const Team& team) {
    auto* const words = reinterpret_cast<std::uint32_t*>(begin);
    const std::size_t count = bytes / sizeof *words;
    constexpr std::size_t step = filled_between_stops / sizeof *words;
    for (std::size_t first = 0; first < count && !team.stop_requested(); first += step) {
        const std::size_t end = std::min(count, first + step);
        for (std::size_t index = first; index < end; ++index) {
            words[index] = 0x3F80'0000U | static_cast<std::uint32_t>(index & 0x7F'FFFFU);
        }
    }
}

// Of one call of AccessBuffer::run.
struct Amounts {
    std::size_t accesses;
    std::size_t warm_accesses;
    std::size_t iterations;
    bool flush;

    [[nodiscard]] std::size_t all() const noexcept { return warm_accesses + iterations * accesses; }
};

class Accesses final : public Job {
public:
    Accesses(const memory::Accessed& memory, const AccessPattern& pattern, std::uint64_t counter,
             const Amounts& amounts)
        : memory_(memory), pattern_(pattern), counter_(counter), amounts_(amounts) {}

    void prepare() override {
        if (amounts_.flush) {
            memory::flush(memory_, pattern_, counter_, amounts_.all());
            memory::lead_in(memory_, pattern_, counter_, amounts_.all());
        }
        go_on(amounts_.warm_accesses);
    }

    void run(ThreadSlice& slice) noexcept override {
        const Clock& clock = Clock::instance();
        for (std::size_t iteration = 0; iteration < amounts_.iterations; ++iteration) {
            const Ticks begin = clock.now();
            go_on(amounts_.accesses);
            slice.iterations.push_back({begin, clock.now()});
        }
    }

    [[nodiscard]] std::size_t iterations() const noexcept override { return amounts_.iterations; }

private:
    void go_on(std::size_t accesses) noexcept {
        std::uint64_t read = memory::access(memory_, pattern_, counter_, accesses);
        // Used in a way no compiler sees through, even when it inlines the call.
        asm volatile("" : "+r"(read));
        counter_ += accesses;
    }

    memory::Accessed memory_;
    AccessPattern pattern_;
    std::uint64_t counter_;
    Amounts amounts_;
};

constexpr Names<3> access_kind_names{"dependent", "independent", "saxpy"};
constexpr Names<2> access_order_names{"sequential", "random"};

}  // namespace

std::string_view to_string(PatternKind kind) noexcept {
    return name_of(access_kind_names, kind);
}

std::string_view to_string(AccessOrder order) noexcept {
    return name_of(access_order_names, order);
}

PatternKind pattern_kind_from_string(std::string_view name) {
    return value_of<PatternKind>(access_kind_names, "access kind", name);
}

AccessOrder access_order_from_string(std::string_view name) {
    return value_of<AccessOrder>(access_order_names, "access order", name);
}

struct AccessBuffer::State {
    State(Team& a_team, const BufferRequest& request, const StopCheck& stop)
        : team(a_team), buffer(request, stop) {}

    Team& team;
    Buffer buffer;
    std::map<AccessPattern, std::uint64_t> counters;  // where the next run goes on
    bool adds = false;                                // the sign of the last saxpy
};

AccessBuffer::AccessBuffer(Team& team, std::size_t bytes, PagePolicy pages,
                           const MemorySource& memory, const StopCheck& stop) {
    BufferRequest request;
    request.bytes = bytes;
    request.pages = pages;
    request.memory = memory;
    state_ = std::make_unique<State>(team, request, stop);
    const Buffer& buffer = state_->buffer;
    const auto touch = [&](std::size_t rank) {
        if (rank == 0) {
            fill(buffer.data(), buffer.size(), team);
        }
    };
    team.parallel(touch, stop);
}

AccessBuffer::~AccessBuffer() = default;

Slice AccessBuffer::run(const AccessPattern& pattern, std::size_t accesses,
                        std::size_t warm_accesses, std::size_t iterations, bool flush) {
    const Buffer& buffer = state_->buffer;
    memory::check(pattern, buffer.size());
    if (accesses == 0) {
        throw RequestError("cannot time no accesses; ask for at least one");
    }
    if (flush && !memory::can_flush) {
        throw RequestError(
            "cannot flush lines from the caches: the instruction for it is not known on this "
            "processor; access more memory than the caches hold instead");
    }
    if (pattern.kind == PatternKind::saxpy) {
        state_->adds = !state_->adds;
    }
    const memory::Accessed memory{buffer.data(), buffer.size(),
                                  state_->adds ? saxpy_scalar : -saxpy_scalar};
    const Amounts amounts{accesses, warm_accesses, iterations, flush};
    std::uint64_t& counter = state_->counters[pattern];
    Accesses job(memory, pattern, counter, amounts);
    std::vector<Job*> jobs(state_->team.size(), nullptr);
    jobs.front() = &job;
    const Slice slice = state_->team.run(jobs);
    counter += amounts.all();
    return slice;
}

std::size_t AccessBuffer::bytes() const noexcept {
    return state_->buffer.size();
}

Backing AccessBuffer::backing() const {
    return state_->buffer.backing();
}

}  // namespace memgauge
