#include "memory/accesses/slots.hpp"

#include <bit>
#include <string>

#include "memgauge/error.hpp"
#include "memory/pages/huge_pages.hpp"

namespace memgauge::memory {

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw RequestError("cannot access memory by this pattern: " + why);
}

std::size_t accessed_bytes(const AccessPattern& pattern) {
    return pattern.kind == PatternKind::saxpy ? sizeof(float) : pattern.access_bytes;
}

void check_access(const AccessPattern& pattern) {
    const std::size_t access = accessed_bytes(pattern);
    if (pattern.kind != PatternKind::saxpy && access != sizeof(std::uint64_t) &&
        (access == 0 || access % line_bytes != 0)) {
        refuse("an access of " + std::to_string(access) +
               " bytes is neither one word nor whole lines; use 8 or a multiple of 64 bytes");
    }
}

void check_stride(const AccessPattern& pattern) {
    const std::size_t access = accessed_bytes(pattern);
    const std::size_t unit = access < line_bytes ? access : line_bytes;
    const std::string stride = "a stride of " + std::to_string(pattern.stride_bytes) + " bytes ";
    if (pattern.stride_bytes < access) {
        refuse(stride + "is less than the " + std::to_string(access) +
               " bytes of one access; use that or more");
    }
    if (pattern.stride_bytes % unit != 0) {
        refuse(stride + "would split what is accessed as one; use a multiple of " +
               std::to_string(unit) + " bytes");
    }
}

void check_spread(const AccessPattern& pattern) {
    const std::string spread = "a spread over " + std::to_string(pattern.spread_lines) + " lines ";
    if (!std::has_single_bit(pattern.spread_lines)) {
        refuse(spread + "is not a power of two; use 1, 2, 4, ...");
    }
    const std::size_t access = accessed_bytes(pattern);
    if (pattern.spread_lines - 1 > (pattern.stride_bytes - access) / line_bytes) {
        refuse(spread + "leaves the " + std::to_string(pattern.stride_bytes) +
               " bytes from slot to slot; use fewer lines or a wider stride");
    }
}

void check_slots(const AccessPattern& pattern, std::size_t buffer_bytes) {
    const bool saxpy = pattern.kind == PatternKind::saxpy;
    std::size_t room = buffer_bytes;
    if (saxpy) {
        room = buffer_bytes > y_offset(buffer_bytes) ? buffer_bytes - y_offset(buffer_bytes) : 0;
    }
    const std::string slots = std::to_string(pattern.slots) + " slots ";
    if (pattern.slots == 0) {
        refuse("it has no slots; ask for at least one");
    }
    if (pattern.slots > room / pattern.stride_bytes) {
        refuse(slots + "of " + std::to_string(pattern.stride_bytes) + " bytes do not fit into " +
               size_text(room) + (saxpy ? " (half of the buffer)" : "") +
               "; use fewer, or a larger buffer");
    }
    if (pattern.order == AccessOrder::random && !std::has_single_bit(pattern.slots)) {
        refuse(slots + "in random order are not a power of two; use " +
               std::to_string(std::bit_floor(pattern.slots)));
    }
}

}  // namespace

// One step is x -> multiplier * x + increment; steps are doubled by putting one into the other.
Scramble::Scramble(unsigned bits, std::uint64_t counter) noexcept
    : mask_((std::uint64_t{1} << bits) - 1), shift_(scramble_shift(bits)) {
    std::uint64_t factor = scramble_multiplier;
    std::uint64_t summand = scramble_increment;
    for (std::uint64_t steps = counter & mask_; steps != 0; steps >>= 1U) {
        if ((steps & 1U) != 0) {
            state_ = state_ * factor + summand;
        }
        summand = factor * summand + summand;
        factor *= factor;
    }
    state_ &= mask_;
}

void check(const AccessPattern& pattern, std::size_t buffer_bytes) {
    check_access(pattern);
    check_stride(pattern);
    check_spread(pattern);
    check_slots(pattern, buffer_bytes);
}

}  // namespace memgauge::memory
