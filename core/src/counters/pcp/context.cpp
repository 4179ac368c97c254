#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "counters/pcp/connection.hpp"

namespace memgauge::pcp {

namespace {

// By the library's own rule.
std::string configuration_file() {
    if (const char* file = std::getenv("PCP_CONF"); file != nullptr) return file;
    const char* root = std::getenv("PCP_DIR");
    return std::string(root != nullptr ? root : "") + "/etc/pcp.conf";
}

}  // namespace

void require_configuration() {
    const std::string file = configuration_file();
    if (access(file.c_str(), R_OK) == 0) return;
    throw RequestError("cannot read Performance Co-Pilot's configuration " + file + ": " +
                       std::strerror(errno) +
                       "; install it (Debian: apt-get install pcp), or name its file in PCP_CONF");
}

std::string error_text(const Calls& calls, int code) {
    std::array<char, longest_error> text{};
    calls.error_text(code, text.data(), longest_error);
    text.back() = '\0';
    return text.data();
}

Context::Context(std::shared_ptr<const PcpLibrary> library, const std::string& host)
    : library_(std::move(library)) {
    if (library_->calls().reads_configuration) require_configuration();
    handle_ = library_->calls().new_context(context_host, host.c_str());
    if (handle_ < 0) {
        throw RequestError("cannot connect to pmcd at " + host + ": " +
                           error_text(library_->calls(), handle_));
    }
}

Context::~Context() {
    library_->calls().destroy_context(handle_);
}

const Calls& Context::use() const noexcept {
    library_->calls().use_context(handle_);
    return library_->calls();
}

Instances instances_of(const Calls& calls, DomainId domain) {
    int* ids = nullptr;
    char** names = nullptr;
    const int count = calls.instances(domain, &ids, &names);
    if (count <= 0) return {};
    // Both arrays are the caller's to free; the names stand behind their pointers.
    const std::unique_ptr<int, decltype(&std::free)> owned_ids(ids, &std::free);
    const std::unique_ptr<char*, decltype(&std::free)> owned_names(names, &std::free);
    Instances found;
    for (int index = 0; index < count; ++index) found.emplace_back(ids[index], names[index]);
    return found;
}

std::vector<MetricId> identified(const Calls& calls, const std::vector<std::string>& names) {
    std::vector<const char*> asked;
    asked.reserve(names.size());
    for (const std::string& name : names) asked.push_back(name.c_str());
    std::vector<MetricId> found(names.size(), no_metric);
    if (names.empty()) return found;
    const int count = static_cast<int>(names.size());
    if (calls.lookup_names(count, asked.data(), found.data()) == count) return found;
    // One that is unknown may hide the others.
    for (std::size_t index = 0; index < found.size(); ++index) {
        MetricId id = no_metric;
        const int known = calls.lookup_names(1, &asked[index], &id);
        found[index] = known == 1 ? id : no_metric;
    }
    return found;
}

}  // namespace memgauge::pcp
