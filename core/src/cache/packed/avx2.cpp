// Packed sets by vectors of 32 bytes. Compiled with their instructions where the target may have
// them.

#include "cache/packed/levels.hpp"

namespace memgauge::cache {

#if defined(__AVX2__)

namespace {

struct EightWords {
    using Words [[gnu::vector_size(32)]] = Word;
    static constexpr unsigned lanes = 8;

    [[gnu::always_inline]] static Words counted() { return Words{0, 1, 2, 3, 4, 5, 6, 7}; }
    [[gnu::always_inline]] static Words shifted(Words before, Words words) {
        return __builtin_shufflevector(before, words, 7, 8, 9, 10, 11, 12, 13, 14);
    }
    [[gnu::always_inline]] static Words shifted_back(Words words, Words after) {
        return __builtin_shufflevector(words, after, 1, 2, 3, 4, 5, 6, 7, 8);
    }

    [[gnu::always_inline]] static unsigned bits(const std::array<Words, 2>& masks) {
        const auto half = [&](unsigned v) {
            return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(masks[v])));
        };
        return half(0) | half(1) << lanes;
    }
};

}  // namespace

const PackedCalls* avx2_packed_calls(PackedShape shape) {
    return packed_calls<PackedWords<EightWords>>(shape);
}

#else

const PackedCalls* avx2_packed_calls(PackedShape /*shape*/) {
    return nullptr;
}

#endif

}  // namespace memgauge::cache
