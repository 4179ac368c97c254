#pragma once
// A scripted daemon behind calls of the client library's form: one, for the whole program.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "counters/pcp/abi.hpp"
#include "memgauge/counters/pcp.hpp"

namespace fake {

struct Instance {
    int id;
    std::string name;
    std::uint64_t bits;  // of the value, in the metric's type
};

struct Metric {
    memgauge::pcp::MetricId id;
    int type;
    std::vector<Instance> instances;
    bool singular = false;
    int error = 0;
};

struct Daemon {
    std::mutex mutex;
    bool up = true;
    int flags = 0;  // of the next fetch
    int fetches = 0;
    int contexts = 0;  // open
    std::map<std::string, Metric> metrics;
    std::vector<std::unique_ptr<std::uint64_t[]>> blocks;

    static Daemon& instance() {
        static Daemon daemon;
        return daemon;
    }

    void reset() {
        const std::lock_guard lock(mutex);
        up = true;
        flags = 0;
        fetches = 0;
        metrics.clear();
    }

    const Metric* find(memgauge::pcp::MetricId id) const {
        for (const auto& [name, metric] : metrics) {
            if (metric.id == id) return &metric;
        }
        return nullptr;
    }

    template <typename T>
    T* block(std::size_t bytes) {
        blocks.push_back(std::make_unique<std::uint64_t[]>(bytes / 8 + 1));
        return reinterpret_cast<T*>(blocks.back().get());
    }
};

constexpr int refused = -111;

inline memgauge::pcp::ValueSet* set_of(Daemon& daemon, memgauge::pcp::MetricId id) {
    using namespace memgauge::pcp;
    const Metric* metric = daemon.find(id);
    const std::size_t count = metric == nullptr ? 0 : metric->instances.size();
    auto* set = daemon.block<ValueSet>(sizeof(ValueSet) + count * sizeof(Value));
    set->metric = id;
    set->count = metric == nullptr ? -1 : static_cast<int>(count);
    if (metric != nullptr && metric->error != 0) set->count = metric->error;
    const bool wide = metric != nullptr && metric->type != type_i32 && metric->type != type_u32;
    set->format = wide ? 1 : in_place;
    for (std::size_t index = 0; index < count; ++index) {
        const Instance& one = metric->instances[index];
        set->values[index].instance = one.id;
        if (!wide) {
            set->values[index].of.number = static_cast<std::int32_t>(one.bits);
            continue;
        }
        const std::uint32_t size = metric->type == type_f32 ? 4 : 8;
        auto* block = daemon.block<Block>(sizeof(Block) + size);
        block->header = (static_cast<std::uint32_t>(metric->type) << 24) | (4 + size);
        std::memcpy(block->bytes, &one.bits, size);
        set->values[index].of.block = block;
    }
    return set;
}

inline int fetch(int count, memgauge::pcp::MetricId* ids, memgauge::pcp::Result** into) {
    using namespace memgauge::pcp;
    Daemon& daemon = Daemon::instance();
    const std::lock_guard lock(daemon.mutex);
    ++daemon.fetches;
    if (!daemon.up) return refused;
    const auto sets = static_cast<std::size_t>(count);
    auto* result = daemon.block<Result>(sizeof(Result) + sets * sizeof(ValueSet*));
    result->count = count;
    for (std::size_t index = 0; index < sets; ++index) {
        result->sets[index] = set_of(daemon, ids[index]);
    }
    *into = result;
    return std::exchange(daemon.flags, 0);
}

inline int instances(memgauge::pcp::DomainId domain, int** ids, char*** names) {
    Daemon& daemon = Daemon::instance();
    const std::lock_guard lock(daemon.mutex);
    const Metric* metric = daemon.find(domain);
    if (!daemon.up || metric == nullptr) return refused;
    const std::size_t count = metric->instances.size();
    std::size_t bytes = count * sizeof(char*);
    for (const Instance& one : metric->instances) bytes += one.name.size() + 1;
    *ids = static_cast<int*>(std::malloc(count * sizeof(int)));
    *names = static_cast<char**>(std::malloc(bytes));
    char* text = reinterpret_cast<char*>(*names + count);
    for (std::size_t index = 0; index < count; ++index) {
        const Instance& one = metric->instances[index];
        (*ids)[index] = one.id;
        (*names)[index] = text;
        std::memcpy(text, one.name.c_str(), one.name.size() + 1);
        text += one.name.size() + 1;
    }
    return static_cast<int>(count);
}

inline int lookup(int count, const char** names, memgauge::pcp::MetricId* into) {
    Daemon& daemon = Daemon::instance();
    const std::lock_guard lock(daemon.mutex);
    int found = 0;
    for (int index = 0; index < count; ++index) {
        const auto metric = daemon.metrics.find(names[index]);
        if (metric == daemon.metrics.end()) continue;
        into[index] = metric->second.id;
        ++found;
    }
    return found;
}

inline int describe(memgauge::pcp::MetricId id, memgauge::pcp::Descriptor* into) {
    Daemon& daemon = Daemon::instance();
    const std::lock_guard lock(daemon.mutex);
    const Metric* metric = daemon.find(id);
    if (metric == nullptr) return -1;
    // A metric's own number stands for its domain of instances.
    *into = {id, metric->type, metric->singular ? memgauge::pcp::no_domain : id, 1, 0x00100000};
    return 0;
}

inline int open_context(int, const char*) {
    Daemon& daemon = Daemon::instance();
    const std::lock_guard lock(daemon.mutex);
    if (!daemon.up) return refused;
    return ++daemon.contexts;
}

inline int close_context(int) {
    Daemon& daemon = Daemon::instance();
    const std::lock_guard lock(daemon.mutex);
    --daemon.contexts;
    return 0;
}

inline memgauge::pcp::Calls calls() {
    memgauge::pcp::Calls made;
    made.new_context = &open_context;
    made.destroy_context = &close_context;
    made.use_context = [](int) { return 0; };
    made.lookup_names = &lookup;
    made.lookup_descriptor = &describe;
    made.instances = &instances;
    made.traverse = [](const char*, void (*)(const char*, void*), void*) { return 0; };
    made.fetch = &fetch;
    made.free_result = [](memgauge::pcp::Result*) {
        Daemon& daemon = Daemon::instance();
        const std::lock_guard lock(daemon.mutex);
        daemon.blocks.clear();
    };
    made.error_text = [](int code, char* into, int bytes) {
        const std::string text = "error " + std::to_string(code);
        std::strncpy(into, text.c_str(), static_cast<std::size_t>(bytes) - 1);
        return into;
    };
    return made;
}

}  // namespace fake
