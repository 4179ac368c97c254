#pragma once
// Figures of NVIDIA GPUs through the driver's management library, loaded at run time. Its calls and
// structures are declared by us (src/counters/nvml/abi.hpp); no header of it is needed to build.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memgauge/counters/source.hpp"
#include "memgauge/error.hpp"

namespace memgauge {

enum class NvmlCall : std::uint8_t {
    field,            // nvmlDeviceGetFieldValues of field `argument` and `scope`; see the answer's
                      // `bits` for how wide the driver counts
    power,            // nvmlDeviceGetPowerUsage: mW
    energy,           // nvmlDeviceGetTotalEnergyConsumption: mJ since the driver was loaded
    clock,            // nvmlDeviceGetClockInfo of clock type `argument`: MHz
    memory_used,      // nvmlDeviceGetMemoryInfo: bytes
    gpu_utilisation,  // nvmlDeviceGetUtilizationRates: per cent of the last sample period
    memory_utilisation,
    temperature,  // nvmlDeviceGetTemperature of sensor `argument`: degrees Celsius
};

struct NvmlQuery {
    unsigned device = 0;
    NvmlCall call = NvmlCall::field;
    unsigned argument = 0;
    unsigned scope = 0;
};

// What the library said when asked once: a value, or its own words for why not.
struct NvmlAnswer {
    std::optional<std::uint64_t> value;
    unsigned bits = 64;  // width of the driver's value: a counter of 32 wraps there
    int code = 0;        // nvmlReturn_t; 0: success
    std::string error;   // empty with a value
    std::int64_t took_ns = 0;
};

struct NvmlDevice {
    unsigned index = 0;
    std::string name;
    std::string uuid;
    std::string bus_id;        // as the library writes it: 00000000:3B:00.0; empty: not known
    bool partitioned = false;  // MIG is on: all figures are of the whole GPU
    std::string error;         // why the device cannot be used; empty: it can
};

// The library, initialised; it is shut down, never unloaded, with the last owner.
class NvmlLibrary {
public:
    // RequestError: not found, not a management library, or it refuses to start (no driver).
    explicit NvmlLibrary(const std::string& file);
    ~NvmlLibrary();
    NvmlLibrary(const NvmlLibrary&) = delete;
    NvmlLibrary& operator=(const NvmlLibrary&) = delete;

    [[nodiscard]] const std::string& driver() const noexcept;  // its version; empty: not known
    [[nodiscard]] const std::vector<NvmlDevice>& devices() const noexcept;
    // Asks once, and times it: some calls take milliseconds.
    [[nodiscard]] NvmlAnswer ask(const NvmlQuery& query) const;

private:
    friend class NvmlSource;
    struct State;
    std::unique_ptr<State> state_;
};

// One slot for each query. A call that fails, such as after the GPU fell off the bus, is a missing
// value. The driver gives no bound on the time of a call: see ask() for what each takes here.
class NvmlSource final : public CounterSource {
public:
    // RequestError: no query, or one of a device that is not there.
    NvmlSource(std::shared_ptr<const NvmlLibrary> library, std::vector<NvmlQuery> queries);
    ~NvmlSource() override;

    [[nodiscard]] std::size_t slots() const noexcept override;
    void read(SlotSpan into) noexcept override;

private:
    struct Batches;
    std::shared_ptr<const NvmlLibrary> library_;
    std::vector<NvmlQuery> queries_;
    std::unique_ptr<Batches> batches_;
};

}  // namespace memgauge
