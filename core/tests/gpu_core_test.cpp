// What of GPUs needs none: which kernels there are and how they are spelt, what an error says, and
// the driver's interface, stood in for by functions here. tests/unit/gpu runs kernels on a
// stand-in.

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/driver/compiler.hpp"
#include "gpu/driver/cuda_library.hpp"
#include "gpu/driver/driver.hpp"
#include "gpu/kernel_spec.hpp"
#include "gpu/kernel_text.hpp"
#include "memgauge/gpu/chase.hpp"
#include "memgauge/gpu/driver.hpp"
#include "memgauge/gpu/kernels.hpp"
#include "refusal.hpp"

using memgauge::ElementType;
using memgauge::GpuHint;
using memgauge::GpuKernelSpec;
using memgauge::Operation;
using memgauge::Variant;
using memgauge::test::refusal;
using memgauge::test::says;
namespace cuda = memgauge::cuda;
namespace gpu = memgauge::gpu;

namespace {

constexpr std::array operations{Operation::copy,  Operation::scale, Operation::add,
                                Operation::triad, Operation::read,  Operation::write,
                                Operation::update};

std::string text_of(cuda::Result result, const char* object = "cuda:0") {
    cuda::Calls calls;
    calls.error_string = [](cuda::Result, const char** words) {
        *words = "its own words";
        return cuda::success;
    };
    calls.error_name = [](cuda::Result, const char** name) {
        *name = "ITS_NAME";
        return cuda::success;
    };
    try {
        cuda::fail(calls, result, "cuSomething", object);
    } catch (const memgauge::Error& error) {
        return error.what();
    }
}

// A driver of two devices, the second of which is an instance that reports little.
cuda::Calls two_devices() {
    cuda::Calls calls;
    calls.init = [](unsigned) { return cuda::success; };
    calls.driver_version = [](int* version) {
        *version = 12060;
        return cuda::success;
    };
    calls.device_count = [](int* count) {
        *count = 2;
        return cuda::success;
    };
    calls.device = [](cuda::DeviceHandle* device, int ordinal) {
        *device = ordinal + 7;
        return cuda::success;
    };
    calls.device_name = [](char* into, int, cuda::DeviceHandle device) {
        const std::string_view name = device == 7 ? "NVIDIA H100" : "NVIDIA H100 MIG 1g.10gb";
        into[name.copy(into, 255)] = '\0';
        return cuda::success;
    };
    calls.device_bus_id = [](char* into, int, cuda::DeviceHandle) {
        into[std::string_view("0000:3B:00.0").copy(into, 32)] = '\0';
        return cuda::success;
    };
    calls.device_memory = [](std::size_t* bytes, cuda::DeviceHandle) {
        *bytes = 80'000'000'000;
        return cuda::success;
    };
    calls.device_attribute = [](int* value, cuda::Attribute attribute, cuda::DeviceHandle device) {
        *value = attribute == cuda::Attribute::compute_major     ? 9
                 : attribute == cuda::Attribute::multiprocessors ? 132
                                                                 : 0;
        if (attribute == cuda::Attribute::l2_bytes && device == 7) *value = 50 << 20;
        return attribute == cuda::Attribute::ecc_enabled ? cuda::not_supported : cuda::success;
    };
    calls.device_uuid = [](cuda::Uuid* uuid, cuda::DeviceHandle) {
        for (unsigned char at = 0; at < 16; ++at) uuid->bytes[at] = at;
        return cuda::success;
    };
    return calls;
}

}  // namespace

TEST_CASE("gpu: tuned kernels are distinct, and the default is one of what a search tries") {
    for (const Operation operation : operations) {
        for (const ElementType element : {ElementType::f32, ElementType::f64}) {
            const std::vector<GpuKernelSpec> specs = memgauge::gpu_tuned_specs(operation, element);
            const GpuKernelSpec chosen = memgauge::gpu_default_tuned_spec(operation, element);
            CHECK(specs.size() >= 24);
            CHECK(specs.size() <= 64);
            bool found = false;
            std::set<std::string> shapes;
            for (const GpuKernelSpec& spec : specs) {
                found = found || spec == chosen;
                CHECK(memgauge::checked(spec) == spec);
                shapes.insert(gpu::text_of_spec(spec).name + "/" +
                              std::to_string(spec.blocks_per_multiprocessor));
            }
            CHECK(found);
            CHECK(shapes.size() == specs.size());
        }
    }
}

