#pragma once
// Searching the tags of a set, and keeping the order of its ways, several at a time. Vectors of 16
// bytes, which all our processors have.

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace memgauge::cache {

// Records of sets have room for so many tags, or for as many as needed.
inline constexpr unsigned narrow_slots = 16;
inline constexpr unsigned wide_slots = 2 * narrow_slots;
inline constexpr unsigned ranks_in_vector = 16;

using Ranks [[gnu::vector_size(ranks_in_vector)]] = std::int8_t;

#if defined(__SSE2__)

[[gnu::always_inline]] inline unsigned equal_bytes(Ranks a, Ranks b) {
    return static_cast<unsigned>(
        _mm_movemask_epi8(reinterpret_cast<__m128i>(static_cast<Ranks>(a == b))));
}

[[gnu::always_inline]] inline __m128i equal_quad(const std::uint32_t* tags, __m128i wanted) {
    return _mm_cmpeq_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(tags)), wanted);
}

// Bit w: tag w of 16 is the one.
[[gnu::always_inline]] inline unsigned equal_tags(const std::uint32_t* tags, std::uint32_t tag) {
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
    const __m128i front = _mm_packs_epi32(equal_quad(tags, wanted), equal_quad(tags + 4, wanted));
    const __m128i back =
        _mm_packs_epi32(equal_quad(tags + 8, wanted), equal_quad(tags + 12, wanted));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(front, back)));
}

#else

[[gnu::always_inline]] inline unsigned equal_bytes(Ranks a, Ranks b) {
    unsigned mask = 0;
    for (unsigned i = 0; i < ranks_in_vector; ++i) mask |= unsigned{a[i] == b[i]} << i;
    return mask;
}

[[gnu::always_inline]] inline unsigned equal_tags(const std::uint32_t* tags, std::uint32_t tag) {
    unsigned mask = 0;
    for (unsigned i = 0; i < narrow_slots; ++i) mask |= unsigned{tags[i] == tag} << i;
    return mask;
}

#endif

[[gnu::always_inline]] inline Ranks all_ranks(int rank) {
    const auto r = static_cast<std::int8_t>(rank);
    return Ranks{r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r};
}

[[gnu::always_inline]] inline Ranks load_ranks(const std::int8_t* from) {
    Ranks ranks;
    std::memcpy(&ranks, from, sizeof ranks);
    return ranks;
}

// The way of rank `old` comes to the front; those in front of it go one back.
[[gnu::always_inline]] inline void to_front(std::int8_t* at, Ranks old) {
    const Ranks ranks = load_ranks(at);
    const Ranks moved =
        (ranks - static_cast<Ranks>(ranks < old)) & ~static_cast<Ranks>(ranks == old);
    std::memcpy(at, &moved, sizeof moved);
}

// The same; bit w: it was way w.
[[gnu::always_inline]] inline unsigned renew_ranks(std::int8_t* at, Ranks last) {
    const unsigned mask = equal_bytes(load_ranks(at), last);
    to_front(at, last);
    return mask;
}

}  // namespace memgauge::cache
