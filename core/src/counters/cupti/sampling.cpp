// The hardware writes a sample at each interval into a buffer; a reading decodes them into an image
// and adds them up. What is known of the decoding of CUDA 12.9 and 13: samples are contiguous, one
// that is not complete stays for the next decoding; after an overflow of the buffer, or of the
// image, nothing that is decoded is to be trusted until sampling was started anew.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "counters/cupti/context.hpp"
#include "counters/cupti/host.hpp"
#include "counters/cupti/library.hpp"

namespace memgauge {
namespace {

// Of the buffer: 4 to 7 KB for one to four metrics on an H100. The library does not report it.
constexpr std::size_t bytes_per_sample = std::size_t{16} << 10U;
// Where the interval can be one of cycles only: no clock of these chips is far from it.
constexpr double cycles_per_ns = 1.5;
constexpr std::size_t spare_samples = 64;

std::vector<std::uint8_t> available(const cupti::Calls& calls, unsigned device,
                                    const std::string& where) {
    const char* call = "cuptiPmSamplingGetCounterAvailability";
    cupti::SampleAvailability asked;
    asked.device = device;
    cupti::require(calls, call, calls.sample_availability(&asked), where);
    std::vector<std::uint8_t> image(asked.image_bytes);
    asked.image = image.data();
    cupti::require(calls, call, calls.sample_availability(&asked), where);
    return image;
}

}  // namespace

struct CuptiSamplingSource::Samples {
    Samples(std::shared_ptr<const CuptiLibrary> from, unsigned of, const std::string& chip,
            std::vector<std::string> metrics, std::uint64_t every_ns, std::uint64_t gap_ns);
    ~Samples();
    Samples(const Samples&) = delete;
    Samples& operator=(const Samples&) = delete;

    bool enable();
    void disable() noexcept;
    void make_room() noexcept;
    bool configure(int by) noexcept;  // a trigger
    bool empty_image() noexcept;
    bool start() noexcept;
    void stop() noexcept;
    bool decode(std::size_t& completed) noexcept;
    bool add(std::size_t sample) noexcept;
    bool add_all() noexcept;
    bool renew() noexcept;
    bool tried() noexcept;
    void close() noexcept;

