// Packed sets by vectors of 16 bytes.

#include "cache/packed/levels.hpp"

namespace memgauge::cache {

const PackedCalls* portable_packed_calls(PackedShape shape) {
    return packed_calls<PortableWords>(shape);
}

}  // namespace memgauge::cache
