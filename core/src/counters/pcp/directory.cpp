#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "counters/pcp/connection.hpp"
#include "threads/signals_blocked.hpp"

namespace memgauge {
namespace {

constexpr int longest_host_name = 256;

void add_name(const char* name, void* names) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
}

// A metric and what is needed to find its values.
struct Known {
    PcpMetric* metric;
    pcp::MetricId id;
    pcp::Instances instances;
};

void describe_one(const pcp::Calls& calls, pcp::MetricId id, PcpMetric& into,
                  std::vector<Known>& known) {
    if (id == pcp::no_metric) {
        into.error = "unknown metric name";
        return;
    }
    pcp::Descriptor descriptor{};
    const int described = calls.lookup_descriptor(id, &descriptor);
    if (described < 0) {
        into.error = pcp::error_text(calls, described);
        return;
    }
    into.type = pcp::type_of(descriptor.type);
    into.counts = descriptor.semantics == pcp::semantics_counter;
    pcp::unpack_units(descriptor.units, into);
    pcp::Instances instances{{0, ""}};
    if (descriptor.domain != pcp::no_domain) {
        instances = pcp::instances_of(calls, descriptor.domain);
    }
    for (const auto& [number, name] : instances) into.instances.push_back({name, false});
    known.push_back({&into, id, std::move(instances)});
}

void mark_available(const pcp::Calls& calls, const pcp::ValueSet* set, Known& one) {
    if (set == nullptr || set->count <= 0) {
        const bool reported = set != nullptr && set->count < 0;
        one.metric->no_value = reported ? pcp::error_text(calls, set->count) : "no value";
        return;
    }
    const bool singular = one.instances.size() == 1 && one.instances[0].second.empty();
    for (int index = 0; index < set->count; ++index) {
        for (std::size_t at = 0; at < one.instances.size(); ++at) {
            if (singular || one.instances[at].first == set->values[index].instance) {
                one.metric->instances[at].available = true;
            }
        }
    }
}

void ask_values(const pcp::Calls& calls, std::vector<Known>& known) {
    if (known.empty()) return;
    std::vector<pcp::MetricId> ids;
    ids.reserve(known.size());
    for (const Known& one : known) ids.push_back(one.id);
    pcp::Result* result = nullptr;
    const int outcome = calls.fetch(static_cast<int>(ids.size()), ids.data(), &result);
    if (outcome < 0 || result == nullptr) {
        for (Known& one : known) one.metric->no_value = pcp::error_text(calls, outcome);
        return;
    }
    for (std::size_t index = 0; index < known.size(); ++index) {
        mark_available(calls, result->sets[index], known[index]);
    }
    calls.free_result(result);
}

}  // namespace

// Signals end the library's waiting with an error: they are kept away while it is asked.
class PcpDirectory::Connected {
public:
    Connected(std::shared_ptr<const PcpLibrary> library, const std::string& host)
        : context(std::move(library), host) {}
    pcp::Context context;
};

PcpDirectory::PcpDirectory(std::shared_ptr<const PcpLibrary> library, const std::string& host) {
    const SignalsBlocked quiet;
    connected_ = std::make_unique<Connected>(std::move(library), host);
}

PcpDirectory::~PcpDirectory() = default;

std::string PcpDirectory::host_name() const {
    const pcp::Calls& calls = connected_->context.use();
    if (calls.host_name == nullptr) return {};
    std::array<char, longest_host_name> name{};
    calls.host_name(connected_->context.handle(), name.data(), longest_host_name);
    name.back() = '\0';
    return name.data();
}

std::vector<std::string> PcpDirectory::names(const std::string& below) const {
    const SignalsBlocked quiet;
    std::vector<std::string> names;
    connected_->context.use().traverse(below.c_str(), &add_name, &names);
    return names;
}

std::vector<PcpMetric> PcpDirectory::describe(const std::vector<std::string>& names) const {
    const SignalsBlocked quiet;
    const pcp::Calls& calls = connected_->context.use();
    const std::vector<pcp::MetricId> ids = pcp::identified(calls, names);
    std::vector<PcpMetric> metrics(names.size());
    std::vector<Known> known;
    for (std::size_t index = 0; index < names.size(); ++index) {
        metrics[index].name = names[index];
        describe_one(calls, ids[index], metrics[index], known);
    }
    ask_values(calls, known);
    return metrics;
}

}  // namespace memgauge
