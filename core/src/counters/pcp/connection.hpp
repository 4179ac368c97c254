#pragma once
// One connection to a daemon, and columns found in it by name.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "counters/pcp/abi.hpp"
#include "counters/pcp/value.hpp"
#include "memgauge/counters/pcp.hpp"

namespace memgauge::pcp {

// RequestError: the file that the library will read cannot be read; it would end the process.
void require_configuration();

std::string error_text(const Calls& calls, int code);

// A context of the library. It may be used from any thread, by one at a time.
class Context {
public:
    // RequestError: no connection.
    Context(std::shared_ptr<const PcpLibrary> library, const std::string& host);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // The library's calls, with this context as the calling thread's.
    [[nodiscard]] const Calls& use() const noexcept;
    [[nodiscard]] int handle() const noexcept { return handle_; }

private:
    std::shared_ptr<const PcpLibrary> library_;
    int handle_;
};

// Identifier and name of each instance; none where the daemon reports none.
using Instances = std::vector<std::pair<int, std::string>>;
[[nodiscard]] Instances instances_of(const Calls& calls, DomainId domain);

// Identifiers of metrics by name; no_metric where there is none.
constexpr MetricId no_metric = 0xffffffff;
[[nodiscard]] std::vector<MetricId> identified(const Calls& calls,
                                               const std::vector<std::string>& names);

enum class Fetched : std::uint8_t { whole, changed, lost };

// A request, resolved against what one connection serves.
class Connection {
public:
    // RequestError: no connection.
    Connection(std::shared_ptr<const PcpLibrary> library, const std::string& host,
               const PcpRequest& request);

    // How many of the columns exist.
    [[nodiscard]] std::size_t resolved() const noexcept { return resolved_; }
    // One fetch; both spans have an entry for each column. Unless whole, nothing is present.
    Fetched fetch(SlotSpan into) noexcept;

private:
    struct Place {
        std::size_t set = 0;  // which of the metrics
        int instance = 0;
        std::size_t hint = 0;  // where the instance stood last
        PcpType type = PcpType::other;
        bool exists = false;
        bool singular = false;
    };

    // A metric that the daemon serves.
    struct Served {
        std::size_t set = 0;
        Descriptor descriptor{};
        Instances instances;
    };
    using ServedByName = std::map<std::string, Served, std::less<>>;

    [[nodiscard]] ServedByName serve(const std::vector<std::string>& names);
    [[nodiscard]] static Place placed(const ServedByName& served, const std::string& metric,
                                      const std::string& instance);
    [[nodiscard]] bool is_closed(const Result& result) noexcept;
    void extract(const Result& result, SlotSpan into) noexcept;
    [[nodiscard]] Number value_of(const Result& result, Place& place,
                                  std::optional<unsigned> fraction_bits) const noexcept;

    Context context_;
    std::vector<PcpColumn> columns_;
    std::vector<Place> places_;
    Place gate_;
    std::vector<MetricId> metrics_;
    std::size_t resolved_ = 0;
};

}  // namespace memgauge::pcp
