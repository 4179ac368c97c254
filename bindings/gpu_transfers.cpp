#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "gpu.hpp"
#include "memgauge/gpu/transfers.hpp"
#include "memory.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

using Transfers = Closable<GpuTransfers>;

std::unique_ptr<GpuTransfers> with_host(OpenGpu& gpu, const GpuTransfersRequest& request) {
    return gpu.look([&](const Gpu& opened) {
        return std::make_unique<GpuTransfers>(opened, request, signal_raised);
    });
}

std::unique_ptr<GpuTransfers> with_peer(OpenGpu& gpu, OpenGpu& peer, std::size_t bytes) {
    return gpu.look([&](const Gpu& opened) {
        return peer.look([&](const Gpu& other) {
            return std::make_unique<GpuTransfers>(opened, other, bytes, signal_raised);
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

Slice run(Transfers& self, std::string_view direction, std::size_t bytes, std::size_t iterations,
          std::size_t repeats) {
    const GpuTransfersRun request = request_of(direction, bytes, iterations, repeats);
    return self.with(
        [&](GpuTransfers& transfers) { return transfers.run(request, signal_raised); });
}

void start(Transfers& self, std::string_view direction, std::size_t bytes, std::size_t iterations,
           std::size_t repeats) {
    const GpuTransfersRun request = request_of(direction, bytes, iterations, repeats);
    self.with([&](GpuTransfers& transfers) { transfers.start(request, signal_raised); });
}

Slice finish(Transfers& self) {
    return self.with([](GpuTransfers& transfers) { return transfers.finish(signal_raised); });
}

auto validate(Transfers& self) {
    return self.with([](GpuTransfers& transfers) { return transfers.validate(signal_raised); });
}

void corrupt(Transfers& self, std::string_view direction, std::size_t element) {
    const GpuDirection which = gpu_direction_from_string(direction);
    self.with([&](GpuTransfers& transfers) { transfers.corrupt(which, element); });
}

auto backing(Transfers& self) {
    return self.look([](const GpuTransfers& transfers) { return transfers.backing(); });
}

}  // namespace

void register_gpu_transfers(nb::module_& module) {
    nb::class_<Transfers>(module, "GpuTransfers", nb::is_final())
        .def("__init__", &init_transfers, nb::arg("gpu"), nb::arg("bytes"), nb::kw_only(),
             nb::arg("host") = "pinned", nb::arg("memory") = nb::none(),
             nb::arg("peer") = nb::none(), ReleaseGil())
        .def("run", &run, nb::arg("direction"), nb::arg("bytes"), nb::kw_only(),
             nb::arg("iterations") = 1, nb::arg("repeats") = 1, ReleaseGil())
        .def("start", &start, nb::arg("direction"), nb::arg("bytes"), nb::kw_only(),
             nb::arg("iterations") = 1, nb::arg("repeats") = 1, ReleaseGil())
        .def("finish", &finish, ReleaseGil())
        .def_prop_ro(
            "host_was_slower",
            [](Transfers& self) {
                return self.look([](const GpuTransfers& made) { return made.host_was_slower(); });
            })
        .def_prop_ro("direct",
                     [](Transfers& self) {
                         return self.look([](const GpuTransfers& made) { return made.direct(); });
                     })
        .def("validate", &validate, ReleaseGil())
        .def("corrupt", &corrupt, nb::arg("direction"), nb::arg("element"), ReleaseGil())
        .def("backing", &backing, ReleaseGil())
        .def("close", &Transfers::close, ReleaseGil());
}

}  // namespace memgauge::bindings
