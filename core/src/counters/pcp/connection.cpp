#include "counters/pcp/connection.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "threads/signals_blocked.hpp"

namespace memgauge::pcp {
namespace {

std::vector<std::string> metrics_of(const PcpRequest& request) {
    std::vector<std::string> names;
    names.reserve(request.columns.size() + 1);
    for (const PcpColumn& column : request.columns) names.push_back(column.metric);
    if (!request.gate.empty()) names.push_back(request.gate);
    std::ranges::sort(names);
    const auto repeated = std::ranges::unique(names);
    names.erase(repeated.begin(), repeated.end());
    return names;
}

}  // namespace

Connection::Connection(std::shared_ptr<const PcpLibrary> library, const std::string& host,
                       const PcpRequest& request)
    : context_(std::move(library), host), columns_(request.columns) {
    const ServedByName served = serve(metrics_of(request));
    for (const PcpColumn& column : columns_) {
        Place place = placed(served, column.metric, column.instance);
        place.exists &= is_integer(place.type) != column.fraction_bits.has_value();
        resolved_ += place.exists ? 1 : 0;
        places_.push_back(place);
    }
    gate_ = placed(served, request.gate, "");
}

Connection::ServedByName Connection::serve(const std::vector<std::string>& names) {
    const Calls& calls = context_.use();
    const std::vector<MetricId> ids = identified(calls, names);
    ServedByName served;
    for (std::size_t index = 0; index < names.size(); ++index) {
        Served one;
        if (ids[index] == no_metric || calls.lookup_descriptor(ids[index], &one.descriptor) < 0) {
            continue;
        }
        const DomainId domain = one.descriptor.domain;
        if (domain != no_domain) one.instances = instances_of(calls, domain);
        one.set = metrics_.size();
        metrics_.push_back(ids[index]);
        served.emplace(names[index], std::move(one));
    }
    return served;
}

Connection::Place Connection::placed(const ServedByName& served, const std::string& metric,
                                     const std::string& instance) {
    Place place;
    const auto found = served.find(metric);
    if (found == served.end()) return place;
    const Served& one = found->second;
    place.set = one.set;
    place.type = type_of(one.descriptor.type);
    place.singular = one.descriptor.domain == no_domain;
    const auto named = std::ranges::find(one.instances, instance, &Instances::value_type::second);
    place.exists = place.singular ? instance.empty() : named != one.instances.end();
    if (named != one.instances.end()) place.instance = named->first;
    return place;
}

Fetched Connection::fetch(SlotSpan into) noexcept {
    into.mark_all_missing();
    const Calls& calls = context_.use();
    // A signal would end the library's waiting as if the connection were lost.
    const SignalsBlocked quiet;
    Result* result = nullptr;
    const int outcome = calls.fetch(static_cast<int>(metrics_.size()), metrics_.data(), &result);
    if (outcome < 0 || result == nullptr) return Fetched::lost;
    const bool changed = (outcome & agents_changed) != 0 ||
                         ((outcome & names_changed) != 0 && resolved_ < columns_.size());
    if (!changed) extract(*result, into);
    calls.free_result(result);
    return changed ? Fetched::changed : Fetched::whole;
}

void Connection::extract(const Result& result, SlotSpan into) noexcept {
    const bool closed = is_closed(result);
    for (std::size_t index = 0; index < columns_.size(); ++index) {
        if (closed && columns_[index].gated) continue;
        const Number found = value_of(result, places_[index], columns_[index].fraction_bits);
        into.values[index] = found.value;
        into.present[index] = found.present ? 1 : 0;
    }
    for (std::size_t index = 0; index < columns_.size(); ++index) {
        const std::optional<std::size_t> duty = columns_[index].duty;
        if (duty && into.present[*duty] != 0 && into.values[*duty] == 0) into.present[index] = 0;
    }
}

bool Connection::is_closed(const Result& result) noexcept {
    if (!gate_.exists) return false;
    const Number open = value_of(result, gate_, std::nullopt);
    return open.present && open.value == 0;
}

Number Connection::value_of(const Result& result, Place& place,
                            std::optional<unsigned> fraction_bits) const noexcept {
    if (!place.exists || static_cast<std::size_t>(result.count) != metrics_.size()) return {};
    const ValueSet* set = result.sets[place.set];
    if (set == nullptr || set->metric != metrics_[place.set] || set->count <= 0) return {};
    const auto count = static_cast<std::size_t>(set->count);
    if (place.singular) return number(set->values[0], set->format, place.type, fraction_bits);
    if (place.hint >= count || set->values[place.hint].instance != place.instance) {
        place.hint = 0;
        while (place.hint < count && set->values[place.hint].instance != place.instance) {
            ++place.hint;
        }
        if (place.hint == count) return {};
    }
    return number(set->values[place.hint], set->format, place.type, fraction_bits);
}

}  // namespace memgauge::pcp