    std::shared_ptr<const CuptiLibrary> library;
    const cupti::Calls& calls;
    unsigned device;
    std::string where;  // as errors begin
    std::uint64_t interval_ns;
    std::size_t most;  // samples between two readings
    cupti::Selection selection;
    std::optional<cupti::PrimaryContext> context;  // where the library wants one
    std::vector<std::uint64_t> sums;
    std::vector<std::uint8_t> image;
    cupti::SampleObject object = nullptr;
    cupti::Failure failure;
    int trigger = cupti::trigger_time;
    bool runs = false;
    std::uint64_t losses = 0;
    std::uint64_t last_end_ns = 0;  // of the last sample that was added; 0: none yet
};

CuptiSamplingSource::Samples::Samples(std::shared_ptr<const CuptiLibrary> from, unsigned of,
                                      const std::string& chip, std::vector<std::string> metrics,
                                      std::uint64_t every_ns, std::uint64_t gap_ns)
    : library(std::move(from)),
      calls(library->state().calls),
      device(of),
      where(cupti::gpu_name(of)),
      interval_ns(every_ns),
      // A clock that is faster than thought makes more samples.
      most(static_cast<std::size_t>(gap_ns / every_ns) * 3 / 2 + spare_samples),
      selection(calls, chip, CuptiWay::sampling, std::move(metrics), available(calls, of, where)),
      sums(selection.count()) {
    if (enable() && (configure(cupti::trigger_time) || configure(cupti::trigger_clock))) {
        make_room();
    }
    if (image.empty() || !start() || !tried()) {
        close();
        throw RequestError(where + ": " + failure.text(calls));
    }
    failure = {};
}

CuptiSamplingSource::Samples::~Samples() {
    close();
}

void CuptiSamplingSource::Samples::close() noexcept {
    if (runs) stop();
    disable();
}

bool CuptiSamplingSource::Samples::enable() {
    cupti::SampleEnable asked;
    asked.device = device;
    cupti::Result result = calls.sample_enable(&asked);
    if (result == cupti::invalid_context && !context) {
        context.emplace(library->state().driver, device);
        const cupti::CurrentContext current(library->state().driver, context->get());
        result = calls.sample_enable(&asked);
    }
    if (!failure.passed("cuptiPmSamplingEnable", result)) return false;
    object = asked.object;
    return true;
}

void CuptiSamplingSource::Samples::disable() noexcept {
    if (object == nullptr) return;
    cupti::SampleOnly asked;
    asked.object = object;
    calls.sample_disable(&asked);
    object = nullptr;
}

bool CuptiSamplingSource::Samples::configure(int by) noexcept {
    const bool timed = by == cupti::trigger_time;
    const auto cycles =
        static_cast<std::uint64_t>(static_cast<double>(interval_ns) * cycles_per_ns);
    cupti::SampleConfig asked;
    if (library->version() < cupti::version_13) asked.size = cupti::sample_config_bytes_before_13;
    asked.object = object;
    asked.config_bytes = selection.config().size();
    asked.config = selection.config().data();
    asked.buffer_bytes = most * bytes_per_sample;
    asked.interval = timed ? interval_ns : cycles;
    asked.trigger = by;
    trigger = by;
    return failure.passed("cuptiPmSamplingSetConfig", calls.sample_config(&asked));
}

void CuptiSamplingSource::Samples::make_room() noexcept {
    cupti::SampleImageSize asked;
    asked.object = object;
    asked.names = selection.names();
    asked.count = selection.count();
    asked.most_samples = static_cast<std::uint32_t>(most);
    cupti::Result result = calls.sample_image_size(&asked);
    if (result == cupti::success && asked.image_bytes == 0) result = cupti::no_count;
    if (!failure.passed("cuptiPmSamplingGetCounterDataSize", result)) return;
    try {
        image.resize(asked.image_bytes);
    } catch (const std::bad_alloc&) {
        failure.passed("cuptiPmSamplingGetCounterDataSize", cupti::out_of_memory);
    }
}

bool CuptiSamplingSource::Samples::empty_image() noexcept {
    cupti::SampleImage asked;
    asked.object = object;
    asked.image_bytes = image.size();
    asked.image = image.data();
    return failure.passed("cuptiPmSamplingCounterDataImageInitialize", calls.sample_image(&asked));
}

bool CuptiSamplingSource::Samples::start() noexcept {
    cupti::SampleOnly asked;
    asked.object = object;
    runs = empty_image() && failure.passed("cuptiPmSamplingStart", calls.sample_start(&asked));
    last_end_ns = 0;
    return runs;
}

void CuptiSamplingSource::Samples::stop() noexcept {
    cupti::SampleOnly asked;
    asked.object = object;
    calls.sample_stop(&asked);
    runs = false;
}

bool CuptiSamplingSource::Samples::decode(std::size_t& completed) noexcept {
    cupti::SampleDecode decoded;
    decoded.object = object;
    decoded.image = image.data();
    decoded.image_bytes = image.size();
    const char* call = "cuptiPmSamplingDecodeData";
    cupti::Result result = calls.sample_decode(&decoded);
    if (result == cupti::out_of_memory || decoded.overflow != 0 ||
        decoded.stop_reason == cupti::stop_image_full) {
        result = cupti::samples_lost;
    }
    if (!failure.passed(call, result)) return false;
    cupti::SampleCounts counted;
    counted.image = image.data();
    counted.image_bytes = image.size();
    result = calls.sample_counts(&counted);
    completed = counted.completed;
    return failure.passed("cuptiPmSamplingGetCounterDataInfo", result);
}

bool CuptiSamplingSource::Samples::add(std::size_t sample) noexcept {
    const char* call = "cuptiPmSamplingCounterDataGetSampleInfo";
    cupti::SampleInfo reported;
    reported.object = object;
    reported.image = image.data();
    reported.image_bytes = image.size();
    reported.sample = sample;
    if (!failure.passed(call, calls.sample_info(&reported))) return false;
    if (reported.end_ns <= reported.begin_ns) return true;  // covers no time, as the first may
    // A hole as long as a sample is a sample that was lost.
    const bool lost = last_end_ns != 0 && reported.begin_ns > last_end_ns &&
                      reported.begin_ns - last_end_ns >= reported.end_ns - reported.begin_ns;
    last_end_ns = reported.end_ns;
    return failure.passed(call, lost ? cupti::samples_lost : cupti::success) &&
           selection.add(image, sample, sums, failure);
}

bool CuptiSamplingSource::Samples::add_all() noexcept {
    std::size_t completed = 0;
    if (!decode(completed)) return false;
    for (std::size_t sample = 0; sample < completed; ++sample) {
        if (!add(sample)) return false;
    }
    return completed == 0 || empty_image();
}

bool CuptiSamplingSource::Samples::renew() noexcept {
    if (object == nullptr) return false;
    if (runs) stop();
    return configure(trigger) && start();
}

// A whole reading: what fails only there is reported while someone can act on it.
bool CuptiSamplingSource::Samples::tried() noexcept {
    std::this_thread::sleep_for(std::chrono::nanoseconds(2 * interval_ns));
    const bool works = add_all();
    sums.assign(sums.size(), 0);
    return works;
}

CuptiSamplingSource::CuptiSamplingSource(std::shared_ptr<const CuptiLibrary> library,
                                         unsigned device, std::vector<std::string> metrics,
                                         std::uint64_t interval_ns, std::uint64_t longest_gap_ns) {
    if (interval_ns == 0 || longest_gap_ns < interval_ns ||
        longest_gap_ns / interval_ns > most_samples) {
        throw RequestError("cupti: an interval of " + std::to_string(interval_ns) +
                           " ns in a gap of " + std::to_string(longest_gap_ns) +
                           " ns: the gap must be 1 to " + std::to_string(most_samples) +
                           " intervals");
    }
    const CuptiDevice& found = cupti::usable(*library, device, CuptiWay::sampling);
    samples_ = std::make_unique<Samples>(std::move(library), device, found.chip, std::move(metrics),
                                         interval_ns, longest_gap_ns);
}

CuptiSamplingSource::~CuptiSamplingSource() = default;

std::size_t CuptiSamplingSource::slots() const noexcept {
    return samples_->selection.count() + 1;
}

void CuptiSamplingSource::read(SlotSpan into) noexcept {
    Samples& samples = *samples_;
    const std::size_t last = samples.selection.count();
    const bool holds = samples.runs && samples.add_all();
    if (!holds) {
        into.mark_all_missing();
        ++samples.losses;
        samples.renew();
    }
    for (std::size_t slot = 0; holds && slot < last; ++slot) {
        into.values[slot] = samples.sums[slot];
        into.present[slot] = 1;
    }
    into.values[last] = samples.losses;
    into.present[last] = 1;
}

void CuptiSamplingSource::close() noexcept {
    samples_->close();
}

std::string CuptiSamplingSource::error() const {
    return samples_->failure.text(samples_->calls);
}

bool CuptiSamplingSource::by_clock() const noexcept {
    return samples_->trigger == cupti::trigger_clock;
}

}  // namespace memgauge