TEST_CASE("gpu: kernels that do not exist are refused by what is wrong with them") {
    GpuKernelSpec spec{.variant = Variant::tuned};
    const auto why = [&] { return refusal([&] { static_cast<void>(memgauge::checked(spec)); }); };
    CHECK(why().empty());
    spec.unroll = 3;
    CHECK(says(why(), "an unroll of 3; choose 1, 2, 4 or 8"));
    spec.unroll = 8;
    spec.threads_per_block = 1024;
    CHECK(says(why(), "registers"));
    spec.threads_per_block = 96;
    CHECK(says(why(), "blocks of 96 threads"));
    spec = {.variant = Variant::standard, .hint = GpuHint::streaming};
    CHECK(says(why(), "choose variant tuned"));
    spec = {.variant = Variant::tuned, .vector_bytes = 8};
    CHECK(says(why(), "16 bytes"));
    CHECK(says(refusal([] { static_cast<void>(memgauge::gpu_hint_from_string("cached")); }),
               "choose among default, streaming, no-allocate"));
    CHECK(says(refusal([] { static_cast<void>(memgauge::gpu_through_from_string("l3")); }),
               "choose among l1, l2"));
}

TEST_CASE("gpu: counted bytes are STREAM's, and nothing is read for what is written") {
    const auto bytes = [](Operation operation, ElementType element) {
        const auto moved =
            memgauge::traffic(GpuKernelSpec{.operation = operation, .element = element});
        CHECK(moved.write_allocate == 0);
        return std::pair(moved.counted_read, moved.counted_write);
    };
    CHECK(bytes(Operation::copy, ElementType::f64) == std::pair(8U, 8U));
    CHECK(bytes(Operation::triad, ElementType::f64) == std::pair(16U, 8U));
    CHECK(bytes(Operation::update, ElementType::f32) == std::pair(8U, 4U));
    CHECK(bytes(Operation::read, ElementType::f32) == std::pair(4U, 0U));
    CHECK(bytes(Operation::write, ElementType::f64) == std::pair(0U, 8U));
}

TEST_CASE("gpu: a spec's line instantiates a template of the text, under a plain name") {
    const gpu::KernelText tuned =
        gpu::text_of_spec(memgauge::checked({.operation = Operation::triad,
                                             .element = ElementType::f32,
                                             .variant = Variant::tuned,
                                             .unroll = 4,
                                             .hint = GpuHint::streaming,
                                             .threads_per_block = 128}));
    CHECK(tuned.name == "triad_float_streaming_u4_t128");
    CHECK(tuned.line.find("extern \"C\" __global__ void __launch_bounds__(128) " + tuned.name +
                          "(const float* x") == 0);
    CHECK(says(tuned.line, "tuned<Triad, float, streaming, 4, 128>(x, y, out, count, s, first)"));
    CHECK(gpu::text_of_spec(memgauge::checked({.operation = Operation::read})).name ==
          "read_double_standard_t256");
    for (const char* file : {"access.cu", "stream.cu", "traffic.cu", "chase.cu", "timing.cu"}) {
        CHECK(!gpu::text_of(file).empty());
    }
    CHECK(gpu::text_of("none.cu").empty());
    CHECK(says(gpu::text_of("stream.cu"), "struct Triad"));
}

TEST_CASE("gpu: blocks cover every element, and no more than were asked for") {
    const GpuKernelSpec standard = memgauge::checked({});
    CHECK(gpu::blocks_of(standard, 1, 132) == 1);
    CHECK(gpu::blocks_of(standard, 257, 132) == 2);
    GpuKernelSpec tuned = memgauge::checked({.variant = Variant::tuned, .unroll = 2});
    CHECK(gpu::blocks_of(tuned, 1024, 132) == 1);  // 256 threads, 2 vectors, 2 doubles
    CHECK(gpu::blocks_of(tuned, 1025, 132) == 2);
    tuned.blocks_per_multiprocessor = 4;
    CHECK(gpu::blocks_of(tuned, 1025, 132) == 2);
    CHECK(gpu::blocks_of(tuned, std::uint64_t{1} << 30U, 132) == 528);
}

