#pragma once
// The half of CUPTI that knows metrics: an object for one chip and one way of counting.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "counters/cupti/library.hpp"

namespace memgauge::cupti {

class Host {
public:
    // `availability`: what the device at hand says it can count; empty: all that the chip can.
    // RequestError: the library does not know the chip, or not this way for it.
    Host(const Calls& calls, const std::string& chip, CuptiWay way,
         const std::vector<std::uint8_t>& availability = {});
    ~Host();
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    [[nodiscard]] std::vector<std::string> names() const;
    [[nodiscard]] CuptiMetric describe(const std::string& name) const;
    // What the hardware is set to count. RequestError: not together.
    [[nodiscard]] std::vector<std::uint8_t> configured(const std::vector<std::string>& names);
    [[nodiscard]] std::size_t passes(std::vector<std::uint8_t>& config) const;

    [[nodiscard]] HostObject object() const noexcept { return object_; }

private:
    const Calls& calls_;
    std::string where_;  // as errors begin: "GH100, by sampling"
    HostObject object_ = nullptr;
};

// Metrics of a device, ready to be collected in one go, and what they are evaluated with.
class Selection {
public:
    // RequestError: not together, or not in one pass.
    Selection(const Calls& calls, const std::string& chip, CuptiWay way,
              std::vector<std::string> names, const std::vector<std::uint8_t>& availability);

    [[nodiscard]] std::size_t count() const noexcept { return names_.size(); }
    [[nodiscard]] Names names() noexcept { return pointers_.data(); }
    [[nodiscard]] const std::vector<std::uint8_t>& config() const noexcept { return config_; }
    // Adds the metrics of one range or sample of an image to the sums. A value that is no count
    // adds nothing and is a failure.
    bool add(const std::vector<std::uint8_t>& image, std::size_t range,
             std::vector<std::uint64_t>& sums, Failure& failure) noexcept;

private:
    const Calls& calls_;
    std::vector<std::string> names_;
    std::vector<const char*> pointers_;
    std::vector<double> values_;
    Host host_;
    std::vector<std::uint8_t> config_;
};

}  // namespace memgauge::cupti
