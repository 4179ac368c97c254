#include "memgauge/names.hpp"

#include <string_view>

#include "memgauge/gpu/transfers.hpp"

namespace memgauge {
namespace {

constexpr Names<2> host_names{"pinned", "pageable"};
constexpr Names<6> direction_names{"host-to-device", "device-to-host", "both",
                                   "to-peer",        "from-peer",      "both-peers"};

}  // namespace

std::string_view to_string(GpuHost host) noexcept {
    return name_of(host_names, host);
}

GpuHost gpu_host_from_string(std::string_view name) {
    return value_of<GpuHost>(host_names, "kind of host memory", name);
}

std::string_view to_string(GpuDirection direction) noexcept {
    return name_of(direction_names, direction);
}

GpuDirection gpu_direction_from_string(std::string_view name) {
    return value_of<GpuDirection>(direction_names, "direction of transfers", name);
}

}  // namespace memgauge
