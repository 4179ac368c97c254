#include "memgauge/gpu/transfers.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "gpu/gpu.hpp"
#include "memory.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

using Transfers = Closable<GpuTransfers>;

std::unique_ptr<GpuTransfers> with_host(OpenGpu& gpu, const GpuTransfersRequest& request) {
    return gpu.look([&](const Gpu& opened) {
        return std::make_unique<GpuTransfers>(opened, request, is_wished_to_stop);
    });
}

std::unique_ptr<GpuTransfers> with_peer(OpenGpu& gpu, OpenGpu& peer, std::size_t bytes) {
    return gpu.look([&](const Gpu& opened) {
        return peer.look([&](const Gpu& other) {
            return std::make_unique<GpuTransfers>(opened, other, bytes, is_wished_to_stop);
        });
    });
}

void init_transfers(Transfers* self, OpenGpu& gpu, std::size_t bytes, std::string_view host,
                    const Memory* memory, OpenGpu* peer) {
    const GpuTransfersRequest request{
        .bytes = bytes, .host = gpu_host_from_string(host), .memory = source_of(memory)};
    auto made = peer == nullptr ? with_host(gpu, request) : with_peer(gpu, *peer, bytes);
    new (self) Transfers(std::move(made), "GpuTransfers");
}

GpuTransfersRun request_of(std::string_view direction, std::size_t bytes, std::size_t iterations,
                           std::size_t repeats) {
    return {.direction = gpu_direction_from_string(direction),
            .bytes = bytes,
            .iterations = iterations,
            .repeats = repeats};
}

Slice run_transfer(Transfers& self, std::string_view direction, std::size_t bytes,
                   std::size_t iterations, std::size_t repeats) {
    const GpuTransfersRun request = request_of(direction, bytes, iterations, repeats);
    return self.with(
        [&](GpuTransfers& transfers) { return transfers.run(request, is_wished_to_stop); });
}

void start(Transfers& self, std::string_view direction, std::size_t bytes, std::size_t iterations,
           std::size_t repeats) {
    const GpuTransfersRun request = request_of(direction, bytes, iterations, repeats);
    self.with([&](GpuTransfers& transfers) { transfers.start(request, is_wished_to_stop); });
}

void corrupt(Transfers& self, std::string_view direction, std::size_t element) {
    const GpuDirection which = gpu_direction_from_string(direction);
    self.with([&](GpuTransfers& transfers) { transfers.corrupt(which, element); });
}

}  // namespace

void register_gpu_transfers(nb::module_& module) {
    final_class<Transfers>(module, "GpuTransfers")
        .def("__init__", &init_transfers, "gpu"_a, "bytes"_a, nb::kw_only(), "host"_a = "pinned",
             "memory"_a = nb::none(), "peer"_a = nb::none(), ReleaseGil(),
             "Buffers of `bytes` for each direction, at both ends: the GPU, and the host or a "
             "peer.\n\n"
             "`host`: pinned, by the driver, or of `memory` (nodes, an area) and then registered; "
             "or pageable. Raises RequestError: not so much memory, or it cannot be pinned.")
        .def("run", &run_transfer, "direction"_a, "bytes"_a, nb::kw_only(), "iterations"_a = 1,
             "repeats"_a = 1, ReleaseGil(),
             "Copies of `bytes`, `repeats` for each of `iterations` stamps, back to back.\n\n"
             "`direction`: host-to-device, device-to-host, both; with a peer to-peer, from-peer, "
             "both-peers. One thread's slice for each direction, in this order; bytes are not "
             "counted in it. Stamps are the GPU's, from event to event; of pageable memory the "
             "host's.")
        .def("start", &start, "direction"_a, "bytes"_a, nb::kw_only(), "iterations"_a = 1,
             "repeats"_a = 1, ReleaseGil(),
             "Queue a run and return at once; RequestError for pageable memory.")
        .def("finish", Transfers::method(&GpuTransfers::finish), ReleaseGil(),
             "Wait for what was started.")
        .def_prop_ro(
            "host_was_slower", Transfers::getter(&GpuTransfers::host_was_slower),
            "Of the last run by events: copies may have waited for the host to queue them.")
        .def_prop_ro("direct", Transfers::getter(&GpuTransfers::direct),
                     "With a peer: each reaches the other's memory.")
        .def("validate", Transfers::method(&GpuTransfers::validate), ReleaseGil(),
             "Each 8 bytes that arrived since the last call: d on this GPU, h on the host, p "
             "beyond.")
        .def("corrupt", &corrupt, "direction"_a, "element"_a, ReleaseGil())
        .def("backing", Transfers::getter(&GpuTransfers::backing), ReleaseGil(),
             "Of the host's buffers; none where the driver allocates them.")
        .def("close", &Transfers::close, ReleaseGil(),
             "Free the buffers now; later calls raise RuntimeError.");
}

}  // namespace memgauge::bindings
