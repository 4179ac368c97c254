#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "counters/pcp/abi.hpp"
#include "counters/pcp/connection.hpp"
#include "memgauge/counters/pcp.hpp"
#include "shared_library.hpp"

namespace memgauge {
namespace {

bool find_all(void* library, pcp::Calls& into) {
    find(library, "pmGetContextHostName_r", into.host_name);
    find(library, "__pmSetRequestTimeout", into.set_request_timeout);
    find(library, "__pmSetConnectTimeout", into.set_connect_timeout);
    return find(library, "pmNewContext", into.new_context) &&
           find(library, "pmDestroyContext", into.destroy_context) &&
           find(library, "pmUseContext", into.use_context) &&
           find(library, "pmLookupName", into.lookup_names) &&
           find(library, "pmLookupDesc", into.lookup_descriptor) &&
           find(library, "pmGetInDom", into.instances) &&
           find(library, "pmTraversePMNS_r", into.traverse) &&
           find(library, "pmFetch", into.fetch) &&
           find(library, "pmFreeResult", into.free_result) &&
           find(library, "pmErrStr_r", into.error_text);
}

void bound_waiting(const pcp::Calls& calls) {
    if (calls.set_request_timeout != nullptr && std::getenv("PMCD_REQUEST_TIMEOUT") == nullptr) {
        calls.set_request_timeout(PcpLibrary::timeout_s);
    }
    if (calls.set_connect_timeout != nullptr && std::getenv("PMCD_CONNECT_TIMEOUT") == nullptr) {
        calls.set_connect_timeout(PcpLibrary::timeout_s);
    }
}

}  // namespace

PcpLibrary::PcpLibrary(const std::vector<std::string>& files)
    : calls_(std::make_unique<pcp::Calls>()) {
    pcp::require_configuration();
    std::string why = "no name was given";
    for (const std::string& file : files) {
        void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            const char* text = dlerror();
            why = text != nullptr ? text : "unknown";
        } else if (find_all(library, *calls_)) {
            file_ = file;
            calls_->reads_configuration = true;
            bound_waiting(*calls_);
            return;
        } else {
            why = file + " lacks functions that libpcp has";
        }
    }
    throw RequestError("cannot load Performance Co-Pilot's client library: " + why +
                       "; install it (Debian: apt-get install libpcp3)");
}

PcpLibrary::PcpLibrary(const pcp::Calls& calls)
    : file_("given"), calls_(std::make_unique<pcp::Calls>(calls)) {}

PcpLibrary::~PcpLibrary() = default;

}  // namespace memgauge