TEST_CASE("gpu: a failed call names the object, CUDA's words, and what to do") {
    CHECK(text_of(cuda::out_of_memory) ==
          "cuda:0: cuSomething: its own words (ITS_NAME); ask for smaller arrays or stop what else "
          "uses the GPU");
    CHECK(text_of(cuda::system_driver_mismatch, "").find("cuSomething: its own words") == 0);
    CHECK(says(text_of(cuda::system_driver_mismatch), "restart the machine"));
    CHECK(says(text_of(cuda::system_not_ready), "nvidia-fabricmanager"));
    CHECK(says(text_of(cuda::unsupported_ptx_version), "the driver is older than the compiler"));
    CHECK(says(text_of(cuda::illegal_address), "cannot use this GPU any more"));
    CHECK(says(text_of(cuda::ecc_uncorrectable), "nvidia-smi -q -d ECC"));
    CHECK(text_of(cuda::invalid_value) == "cuda:0: cuSomething: its own words (ITS_NAME)");
    CHECK(cuda::text({}, 12345) == "CUDA error 12345");
    CHECK_THROWS_AS(cuda::fail({}, cuda::illegal_address, "call", ""), memgauge::SystemError);
    CHECK_THROWS_AS(cuda::fail({}, cuda::no_device, "call", ""), memgauge::RequestError);
}

TEST_CASE("gpu: devices are described by what the driver reports, and no more") {
    const gpu::Driver driver = gpu::started(two_devices());
    REQUIRE(driver.devices.size() == 2);
    CHECK(driver.handles == std::vector<cuda::DeviceHandle>{7, 8});
    const memgauge::GpuFacts& whole = driver.devices[0];
    CHECK(whole.name == "NVIDIA H100");
    CHECK(whole.uuid == "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
    CHECK(whole.bus_id == "0000:3b:00.0");
    CHECK(whole.compute() == "9.0");
    CHECK(whole.l2_bytes == std::size_t{50} << 20U);
    CHECK(!whole.memory_clock_khz);
    CHECK(!whole.ecc);
    CHECK(!whole.mig);
    CHECK(whole.error.empty());
    CHECK(driver.devices[1].mig);
    CHECK(driver.devices[1].uuid.find("MIG-") == 0);
    CHECK(!driver.devices[1].l2_bytes);
}

TEST_CASE("gpu: a device that cannot be used says why, and the others stay") {
    cuda::Calls calls = two_devices();
    calls.device_memory = [](std::size_t*, cuda::DeviceHandle device) {
        return device == 7 ? cuda::ecc_uncorrectable : cuda::success;
    };
    const gpu::Driver driver = gpu::started(calls);
    CHECK(says(driver.devices[0].error, "cuDeviceTotalMem: CUDA error 214"));
    CHECK(driver.devices[1].error.empty());
    calls.device_count = [](int* count) {
        *count = 0;
        return cuda::success;
    };
    CHECK(says(refusal([&] { static_cast<void>(gpu::started(calls)); }), "shows no GPU"));
}

TEST_CASE("gpu: libraries that are not there, or others, are reported") {
    CHECK(says(refusal([] { const memgauge::GpuDriver driver("/nonexistent/libcuda.so.1"); }),
               "cannot load the CUDA driver: /nonexistent/libcuda.so.1"));
    CHECK(says(refusal([] { const memgauge::GpuDriver driver("libc.so.6"); }),
               "libc.so.6: not the CUDA driver's library"));
    CHECK(says(refusal([] { const gpu::Compiler compiler("/nonexistent/libnvrtc.so.13"); }),
               "pip install 'memgauge[cuda]'"));
    CHECK(says(refusal([] { const gpu::Compiler compiler("libc.so.6"); }), "libc.so.6: not NVRTC"));
}
