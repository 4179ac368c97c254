// A range is open from the end of one reading to the begin of the next: started and pushed, then
// popped, stopped, decoded and evaluated. Metrics that all fit into one pass need no replay, so
// that "user replay" is just that: nothing is repeated.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "counters/cupti/context.hpp"
#include "counters/cupti/host.hpp"
#include "counters/cupti/library.hpp"

namespace memgauge {
namespace {

std::vector<std::uint8_t> available(const CuptiLibrary::State& state, cuda::Context context,
                                    const std::string& where) {
    const char* call = "cuptiProfilerGetCounterAvailability";
    const cupti::CurrentContext current(state.driver, context);
    cupti::RangeAvailability asked;
    if (state.version < cupti::version_13_1) {
        asked.size = cupti::range_availability_bytes_before_13_1;
    }
    asked.context = context;
    cupti::require(state.calls, call, state.calls.range_availability(&asked), where);
    std::vector<std::uint8_t> image(asked.image_bytes);
    asked.image = image.data();
    cupti::require(state.calls, call, state.calls.range_availability(&asked), where);
    return image;
}

}  // namespace

struct CuptiRangeSource::Ranges {
    Ranges(std::shared_ptr<const CuptiLibrary> from, unsigned device, const std::string& chip,
           std::vector<std::string> metrics);
    ~Ranges();
    Ranges(const Ranges&) = delete;
    Ranges& operator=(const Ranges&) = delete;

    bool enable() noexcept;
    void disable() noexcept;
    void make_room() noexcept;  // for what a range counts
    bool configure() noexcept;
    bool begin() noexcept;
    bool end() noexcept;
    bool stop() noexcept;
    void close() noexcept;

