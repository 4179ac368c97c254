#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "counters/nvml/library.hpp"

namespace memgauge {

// Fields of one device, asked for in one call.
struct FieldBatch {
    nvml::Device device = nullptr;
    std::vector<nvml::FieldValue> fields;
    std::vector<std::size_t> slots;
};

struct NvmlSource::Batches {
    std::vector<FieldBatch> of_device;
    std::vector<std::size_t> single;  // slots that take a call of their own
};

namespace {

void put(SlotSpan into, std::size_t slot, const nvml::Number& number) noexcept {
    into.values[slot] = number.value;
    into.present[slot] = number.result == nvml::success ? 1 : 0;
}

void read_fields(const nvml::Calls& calls, FieldBatch& batch, SlotSpan into) noexcept {
    // The library leaves what it does not know as it was: no value of the last reading may stay.
    for (nvml::FieldValue& field : batch.fields) field.result = nvml::function_not_found;
    const nvml::Return result =
        calls.fields == nullptr ? nvml::function_not_found
                                : calls.fields(batch.device, static_cast<int>(batch.fields.size()),
                                               batch.fields.data());
    for (std::size_t at = 0; at < batch.fields.size(); ++at) {
        const bool answered = result == nvml::success;
        put(into, batch.slots[at],
            answered ? nvml::number(batch.fields[at]) : nvml::Number{.result = result});
    }
}

void add_field(std::vector<FieldBatch>& batches, nvml::Device device, const NvmlQuery& query,
               std::size_t slot) {
    auto batch = std::ranges::find_if(
        batches, [device](const FieldBatch& one) { return one.device == device; });
    if (batch == batches.end()) {
        batches.push_back({.device = device, .fields = {}, .slots = {}});
        batch = batches.end() - 1;
    }
    nvml::FieldValue field{};
    field.field = query.argument;
    field.scope = query.scope;
    batch->fields.push_back(field);
    batch->slots.push_back(slot);
}

}  // namespace

NvmlSource::NvmlSource(std::shared_ptr<const NvmlLibrary> library, std::vector<NvmlQuery> queries)
    : library_(std::move(library)),
      queries_(std::move(queries)),
      batches_(std::make_unique<Batches>()) {
    if (queries_.empty()) throw RequestError("nvml: nothing to read; give at least one query");
    const std::vector<nvml::Device>& handles = library_->state_->handles;
    for (std::size_t slot = 0; slot < queries_.size(); ++slot) {
        const NvmlQuery& query = queries_[slot];
        if (query.device >= handles.size() || handles[query.device] == nullptr) {
            throw RequestError("nvml: no usable GPU " + std::to_string(query.device) +
                               "; the library shows " + std::to_string(handles.size()));
        }
        if (query.call == NvmlCall::field) {
            add_field(batches_->of_device, handles[query.device], query, slot);
        } else {
            batches_->single.push_back(slot);
        }
    }
}

NvmlSource::~NvmlSource() = default;

std::size_t NvmlSource::slots() const noexcept {
    return queries_.size();
}

void NvmlSource::read(SlotSpan into) noexcept {
    const NvmlLibrary::State& state = *library_->state_;
    for (FieldBatch& batch : batches_->of_device) read_fields(state.calls, batch, into);
    for (const std::size_t slot : batches_->single) {
        const NvmlQuery& query = queries_[slot];
        put(into, slot, nvml::ask(state.calls, state.handles[query.device], query));
    }
}

}  // namespace memgauge
