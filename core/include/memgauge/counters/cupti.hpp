#pragma once
// Bytes that NVIDIA GPUs move to and from their memory, counted by the hardware and read through
// CUPTI, which is loaded at run time. Its calls and structures are declared by us
// (src/counters/cupti/abi.hpp); nothing of CUDA is needed to build.
//
// CUPTI has two halves. The host's answers questions of metrics for any chip it knows, with or
// without a GPU. The device's needs the driver, and a right that drivers give administrators only
// by default. Source: NVIDIA, CUPTI documentation, chapters Host, Range Profiling and PM Sampling.
//
// Errors: RequestError, one line: the call, what CUPTI says, and what would change it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memgauge/counters/source.hpp"
#include "memgauge/error.hpp"

namespace memgauge {

// How the hardware is asked. Each has metrics of its own.
enum class CuptiWay : std::uint8_t {
    range,     // between two points of this process, in its own CUDA context
    sampling,  // at an interval, of the whole device, whichever process uses it
};

struct CuptiMetric {
    std::string name;           // with its rollup: dram__bytes_read.sum
    std::string description;    // the library's own words
    std::string hardware_unit;  // what counts: dram
    std::string dimension;      // of one count: byte, l2_sector
};

struct CuptiDevice {
    unsigned index = 0;  // as the driver numbers what it shows; CUDA_VISIBLE_DEVICES is heeded
    std::string chip;    // as the host's half wants it: GH100; empty: not known
    // Why nothing can be counted in that way; empty: nothing stands against it.
    std::string range_error;
    std::string sampling_error;
};

// CUPTI, loaded and never unloaded. From any thread.
class CuptiLibrary {
public:
    // RequestError: not found, not CUPTI, or one older than CUDA 12.6, which has neither way.
    explicit CuptiLibrary(const std::string& file, const std::string& driver = "libcuda.so.1");
    ~CuptiLibrary();
    CuptiLibrary(const CuptiLibrary&) = delete;
    CuptiLibrary& operator=(const CuptiLibrary&) = delete;

    // As cuptiGetVersion gives it: 24 with CUDA 12.6, 28 with 12.9, 130001 with 13.0. 0: not known.
    [[nodiscard]] std::uint32_t version() const noexcept;
    // That the host's half knows.
    [[nodiscard]] std::vector<std::string> chips() const;
    // Starts the driver when first called, which takes up to a second. RequestError: no driver, no
    // GPU, or CUPTI does not start with this driver.
    [[nodiscard]] const std::vector<CuptiDevice>& devices() const;

    struct State;  // src/counters/cupti/library.hpp
    [[nodiscard]] State& state() const noexcept { return *state_; }

private:
    std::unique_ptr<State> state_;
};

// Questions to the host's half about one chip.
class CuptiMetrics {
public:
    // RequestError: the library does not know the chip, or not this way for it.
    CuptiMetrics(std::shared_ptr<const CuptiLibrary> library, const std::string& chip,
                 CuptiWay way);
    ~CuptiMetrics();
    CuptiMetrics(const CuptiMetrics&) = delete;
    CuptiMetrics& operator=(const CuptiMetrics&) = delete;

    // All counters, without their rollups.
    [[nodiscard]] std::vector<std::string> names() const;
    // Of a name with its rollup. RequestError: the chip has none of that name.
    [[nodiscard]] CuptiMetric describe(const std::string& name) const;
    // How often the work would have to be repeated to count all of them. RequestError: they cannot
    // be counted together at all.
    [[nodiscard]] std::size_t passes(const std::vector<std::string>& names) const;

private:
    struct Questions;
    std::unique_ptr<Questions> questions_;
};

// Sums of metrics over what this process did on a device, in its primary context, since the first
// reading. The counters run from the end of each reading to the begin of the next, and do not count
// the reading itself. A reading waits until the device has done all work of the context; on its own
// it takes milliseconds. One whose counters could not be stopped or restarted is missing, and so is
// the next after it that has nothing to end. One source at a time for each device.
class CuptiRangeSource final : public CounterSource {
public:
    // RequestError: the device cannot, or may not, count these metrics in one go.
    CuptiRangeSource(std::shared_ptr<const CuptiLibrary> library, unsigned device,
                     std::vector<std::string> metrics);
    ~CuptiRangeSource() override;

    [[nodiscard]] std::size_t slots() const noexcept override;  // one for each metric
    void read(SlotSpan into) noexcept override;
    [[nodiscard]] std::string error() const;  // of the last reading that failed; empty: none did
    // Frees the device's counters now, whoever still has the source: later readings are missing.
    void close() noexcept;

private:
    struct Ranges;
    std::unique_ptr<Ranges> ranges_;
};

// Sums of metrics over all that any process did on a device since this was made. A reading holds
// what the hardware had sampled and handed over by then: it is behind by up to one interval. It
// takes some ten microseconds for each sample since the last reading. What the hardware's buffer
// lost, because no reading came for longer than `longest_gap_ns`, is never taken for zero: that
// reading is missing and the number in the last slot grows. One source at a time for each device.
class CuptiSamplingSource final : public CounterSource {
public:
    // RequestError: as CuptiRangeSource; or an interval or gap of zero, or a gap of more than
    // `most_samples` intervals.
    CuptiSamplingSource(std::shared_ptr<const CuptiLibrary> library, unsigned device,
                        std::vector<std::string> metrics, std::uint64_t interval_ns,
                        std::uint64_t longest_gap_ns);
    ~CuptiSamplingSource() override;

    static constexpr std::uint64_t most_samples = 20'000;

    // One for each metric, and the number of times that samples were lost.
    [[nodiscard]] std::size_t slots() const noexcept override;
    void read(SlotSpan into) noexcept override;
    [[nodiscard]] std::string error() const;  // of the last reading that failed; empty: none did
    void close() noexcept;                    // as CuptiRangeSource::close
    // Whether the interval is one of the GPU's clock at 1.5 GHz, which Turing and GA100 want, and
    // so only roughly what was asked for.
    [[nodiscard]] bool by_clock() const noexcept;

private:
    struct Samples;
    std::unique_ptr<Samples> samples_;
};

}  // namespace memgauge
