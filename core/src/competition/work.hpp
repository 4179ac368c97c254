#pragma once
// What a member does: the same iteration, over and over.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "competition/arrays.hpp"
#include "competition/contents.hpp"
#include "kernels/table.hpp"
#include "load/generator.hpp"
#include "load/spec.hpp"
#include "threads/spin.hpp"

namespace memgauge::competition {

// One member, and what became of its arrays.
struct Member {
    Member(const MemberRequest& request, const CompetitionRequest& all, const StopCheck& stop)
        : rank(request.rank),
          arrays(request, all, stop),
          contents(arrays.elements(), {fill_factors.back(), 0.0}) {}

    std::size_t rank;
    Arrays arrays;
    Contents contents;  // of the destination
    // Each operation goes on where it was.
    std::array<Cursor, kernels::operation_count> cursors{};
    std::unique_ptr<load::Generator> generator;  // once it made traffic
    bool worked = false;
};

struct IterationBytes {
    std::uint64_t read;
    std::uint64_t write;
    std::uint64_t write_allocate;  // read beside what is written
};

// What it touches while it runs lies on lines of its own.
class alignas(line_bytes) IteratedWork {
public:
    IteratedWork() = default;
    IteratedWork(const IteratedWork&) = delete;
    IteratedWork& operator=(const IteratedWork&) = delete;
    virtual ~IteratedWork() = default;

    // Before the first iteration, on the thread that will work.
    virtual void prepare() noexcept = 0;
    virtual void iterate() noexcept = 0;
    // Notes in the member that so many iterations were made.
    virtual void settle(std::size_t iterations) = 0;
    [[nodiscard]] virtual IterationBytes bytes() const noexcept = 0;
};

class KernelWork final : public IteratedWork {
public:
    // RequestError: no such kernel, or arrays it cannot be run on.
    KernelWork(Member& member, const KernelSpec& spec, std::size_t iteration_bytes);

    void prepare() noexcept override;
    void iterate() noexcept override;
    void settle(std::size_t iterations) override;
    [[nodiscard]] IterationBytes bytes() const noexcept override;

private:
    [[nodiscard]] double scalar(bool odd_lap) const noexcept {
        return odd_lap ? -scalar_ : scalar_;
    }

    Member& member_;
    KernelSpec spec_;
    KernelFunction kernel_;
    kernels::ArrayViews views_;
    std::size_t elements_;  // of an iteration
    double scalar_;
    Cursor& left_at_;  // as of the last settle()
    Cursor at_;
};

class TrafficWork final : public IteratedWork {
public:
    // RequestError: as check(spec), arrays that are not of doubles, or too small.
    TrafficWork(Member& member, const TrafficSpec& spec, std::size_t iteration_bytes);

    void prepare() noexcept override;
    void iterate() noexcept override;
    void settle(std::size_t iterations) override;
    [[nodiscard]] IterationBytes bytes() const noexcept override;

private:
    Member& member_;
    TrafficSpec spec_;
    load::Mix mix_;
    std::size_t pieces_;  // of an iteration
    bool refills_;        // stores write the fill again: what is not written must hold it too
};

// RequestError: also where the member lacks arrays.
std::unique_ptr<IteratedWork> make_work(Member& member, const Work& work,
                                        std::size_t iteration_bytes);

}  // namespace memgauge::competition
