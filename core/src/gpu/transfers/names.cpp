#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "memgauge/error.hpp"
#include "memgauge/gpu/transfers.hpp"

namespace memgauge {
namespace {

constexpr std::array<std::string_view, 2> host_names{"pinned", "pageable"};
constexpr std::array<std::string_view, 6> direction_names{
    "host-to-device", "device-to-host", "both", "to-peer", "from-peer", "both-peers"};

template <class Kind, std::size_t count>
Kind named(const std::array<std::string_view, count>& names, std::string_view name,
           const std::string& what) {
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<Kind>(found - names.begin());
    std::string all;
    for (const std::string_view each : names) all += (all.empty() ? "" : ", ") + std::string(each);
    throw RequestError("unknown " + what + " '" + std::string(name) + "'; choose among " + all);
}

}  // namespace

std::string_view to_string(GpuHost host) noexcept {
    return host_names[static_cast<std::size_t>(host)];
}

GpuHost gpu_host_from_string(std::string_view name) {
    return named<GpuHost>(host_names, name, "kind of host memory");
}

std::string_view to_string(GpuDirection direction) noexcept {
    return direction_names[static_cast<std::size_t>(direction)];
}

GpuDirection gpu_direction_from_string(std::string_view name) {
    return named<GpuDirection>(direction_names, name, "direction of transfers");
}

}  // namespace memgauge
