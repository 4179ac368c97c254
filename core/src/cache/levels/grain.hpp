#pragma once
// How addresses are cut: into lines and their sectors, and into the parts that threads simulate.

#include <bit>
#include <cstdint>

#include "cache/engine.hpp"
#include "cache/levels/marks.hpp"

namespace memgauge::cache {

struct Grain {
    Grain(const CacheMachine& machine, Part of)
        : line_bits(static_cast<unsigned>(std::countr_zero(machine.line_bytes))),
          sector_bits(static_cast<unsigned>(std::countr_zero(machine.sector_bytes))),
          sectors_mask(static_cast<unsigned>(machine.line_bytes / machine.sector_bytes - 1)),
          part(of),
          parts_mask(std::has_single_bit(of.count) ? of.count - 1 : 0) {}

    [[nodiscard, gnu::always_inline]] bool is_here(std::uint64_t address) const {
        if (part.count == 1) return true;
        const std::uint64_t line = address >> line_bits;
        return (parts_mask != 0 ? line & parts_mask : line % part.count) == part.index;
    }

    [[nodiscard, gnu::always_inline]] std::uint8_t sector(std::uint64_t address) const {
        return static_cast<std::uint8_t>(1u << (address >> sector_bits & sectors_mask));
    }

    // Calls each(address) for the begin of each piece that lies in this part.
    template <class Each>
    [[gnu::always_inline]] void pieces(std::uint64_t address, std::uint64_t bytes,
                                       const Each& each) const {
        const std::uint64_t last = (address + bytes - 1) >> sector_bits;
        for (std::uint64_t sector = address >> sector_bits; sector <= last; ++sector) {
            const std::uint64_t begin = sector << sector_bits;
            if (is_here(begin)) each(begin);
        }
    }

    // Steps out of so many, by a stride that is a power of two below a line, that lie in this part.
    [[nodiscard]] std::uint64_t steps_here(std::uint64_t address, std::int64_t stride,
                                           std::uint64_t count) const;

    unsigned line_bits;
    unsigned sector_bits;
    unsigned sectors_mask;
    Part part;
    unsigned parts_mask;  // 0: their number is no power of two
};

template <class Caches>
[[gnu::always_inline]] inline Piece piece_at(Caches& caches, const Grain& grain,
                                             std::uint64_t address, std::uint8_t stream) {
    const std::uint8_t sector = Caches::sectored ? grain.sector(address) : std::uint8_t{1};
    return {caches.numbers().number(address), sector, stream};
}

}  // namespace memgauge::cache
