#pragma once
// What one thread does in one slice of stream measurements.

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/arrays/layout.hpp"
#include "kernels/arrays/replay.hpp"
#include "memgauge/clock.hpp"
#include "memgauge/memory_source.hpp"

namespace memgauge::kernels {

// The three arrays as a thread sees them.
struct ArrayViews {
    ElementType element = ElementType::f64;
    std::array<std::byte*, 3> data{};
    // Of arrays in a pool: the object that begins with the first element. Else zero.
    std::array<ObjectId, 3> objects{};

    [[nodiscard]] std::byte* at(std::size_t array, std::size_t index) const noexcept {
        return data[array] + index * element_bytes(element);
    }
    [[nodiscard]] std::array<ObjectId, 3> objects_at(std::size_t index) const noexcept {
        std::array<ObjectId, 3> moved = objects;
        for (ObjectId& object : moved) object.offset += index * element_bytes(element);
        return moved;
    }
};

// Fills a range of all three with what a new BlockState says.
void fill_block(const ArrayViews& views, const Range& range) noexcept;

// Calls the kernel on a range of the arrays. `write` is split where the ramp wraps. Of translated
// access, the arrays that it concerns have objects, and ready_access() was called on this thread.
void call_kernel(const KernelSpec& spec, KernelFunction kernel, const ArrayViews& views,
                 const Range& range, double scalar) noexcept;

// What all threads do alike.
struct StreamPlan {
    KernelSpec spec;
    KernelFunction kernel;
    SliceRequest slice;
    double scalar;                     // of the lead-in and the first iteration; see sign_flips
    bool sign_flips;                   // update: the scalar changes sign with each iteration
    std::vector<std::size_t> refills;  // blocks to fill before anything else
};

class StreamJob final : public Job {
public:
    StreamJob(const StreamPlan& plan, const ArrayLayout& layout, const ArrayViews& views,
              std::size_t rank) noexcept;
    void prepare() override;
    void run(ThreadSlice& slice) noexcept override;
    [[nodiscard]] std::size_t iterations() const noexcept override {
        return plan_.slice.iterations;
    }

private:
    void walk(const ArrayLayout::Ranges& ranges, double scalar) const noexcept;
    // Adds what was walked to the traffic that this process is known to cause.
    void book(const ArrayLayout::Ranges& walked, std::size_t times) const noexcept;

    const StreamPlan& plan_;
    const ArrayLayout& layout_;
    const ArrayViews& views_;
    std::size_t rank_;
    ArrayLayout::Ranges timed_;
};

}  // namespace memgauge::kernels
