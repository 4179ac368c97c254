#pragma once
// Metrics of Performance Co-Pilot's daemon, through its client library loaded at run time. Calls
// and structures are declared by us (src/counters/pcp/abi.hpp); no header of it is needed to build.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memgauge/counters/source.hpp"
#include "memgauge/error.hpp"

namespace memgauge {

namespace pcp {
struct Calls;
}

// The client library; once loaded it stays. It bounds each answer it waits for by `timeout_s`,
// unless PMCD_REQUEST_TIMEOUT and PMCD_CONNECT_TIMEOUT, which are its own, say otherwise.
class PcpLibrary {
public:
    static constexpr double timeout_s = 1.0;

    // The first of `files` that can be loaded. RequestError: none, or the library's configuration
    // cannot be read; without it, it would end the process, so it is looked for first, and again
    // before each connection.
    explicit PcpLibrary(const std::vector<std::string>& files);
    // For tests: calls of another's making, which need no configuration.
    explicit PcpLibrary(const pcp::Calls& calls);
    ~PcpLibrary();
    PcpLibrary(const PcpLibrary&) = delete;
    PcpLibrary& operator=(const PcpLibrary&) = delete;

    // The name it was found by.
    [[nodiscard]] const std::string& file() const noexcept { return file_; }
    [[nodiscard]] const pcp::Calls& calls() const noexcept { return *calls_; }

private:
    std::string file_;
    std::unique_ptr<pcp::Calls> calls_;
};

enum class PcpType : std::int8_t { i32, u32, i64, u64, f32, f64, other };

struct PcpInstance {
    std::string name;        // empty: the metric has one value and no instances
    bool available = false;  // it had a value when asked
};

// What the daemon says of a metric.
struct PcpMetric {
    std::string name;
    std::string error;  // why nothing is known of it; empty: the rest is valid
    PcpType type = PcpType::other;
    bool counts = false;  // it only grows; else it is a level
    // Exponents of bytes, seconds and counts in its unit, and the powers they are scaled by:
    // of 1024, of {ns, us, ms, s, min, h}, of 10.
    int space = 0, time = 0, count = 0;
    int space_scale = 0, time_scale = 0, count_scale = 0;
    std::vector<PcpInstance> instances;
    std::string no_value;  // why it has none where it has none, in the library's words
};

// What can be asked of a daemon.
class PcpDirectory {
public:
    // `host` as the library understands it: `local:`, `unix:/PATH`, a name or address.
    // RequestError: no connection; the message has the library's words.
    PcpDirectory(std::shared_ptr<const PcpLibrary> library, const std::string& host);
    ~PcpDirectory();
    PcpDirectory(const PcpDirectory&) = delete;
    PcpDirectory& operator=(const PcpDirectory&) = delete;

    // The name of the machine whose metrics these are; empty: not known.
    [[nodiscard]] std::string host_name() const;
    // All metrics at or below a name, in the daemon's order; none where nothing is there.
    [[nodiscard]] std::vector<std::string> names(const std::string& below) const;
    // One for each name, in their order.
    [[nodiscard]] std::vector<PcpMetric> describe(const std::vector<std::string>& names) const;

private:
    class Connected;
    std::unique_ptr<Connected> connected_;
};

// One value to read.
struct PcpColumn {
    std::string metric;
    std::string instance;  // empty: of a metric without instances
    // A value that is no integer is kept in parts of 2^-bits, rounded; an integer has none.
    std::optional<unsigned> fraction_bits;
    bool counts = false;  // it only grows: a lower value than before is of a new generation
    // The column that holds for which share of the time this one counts: at zero, it has no value.
    std::optional<std::size_t> duty;
    bool gated = false;  // it has no value while `gate` is zero
};

struct PcpRequest {
    std::vector<PcpColumn> columns;
    std::string gate;  // a metric without instances: whether the agent counts; empty: not asked
};

// Slot 0 is the generation, always present; then a slot for each column. Each reading is one fetch.
//
// A new generation begins when a value that was there is missing: the daemon died, hangs or changed
// its agents, or the agent stopped counting. The reading that finds out has no value for it, so
// there is always a missing one between values of two generations. What was counted across them is
// unknown: an agent that was started again counts from zero.
//
// A lost connection is made again by a thread of its own, by the names of metrics and instances,
// ten times a second at first and then each second. Until it is, all values are missing at once.
// read() thus waits at most for the library's time-out, and that once for each loss. Signals of its
// thread wait as long.
class PcpSource final : public CounterSource {
public:
    // RequestError: no connection, or none of the columns exists.
    PcpSource(std::shared_ptr<const PcpLibrary> library, std::string host, PcpRequest request);
    ~PcpSource() override;

    [[nodiscard]] std::size_t slots() const noexcept override;
    void read(SlotSpan into) noexcept override;

private:
    class Running;
    std::unique_ptr<Running> running_;
};

}  // namespace memgauge
