// The native module memgauge._core. Docstrings beside its classes and functions are their
// documentation, for Python and for the stub that the build makes.

#include <string>

#include "register.hpp"

namespace {

std::string compiler() {
#if defined(__clang__)
    return "clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) +
           "." + std::to_string(__clang_patchlevel__);
#else
    return "gcc " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
           std::to_string(__GNUC_PATCHLEVEL__);
#endif
}

}  // namespace

NB_MODULE(_core, module) {
    using namespace memgauge::bindings;
    // An object alive at exit is the interpreter's habit, not an error to print.
    nanobind::set_leak_warnings(false);
    module.doc() =
        "The native core: clock, buffers, team, kernels and chase. See core/include/memgauge.\n\n"
        "Its errors are those of `memgauge.model.errors`; an interrupted call raises "
        "KeyboardInterrupt (or whatever the Python signal handler raised). Long calls release the "
        "GIL and look for signals. A team and what was made on it serve one call at a time: a "
        "second one at the same time raises.";
    module.attr("compiler") = nanobind::str(compiler().c_str());
    register_errors(module);
    register_clock(module);
    register_buffer(module);
    register_memory(module);
    register_areas(module);
    register_pmemobj(module);
    register_counters(module);
    register_counters_perf(module);
    register_counters_files(module);
    register_counters_processes(module);
    register_counters_nvml(module);
    register_counters_cupti(module);
    register_counters_pcp(module);
    register_counters_lane(module);
    register_process(module);
    register_modelled(module);
    register_team(module);
    register_stimulus(module);
    register_kernels(module);
    register_stream_arrays(module);
    register_chase(module);
    register_accesses(module);
    register_shared_lines(module);
    register_traffic(module);
    register_competition(module);
    register_cache(module);
    register_blas(module);
    register_nests(module);
    register_gpu(module);
    register_gpu_arrays(module);
    register_gpu_chase(module);
    register_gpu_transfers(module);
    register_gpu_nests(module);
}
