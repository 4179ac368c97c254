#include "counters/cupti/host.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace memgauge {
namespace cupti {
namespace {

constexpr double largest_count = 9.0e15;  // beyond, a double does not hold every whole number

std::string reported(const char* text) {
    return text == nullptr ? std::string{} : text;
}

std::vector<const char*> pointers_to(const std::vector<std::string>& names) {
    std::vector<const char*> pointers;
    pointers.reserve(names.size());
    for (const std::string& name : names) pointers.push_back(name.c_str());
    return pointers;
}

std::string place(const std::string& chip, CuptiWay way) {
    return "CUPTI, " + chip + (way == CuptiWay::range ? ", by ranges" : ", by sampling");
}

std::string joined(const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    return all;
}

}  // namespace

Host::Host(const Calls& calls, const std::string& chip, CuptiWay way,
           const std::vector<std::uint8_t>& availability)
    : calls_(calls), where_(place(chip, way)) {
    HostInitialize asked;
    asked.profiler = way == CuptiWay::range ? range_profiler : pm_sampling;
    asked.chip = chip.c_str();
    asked.availability = availability.empty() ? nullptr : availability.data();
    const Result result = calls_.host_initialize(&asked);
    if (result == invalid_parameter) {  // what CUDA 12 says of a chip that it does not know
        throw RequestError(where_ + ": cuptiProfilerHostInitialize: this CUPTI does not know the " +
                           "GPU's chip; install a newer one");
    }
    require(calls_, "cuptiProfilerHostInitialize", result, where_);
    object_ = asked.host;
}

Host::~Host() {
    HostDeinitialize asked;
    asked.host = object_;
    calls_.host_deinitialize(&asked);
}

std::vector<std::string> Host::names() const {
    BaseMetrics asked;
    asked.host = object_;
    require(calls_, "cuptiProfilerHostGetBaseMetrics", calls_.base_metrics(&asked), where_);
    return {asked.names, asked.names + asked.count};
}

CuptiMetric Host::describe(const std::string& name) const {
    MetricProperties asked;
    asked.host = object_;
    asked.name = name.c_str();
    const Result result = calls_.properties(&asked);
    require(calls_, "cuptiProfilerHostGetMetricProperties", result, where_ + ": " + name);
    return {.name = name,
            .description = reported(asked.description),
            .hardware_unit = reported(asked.hardware_unit),
            .dimension = reported(asked.dimension)};
}

std::vector<std::uint8_t> Host::configured(const std::vector<std::string>& names) {
    std::vector<const char*> pointers = pointers_to(names);
    ConfigAddMetrics added;
    added.host = object_;
    added.names = pointers.data();
    added.count = pointers.size();
    require(calls_, "cuptiProfilerHostConfigAddMetrics", calls_.add_metrics(&added),
            where_ + ": " + joined(names));
    ConfigImageSize sized;
    sized.host = object_;
    require(calls_, "cuptiProfilerHostGetConfigImageSize", calls_.config_image_size(&sized),
            where_);
    std::vector<std::uint8_t> config(sized.image_bytes);
    ConfigImage filled;
    filled.host = object_;
    filled.image_bytes = config.size();
    filled.image = config.data();
    require(calls_, "cuptiProfilerHostGetConfigImage", calls_.config_image(&filled), where_);
    return config;
}

std::size_t Host::passes(std::vector<std::uint8_t>& config) const {
    PassCount asked;
    asked.image_bytes = config.size();
    asked.image = config.data();
    require(calls_, "cuptiProfilerHostGetNumOfPasses", calls_.passes(&asked), where_);
    return asked.passes;
}

Selection::Selection(const Calls& calls, const std::string& chip, CuptiWay way,
                     std::vector<std::string> names, const std::vector<std::uint8_t>& availability)
    : calls_(calls),
      names_(std::move(names)),
      pointers_(pointers_to(names_)),
      values_(names_.size()),
      host_(calls, chip, way, availability) {
    if (names_.empty()) throw RequestError("cupti: nothing to read; give at least one metric");
    config_ = host_.configured(names_);
    const std::size_t passes = host_.passes(config_);
    if (passes != 1) {
        throw RequestError(place(chip, way) + ": " + joined(names_) + ": takes " +
                           std::to_string(passes) +
                           " passes over the same work, which is done once only; ask for fewer "
                           "events together");
    }
}

bool Selection::add(const std::vector<std::uint8_t>& image, std::size_t range,
                    std::vector<std::uint64_t>& sums, Failure& failure) noexcept {
    Evaluate asked;
    asked.host = host_.object();
    asked.image = image.data();
    asked.image_bytes = image.size();
    asked.range = range;
    asked.names = pointers_.data();
    asked.count = pointers_.size();
    asked.values = values_.data();
    const char* call = "cuptiProfilerHostEvaluateToGpuValues";
    if (!failure.passed(call, calls_.evaluate(&asked))) return false;
    for (const double value : values_) {
        const bool counts = value >= 0.0 && value < largest_count;  // so no NaN either
        if (!counts) return failure.passed(call, no_count);
    }
    for (std::size_t at = 0; at < values_.size(); ++at) {
        sums[at] += static_cast<std::uint64_t>(std::llround(values_[at]));
    }
    return true;
}

}  // namespace cupti

struct CuptiMetrics::Questions {
    Questions(std::shared_ptr<const CuptiLibrary> of, std::string about, CuptiWay by)
        : library(std::move(of)),
          chip(std::move(about)),
          way(by),
          host(library->state().calls, chip, way) {}

    std::shared_ptr<const CuptiLibrary> library;
    std::string chip;
    CuptiWay way;
    cupti::Host host;
};

CuptiMetrics::CuptiMetrics(std::shared_ptr<const CuptiLibrary> library, const std::string& chip,
                           CuptiWay way)
    : questions_(std::make_unique<Questions>(std::move(library), chip, way)) {}

CuptiMetrics::~CuptiMetrics() = default;

std::vector<std::string> CuptiMetrics::names() const {
    return questions_->host.names();
}

CuptiMetric CuptiMetrics::describe(const std::string& name) const {
    return questions_->host.describe(name);
}

std::size_t CuptiMetrics::passes(const std::vector<std::string>& names) const {
    // Of its own: an object keeps what was added to it.
    cupti::Host host(questions_->library->state().calls, questions_->chip, questions_->way);
    std::vector<std::uint8_t> config = host.configured(names);
    return host.passes(config);
}

}  // namespace memgauge
