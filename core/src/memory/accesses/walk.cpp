// Compiled without the vectoriser: one access is one access in every pattern.

#include "memory/accesses/walk.hpp"

#include <algorithm>
#include <cstring>

#include "memory/accesses/cache_flush.hpp"
#include "memory/accesses/slots.hpp"

namespace memgauge::memory {

namespace {

using Word = std::uint64_t;

// How much of an access is unrolled; longer ones repeat it.
constexpr std::size_t block_lines = 4;
enum class Extent : std::uint8_t { line, lines, blocks };

Extent extent_of(const AccessPattern& pattern) noexcept {
    if (pattern.access_bytes <= line_bytes) return Extent::line;
    return lines_of(pattern) % block_lines == 0 ? Extent::blocks : Extent::lines;
}

template <class T>
[[gnu::always_inline]] inline T load(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

[[gnu::always_inline]] inline Word word_of_each(const std::byte* block) noexcept {
    return (load<Word>(block) + load<Word>(block + line_bytes)) +
           (load<Word>(block + 2 * line_bytes) + load<Word>(block + 3 * line_bytes));
}

// The sum of one word of every line of an access.
template <Extent extent>
[[gnu::always_inline]] inline Word sum_of(const std::byte* where, std::size_t lines) noexcept {
    if constexpr (extent == Extent::line) {
        return load<Word>(where);
    }
    Word sum = 0;
    if constexpr (extent == Extent::lines) {
        for (std::size_t line = 0; line < lines; ++line) {
            sum += load<Word>(where + line * line_bytes);
        }
    } else {
        for (std::size_t line = 0; line < lines; line += block_lines) {
            sum += word_of_each(where + line * line_bytes);
        }
    }
    return sum;
}

// The address of an access is known when all lines of the last one have arrived. What was read is
// masked by a zero that the compiler does not know.
template <Extent extent>
class Dependent {
public:
    Dependent(const Accessed& memory, const AccessPattern& pattern) noexcept
        : base_(memory.base), lines_(lines_of(pattern)) {
        asm volatile("" : "+r"(zero_));
    }

    template <std::size_t>
    [[gnu::always_inline]] void at(std::size_t offset) noexcept {
        sum_ = sum_of<extent>(base_ + (offset + static_cast<std::size_t>(sum_ & zero_)), lines_);
    }

    [[nodiscard]] Word result() const noexcept { return sum_; }

private:
    const std::byte* base_;
    std::size_t lines_;
    Word zero_ = 0;
    Word sum_ = 0;
};

// The same loads, without waiting. One to a line: each more would take a place in the load queue
// and so keep a line from being in flight.
template <Extent extent>
class Independent {
public:
    Independent(const Accessed& memory, const AccessPattern& pattern) noexcept
        : base_(memory.base), lines_(lines_of(pattern)) {}

    template <std::size_t turn>
    [[gnu::always_inline]] void at(std::size_t offset) noexcept {
        sums_[turn] += sum_of<extent>(base_ + offset, lines_);
    }

    [[nodiscard]] Word result() const noexcept { return sums_[0] + sums_[1] + sums_[2] + sums_[3]; }

private:
    const std::byte* base_;
    std::size_t lines_;
    Word sums_[4]{};
};

// y += a * x, rounded after each operation (compiled without contraction).
class Saxpy {
public:
    Saxpy(const Accessed& memory, const AccessPattern&) noexcept
        : x_(memory.base), y_(memory.base + y_offset(memory.bytes)), a_(memory.scalar) {}

    template <std::size_t>
    [[gnu::always_inline]] void at(std::size_t offset) noexcept {
        const float sum = load<float>(y_ + offset) + a_ * load<float>(x_ + offset);
        std::memcpy(y_ + offset, &sum, sizeof sum);
    }

    [[nodiscard]] static Word result() noexcept { return 0; }

private:
    const std::byte* x_;
    std::byte* y_;
    float a_;
};

// Of rising offsets each line once.
class Flusher {
public:
    explicit Flusher(const std::byte* base) noexcept : base_(base) {}

    void range(std::size_t offset, std::size_t length) noexcept {
        const std::size_t end = offset + length;
        for (std::size_t at = offset >= last_ ? std::max(offset, end_) : offset; at < end;
             at += line_bytes) {
            flush_line(base_ + at);
        }
        last_ = offset;
        end_ = end;
    }

private:
    const std::byte* base_;
    std::size_t last_ = 0;
    std::size_t end_ = 0;
};

// Four accesses to a turn of the loop.
template <class Kind, class Slots>
Word repeat(Kind kind, Slots slots, std::size_t accesses) noexcept {
    for (std::size_t turns = accesses / 4; turns != 0; --turns) {
        kind.template at<0>(slots.next());
        kind.template at<1>(slots.next());
        kind.template at<2>(slots.next());
        kind.template at<3>(slots.next());
    }
    for (std::size_t rest = accesses % 4; rest != 0; --rest) {
        kind.template at<0>(slots.next());
    }
    return kind.result();
}

template <class Kind>
Word repeat(const Accessed& memory, const AccessPattern& pattern, std::uint64_t counter,
            std::size_t accesses) noexcept {
    return with_slots(pattern, counter,
                      [&](auto slots) { return repeat(Kind(memory, pattern), slots, accesses); });
}

template <template <Extent> class Kind>
Word repeat_extent(const Accessed& memory, const AccessPattern& pattern, std::uint64_t counter,
                   std::size_t accesses) noexcept {
    switch (extent_of(pattern)) {
        case Extent::line:
            return repeat<Kind<Extent::line>>(memory, pattern, counter, accesses);
        case Extent::lines:
            return repeat<Kind<Extent::lines>>(memory, pattern, counter, accesses);
        case Extent::blocks:
            break;
    }
    return repeat<Kind<Extent::blocks>>(memory, pattern, counter, accesses);
}

constexpr std::size_t lead_in_lines = 16384;  // 1 MiB

// By base pages whatever was asked for, because a hypervisor's may be no larger. At most as many as
// a line of the page table has entries are passed over, and only while enough are looked up to fill
// any TLB.
void look_up_translations(const Accessed& memory) noexcept {
    constexpr std::size_t entries_in_a_line = line_bytes / sizeof(std::uint64_t);
    constexpr std::size_t enough = 16384;
    const std::size_t pages = memory.bytes / base_page_bytes();
    const std::size_t step = std::clamp<std::size_t>(pages / enough, 1, entries_in_a_line);
    for (std::size_t page = 0; page < pages; page += step) {
        flush_line(memory.base + page * base_page_bytes());
    }
    finish_flushes();
}

}  // namespace

std::uint64_t access(const Accessed& memory, const AccessPattern& pattern, std::uint64_t counter,
                     std::size_t accesses) noexcept {
    switch (pattern.kind) {
        case PatternKind::dependent:
            return repeat_extent<Dependent>(memory, pattern, counter, accesses);
        case PatternKind::independent:
            return repeat_extent<Independent>(memory, pattern, counter, accesses);
        case PatternKind::saxpy:
            break;
    }
    return repeat<Saxpy>(memory, pattern, counter, accesses);
}

void flush(const Accessed& memory, const AccessPattern& pattern, std::uint64_t counter,
           std::size_t accesses) noexcept {
    const std::size_t read_bytes = lines_of(pattern) * line_bytes;
    Flusher x(memory.base);
    Flusher y(memory.base + y_offset(memory.bytes));
    with_slots(pattern, counter, [&](auto slots) {
        for (std::size_t left = accesses; left != 0; --left) {
            const std::size_t offset = slots.next() / line_bytes * line_bytes;
            x.range(offset, read_bytes);
            if (pattern.kind == PatternKind::saxpy) {
                y.range(offset, read_bytes);
            }
        }
    });
    finish_flushes();
}

void lead_in(const Accessed& memory, const AccessPattern& pattern, std::uint64_t counter,
             std::size_t coming) noexcept {
    if (pattern.kind == PatternKind::saxpy) {
        look_up_translations(memory);
        return;
    }
    const std::size_t others = pattern.slots - std::min(pattern.slots, coming);
    const std::size_t accesses = std::min(others, lead_in_lines / lines_of(pattern));
    AccessPattern independent = pattern;
    independent.kind = PatternKind::independent;
    // A pass later is the same place.
    const std::uint64_t first = counter % pattern.slots + pattern.slots - accesses;
    std::uint64_t read = access(memory, independent, first, accesses);
    asm volatile("" : "+r"(read));
}

}  // namespace memgauge::memory