    std::shared_ptr<const CuptiLibrary> library;
    const cupti::Calls& calls;
    const cuda::Calls& driver;
    std::string where;  // as errors begin
    cupti::PrimaryContext context;
    cupti::Selection selection;
    std::vector<std::uint64_t> sums;
    std::vector<std::uint8_t> image;
    cupti::RangeObject object = nullptr;
    cupti::Failure failure;
    bool is_open = false;
    bool was_read = false;
    bool is_closed = false;
};

CuptiRangeSource::Ranges::Ranges(std::shared_ptr<const CuptiLibrary> from, unsigned device,
                                 const std::string& chip, std::vector<std::string> metrics)
    : library(std::move(from)),
      calls(library->state().calls),
      driver(library->state().driver),
      where(cupti::gpu_name(device)),
      context(driver, device),
      selection(calls, chip, CuptiWay::range, std::move(metrics),
                available(library->state(), context.get(), where)),
      sums(selection.count()) {
    const cupti::CurrentContext current(driver, context.get());
    // What may not be counted is often said when counting starts, not before.
    if (enable()) make_room();
    if (image.empty() || !begin() || !end()) {
        disable();
        throw RequestError(where + ": " + failure.text(calls));
    }
    sums.assign(sums.size(), 0);
}

CuptiRangeSource::Ranges::~Ranges() {
    close();
}

void CuptiRangeSource::Ranges::close() noexcept {
    const cupti::CurrentContext current(driver, context.get());
    if (is_open) stop();
    disable();
    is_closed = true;
}

bool CuptiRangeSource::Ranges::enable() noexcept {
    cupti::RangeEnable asked;
    asked.context = context.get();
    if (!failure.passed("cuptiRangeProfilerEnable", calls.range_enable(&asked))) return false;
    object = asked.object;
    return true;
}

void CuptiRangeSource::Ranges::disable() noexcept {
    if (object == nullptr) return;
    cupti::RangeOnly asked;
    asked.object = object;
    calls.range_disable(&asked);
    object = nullptr;
}

void CuptiRangeSource::Ranges::make_room() noexcept {
    cupti::RangeImageSize asked;
    asked.object = object;
    asked.names = selection.names();
    asked.count = selection.count();
    cupti::Result result = calls.range_image_size(&asked);
    if (result == cupti::success && asked.image_bytes == 0) result = cupti::no_count;
    if (!failure.passed("cuptiRangeProfilerGetCounterDataSize", result)) return;
    try {
        image.resize(asked.image_bytes);
    } catch (const std::bad_alloc&) {
        failure.passed("cuptiRangeProfilerGetCounterDataSize", cupti::out_of_memory);
    }
}

bool CuptiRangeSource::Ranges::configure() noexcept {
    if (object == nullptr) return false;
    cupti::RangeImage emptied;
    emptied.object = object;
    emptied.image_bytes = image.size();
    emptied.image = image.data();
    cupti::RangeConfig asked;
    asked.object = object;
    asked.config_bytes = selection.config().size();
    asked.config = selection.config().data();
    asked.image_bytes = image.size();
    asked.image = image.data();
    return failure.passed("cuptiRangeProfilerCounterDataImageInitialize",
                          calls.range_image(&emptied)) &&
           failure.passed("cuptiRangeProfilerSetConfig", calls.range_config(&asked));
}

bool CuptiRangeSource::Ranges::begin() noexcept {
    if (!configure()) {
        // An object that takes no second configuration is replaced by a new one.
        disable();
        if (!enable() || !configure()) return false;
    }
    cupti::RangeOnly started;
    started.object = object;
    if (!failure.passed("cuptiRangeProfilerStart", calls.range_start(&started))) return false;
    is_open = true;
    cupti::RangePush pushed;
    pushed.object = object;
    pushed.name = "memgauge";
    if (failure.passed("cuptiRangeProfilerPushRange", calls.range_push(&pushed))) return true;
    stop();
    return false;
}

bool CuptiRangeSource::Ranges::stop() noexcept {
    is_open = false;
    cupti::RangeStop asked;
    asked.object = object;
    return failure.passed("cuptiRangeProfilerStop", calls.range_stop(&asked)) &&
           failure.passed("cuptiRangeProfilerStop",
                          asked.all_submitted != 0 ? cupti::success : cupti::several_passes);
}

bool CuptiRangeSource::Ranges::end() noexcept {
    if (!is_open) return false;
    driver.context_synchronize();
    cupti::RangeOnly popped;
    popped.object = object;
    const bool ended = failure.passed("cuptiRangeProfilerPopRange", calls.range_pop(&popped));
    if (!stop() || !ended) return false;
    cupti::RangeDecode decoded;
    decoded.object = object;
    cupti::RangeInfo counted;
    counted.image = image.data();
    counted.image_bytes = image.size();
    if (!failure.passed("cuptiRangeProfilerDecodeData", calls.range_decode(&decoded)) ||
        !failure.passed("cuptiRangeProfilerGetCounterDataInfo", calls.range_info(&counted))) {
        return false;
    }
    const bool one = decoded.dropped == 0 && counted.ranges == 1;
    return failure.passed("cuptiRangeProfilerDecodeData", one ? cupti::success : cupti::no_count) &&
           selection.add(image, 0, sums, failure);
}

CuptiRangeSource::CuptiRangeSource(std::shared_ptr<const CuptiLibrary> library, unsigned device,
                                   std::vector<std::string> metrics) {
    const CuptiDevice& found = cupti::usable(*library, device, CuptiWay::range);
    ranges_ = std::make_unique<Ranges>(std::move(library), device, found.chip, std::move(metrics));
}

CuptiRangeSource::~CuptiRangeSource() = default;

std::size_t CuptiRangeSource::slots() const noexcept {
    return ranges_->selection.count();
}

void CuptiRangeSource::read(SlotSpan into) noexcept {
    Ranges& ranges = *ranges_;
    const cupti::CurrentContext current(ranges.driver, ranges.context.get());
    // The first reading has nothing to end: the sums are zero.
    const bool holds = !ranges.is_closed && (!ranges.was_read || ranges.end());
    ranges.was_read = true;
    if (!holds) into.mark_all_missing();
    for (std::size_t slot = 0; holds && slot < ranges.sums.size(); ++slot) {
        into.values[slot] = ranges.sums[slot];
        into.present[slot] = 1;
    }
    if (!ranges.is_closed) ranges.begin();
}

void CuptiRangeSource::close() noexcept {
    ranges_->close();
}

std::string CuptiRangeSource::error() const {
    return ranges_->failure.text(ranges_->calls);
}

}  // namespace memgauge
