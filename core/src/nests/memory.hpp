#pragma once
// Arrays that lie in memory.

#include <array>
#include <cstddef>
#include <cstdint>

#include "nests/description.hpp"

namespace memgauge::nests {

struct InMemory {
    std::array<void*, most_references> begins{};

    template <class Element>
    [[nodiscard]] const Element* in(std::size_t array, std::size_t offset) const noexcept {
        return static_cast<const Element*>(begins[array]) + offset;
    }
    template <class Element>
    [[nodiscard]] Element* out(std::size_t array, std::size_t offset) const noexcept {
        return static_cast<Element*>(begins[array]) + offset;
    }
    // May lie behind the array: such an address is never formed as a pointer into it.
    template <class Element>
    static void prefetch_for_store(Element* to, std::size_t offset) noexcept {
        const std::uintptr_t address =
            reinterpret_cast<std::uintptr_t>(to) + offset * sizeof(Element);
        __builtin_prefetch(reinterpret_cast<const void*>(address), 1);
    }
    template <class Element>
    static void prefetch_for_load(const Element* from, std::size_t offset) noexcept {
        const std::uintptr_t address =
            reinterpret_cast<std::uintptr_t>(from) + offset * sizeof(Element);
        __builtin_prefetch(reinterpret_cast<const void*>(address), 0);
    }
};

// Of nests that prefetch more than stores, once; in a file of its own, so that the code of the
// others stays as it is.
void run_prefetching(const Nest& nest, const InMemory& arrays, const Team* team) noexcept;

// With a team, what is left is given up when it is asked to stop.
void run(const Nest& nest, const InMemory& arrays, const Team* team = nullptr) noexcept;

}  // namespace memgauge::nests
