#include "memory/areas/pmemobj_library.hpp"

#include <dlfcn.h>

#include <atomic>
#include <string>

#include "memgauge/error.hpp"
#include "shared_library.hpp"

namespace memgauge::pmemobj {

namespace {

constexpr const char* file = "libpmemobj.so.1";

struct Loaded {
    void* handle = nullptr;
    Calls calls;
};

// Of the library, once it is loaded.
std::atomic<const Loaded*> loaded{nullptr};

bool find_all(void* handle, Calls& into) {
    return find(handle, "pmemobj_open", into.open) && find(handle, "pmemobj_create", into.create) &&
           find(handle, "pmemobj_close", into.close) && find(handle, "pmemobj_alloc", into.alloc) &&
           find(handle, "pmemobj_free", into.free) && find(handle, "pmemobj_first", into.first) &&
           find(handle, "pmemobj_next", into.next) &&
           find(handle, "pmemobj_type_num", into.type_of) &&
           find(handle, "pmemobj_errormsg", into.error_text) &&
           find(handle, "pmemobj_pool_by_oid", into.pool_by_oid) &&
           dlsym(handle, "_pobj_cached_pool") != nullptr &&
           dlsym(handle, "_pobj_cache_invalidate") != nullptr;
}

const Loaded* load() {
    void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* const why = dlerror();
        throw RequestError(std::string("cannot load libpmemobj: ") + (why ? why : file) +
                           "; install it (Debian, Ubuntu: apt-get install libpmemobj1; Fedora, "
                           "RHEL: dnf install libpmemobj; SUSE: zypper install libpmemobj1)");
    }
    static Loaded library;
    library.handle = handle;
    if (!find_all(handle, library.calls)) {
        throw RequestError(std::string("cannot use ") + file +
                           ": it lacks functions that version 1.0 has; install libpmemobj of PMDK "
                           "1.0 or newer");
    }
    loaded.store(&library, std::memory_order_release);
    return &library;
}

}  // namespace

const Calls& library() {
    static const Loaded* const once = load();  // tried again after an exception
    return once->calls;
}

Translation translation() noexcept {
    thread_local Translation mine;
    const Loaded* const library = loaded.load(std::memory_order_acquire);
    if (mine.cache == nullptr && library != nullptr) {
        // Of a thread-local symbol this is the address for the calling thread.
        mine = {static_cast<PoolCache*>(dlsym(library->handle, "_pobj_cached_pool")),
                static_cast<const int*>(dlsym(library->handle, "_pobj_cache_invalidate")),
                library->calls.pool_by_oid};
    }
    return mine;
}

}  // namespace memgauge::pmemobj
