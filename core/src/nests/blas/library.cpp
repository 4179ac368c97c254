#include "nests/blas/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <utility>
#include <vector>

#include "memgauge/error.hpp"
#include "shared_library.hpp"

namespace memgauge::blas {
namespace {

// Names by which libraries are asked for, with the files that have them; those that start no
// threads first. ILP64 or LP64 does not matter, see Integer.
struct Named {
    std::string_view name;
    std::array<const char*, 5> files;
    std::string_view install;
};
constexpr std::array<Named, 8> known{{
    {"openblas",
     {"libopenblas.so.0", "libopenblas.so", "libopenblas64.so.0", "libopenblas64.so",
      "libopenblas64_.so.0"},
     "Debian, Ubuntu: apt-get install libopenblas0; Fedora, RHEL: dnf install openblas"},
    {"mkl",
     {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"},
     "pip install mkl, then give the path of libmkl_rt.so.2"},
    {"blis",
     {"libblis.so.4", "libblis.so.5", "libblis.so.3", "libblis.so", "libblis-mt.so"},
     "Debian, Ubuntu: apt-get install libblis4"},
    {"nvpl",
     {"libnvpl_blas_lp64_seq.so.0", "libnvpl_blas_ilp64_seq.so.0", "libnvpl_blas_lp64_gomp.so.0"},
     "see docs.nvidia.com/nvpl"},
    {"armpl",
     {"libarmpl_lp64.so", "libarmpl.so", "libarmpl_ilp64.so"},
     "see developer.arm.com, Arm Performance Libraries"},
    {"essl", {"libessl.so.1", "libessl.so"}, "see IBM's ESSL for Linux on Power"},
    {"flexiblas", {"libflexiblas.so.3", "libflexiblas.so"}, "Fedora: dnf install flexiblas"},
    {"blas",
     {"libblas.so.3", "libblas.so"},
     "Debian, Ubuntu: apt-get install libblas3; Fedora, RHEL: dnf install blas"},
}};

// Variables that limit the threads of libraries when they are loaded or first called.
constexpr std::array<const char*, 8> limits{
    "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS",      "OMP_NUM_THREADS",   "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",     "NVPL_BLAS_NUM_THREADS", "ARMPL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"};

// What is installed, as packages of Python prefix and suffix the functions of theirs.
constexpr std::array<std::pair<const char*, const char*>, 5> decorations{
    {{"", ""}, {"", "64_"}, {"", "_64_"}, {"scipy_", ""}, {"scipy_", "64_"}}};

template <class Call>
bool find_decorated(void* library, const std::string& base, Call*& into) {
    return std::ranges::any_of(decorations, [&](const auto& around) {
        return find(library, (around.first + base + around.second).c_str(), into);
    });
}

std::string one_line(std::string text) {
    std::ranges::replace_if(text, [](unsigned char sign) { return sign < ' '; }, ' ');
    const auto end = text.find_last_not_of(' ');
    return end == std::string::npos ? "" : text.substr(0, end + 1);
}

std::string why_not() {
    const char* const text = dlerror();
    return one_line(text == nullptr ? "the loader does not say why" : text);
}

struct Opened {
    void* handle;
    std::string by;
};

Opened first_of(const Named& named) {
    std::string missing;
    std::string refused;
    for (const char* file : named.files) {
        if (file == nullptr) break;
        if (void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL)) return {handle, file};
        const std::string why = why_not();
        missing.append(missing.empty() ? "" : ", ").append(file);
        if (why.find("No such file") == std::string::npos && refused.empty()) refused = why;
    }
    throw RequestError("cannot load the BLAS library " + std::string(named.name) + ": " +
                       (refused.empty() ? "the loader finds none of " + missing : refused) +
                       "; install it (" + std::string(named.install) +
                       "), or give the path of its file");
}

Opened found_by(std::string_view name) {
    const auto found = std::ranges::find(known, name, &Named::name);
    if (found != known.end()) return first_of(*found);
    const std::string file(name);
    if (name.find('/') == std::string_view::npos && name.find(".so") == std::string_view::npos) {
        std::string choices;
        for (const Named& one : known) choices.append(one.name).append(", ");
        throw RequestError("unknown BLAS library '" + file + "'; choose among " + choices +
                           "or give the path of a file");
    }
    if (void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return {handle, file};
    throw RequestError("cannot load the BLAS library " + file + ": " + why_not() +
                       "; give the path of a shared library for this machine");
}

// Where a library's code is, with links followed.
std::string file_of(void* handle, const std::string& otherwise) {
    const link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr) {
        return otherwise;
    }
    std::array<char, PATH_MAX> resolved{};
    return realpath(map->l_name, resolved.data()) == nullptr ? map->l_name : resolved.data();
}

// Each asks a vendor's own functions; false: it is not theirs.

bool is_openblas(void* handle, Library& into) {
    char* (*config)() = nullptr;
    void (*limit)(int) = nullptr;
    int (*threads)() = nullptr;
    if (!find_decorated(handle, "openblas_get_config", config)) return false;
    into.vendor = "OpenBLAS";
    into.version = one_line(config());
    char* (*core)() = nullptr;
    if (find_decorated(handle, "openblas_get_corename", core)) {
        into.version += std::string(", kernels for ") + core();
    }
    if (find_decorated(handle, "openblas_set_num_threads", limit)) limit(1);
    if (find_decorated(handle, "openblas_get_num_threads", threads)) into.threads = threads();
    return true;
}

bool is_mkl(void* handle, Library& into) {
    void (*version)(char*, int) = nullptr;
    void (*limit)(int) = nullptr;
    int (*threads)() = nullptr;
    if (!find(handle, "MKL_Get_Version_String", version)) return false;
    std::array<char, 256> text{};
    version(text.data(), static_cast<int>(text.size()) - 1);
    into.vendor = "MKL";
    into.version = one_line(text.data());
    if (find(handle, "MKL_Set_Num_Threads", limit)) limit(1);
    if (find(handle, "MKL_Get_Max_Threads", threads)) into.threads = threads();
    return true;
}

bool is_blis(void* handle, Library& into) {
    const char* (*version)() = nullptr;
    void (*limit)(std::int64_t) = nullptr;
    std::int64_t (*threads)() = nullptr;
    if (!find(handle, "bli_info_get_version_str", version)) return false;
    into.vendor = "BLIS";
    into.version = one_line(version());
    // -1: by its loops, of which none was asked for.
    if (find(handle, "bli_thread_set_num_threads", limit)) limit(1);
    if (find(handle, "bli_thread_get_num_threads", threads)) {
        into.threads = static_cast<int>(std::max<std::int64_t>(0, threads()));
    }
    return true;
}

bool is_nvpl(void* handle, Library& into) {
    int (*version)() = nullptr;
    void (*limit)(int) = nullptr;
    int (*threads)() = nullptr;
    if (!find(handle, "nvpl_blas_get_version", version)) return false;
    into.vendor = "NVPL";
    into.version = std::to_string(version());
    if (find(handle, "nvpl_blas_set_num_threads", limit)) limit(1);
    if (find(handle, "nvpl_blas_get_max_threads", threads)) into.threads = threads();
    return true;
}

bool is_armpl(void* handle, Library& into) {
    void (*version)(int*, int*, int*, const char**) = nullptr;
    if (!find(handle, "armplversion", version)) return false;
    int major = 0;
    int minor = 0;
    int patch = 0;
    const char* tag = nullptr;
    version(&major, &minor, &patch, &tag);
    into.vendor = "Arm Performance Libraries";
    into.version =
        std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
    return true;
}

bool is_flexiblas(void* handle, Library& into) {
    void (*version)(int*, int*, int*) = nullptr;
    void (*limit)(int) = nullptr;
    int (*threads)() = nullptr;
    int (*backend)(char*, std::size_t) = nullptr;
    if (!find(handle, "flexiblas_get_version", version)) return false;
    int major = 0;
    int minor = 0;
    int patch = 0;
    version(&major, &minor, &patch);
    into.vendor = "FlexiBLAS";
    into.version =
        std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
    std::array<char, 128> text{};
    if (find(handle, "flexiblas_current_backend", backend) &&
        backend(text.data(), text.size() - 1) > 0) {
        into.version += ", backend " + one_line(text.data());
    }
    if (find(handle, "flexiblas_set_num_threads", limit)) limit(1);
    if (find(handle, "flexiblas_get_num_threads", threads)) into.threads = threads();
    return true;
}

// FlexiBLAS first: it hands on what its backend has.
void identify(void* handle, Library& into) {
    constexpr std::array vendors{is_flexiblas, is_mkl, is_blis, is_nvpl, is_armpl, is_openblas};
    static_cast<void>(
        std::ranges::any_of(vendors, [&](auto* is_theirs) { return is_theirs(handle, into); }));
}

void find_functions(void* handle, const std::string& by, Library& into) {
    const auto found = [&](const char* with, const char* without, auto*& call) {
        // A suffix follows the underscore of Fortran's names; ESSL has none.
        return find_decorated(handle, with, call) || find(handle, without, call);
    };
    if (found("dgemm_", "dgemm", into.gemm) && found("dgemv_", "dgemv", into.gemv)) return;
    throw RequestError("cannot use " + by +
                       " as a BLAS library: it has no dgemm and dgemv; give one that has");
}

}  // namespace

SingleThreaded::SingleThreaded() {
    for (const char* name : limits) {
        const char* const value = std::getenv(name);
        if (value != nullptr) before_.emplace_back(name, value);
        setenv(name, "1", 1);
    }
}

SingleThreaded::~SingleThreaded() {
    for (const char* name : limits) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name, value.c_str(), 1);
}

Library load(std::string_view name) {
    const Opened opened = found_by(name);
    Library library;
    find_functions(opened.handle, opened.by, library);
    library.file = file_of(opened.handle, opened.by);
    identify(opened.handle, library);
    return library;
}

std::vector<std::string_view> names() {
    std::vector<std::string_view> found;
    found.reserve(known.size());
    for (const Named& one : known) found.push_back(one.name);
    return found;
}

}  // namespace memgauge::blas
