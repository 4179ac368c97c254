// Packed sets by vectors of 64 bytes: 16 ways at once. Compiled with their instructions where the
// target may have them.

#include "cache/packed/levels.hpp"

namespace memgauge::cache {

#if defined(__AVX512F__)

namespace {

// As PackedWords.
struct SixteenWords {
    [[gnu::always_inline]] static unsigned ways_of(const Word* set, Word line, Word line_mask) {
        const __m512i differing = _mm512_xor_si512(load(set), all(line));
        return _mm512_testn_epi32_mask(differing, all(line_mask));
    }

    [[gnu::always_inline]] static void push(Word* set, Word word) {
        // As without a mask, of which gcc says that it uses what is undefined.
        store(set, _mm512_maskz_alignr_epi32(0xffff, load(set), all(word), words_together - 1));
    }

    [[gnu::always_inline]] static void to_front(Word* set, unsigned way, Word word) {
        const __m512i words = load(set);
        const auto moves = static_cast<__mmask16>((2u << way) - 1);
        store(set, _mm512_mask_alignr_epi32(words, moves, words, all(word), words_together - 1));
    }

    [[gnu::always_inline]] static void take_out(Word* set, unsigned way, Word next) {
        const __m512i words = load(set);
        const auto moves = static_cast<__mmask16>(0xffffu << way);
        store(set, _mm512_mask_alignr_epi32(words, moves, all(next), words, 1));
    }

    [[gnu::always_inline]] static unsigned meeting(const Word* sets, const Word* lines, Word set,
                                                   Word line) {
        return _mm512_mask_cmpneq_epi32_mask(_mm512_cmpeq_epi32_mask(load(sets), all(set)),
                                             load(lines), all(line));
    }

    [[gnu::always_inline]] static void put(Word* at, unsigned lane, Word word) {
        store(at, _mm512_mask_set1_epi32(load(at), static_cast<__mmask16>(1u << lane),
                                         static_cast<int>(word)));
    }

private:
    [[gnu::always_inline]] static __m512i all(Word word) {
        return _mm512_set1_epi32(static_cast<int>(word));
    }
    [[gnu::always_inline]] static __m512i load(const Word* from) { return _mm512_load_si512(from); }
    [[gnu::always_inline]] static void store(Word* to, __m512i words) {
        _mm512_store_si512(to, words);
    }
};

}  // namespace

const PackedCalls* avx512_packed_calls(PackedShape shape) {
    return packed_calls<SixteenWords>(shape);
}

#else

const PackedCalls* avx512_packed_calls(PackedShape /*shape*/) {
    return nullptr;
}

#endif

}  // namespace memgauge::cache
