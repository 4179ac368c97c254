#pragma once
// One function per core area adds that area's classes and functions to the module, with what is to
// be known of them: its stub, src/memgauge/_core.pyi, is generated from these.

#include <nanobind/nanobind.h>

#include <string>

namespace memgauge::bindings {

namespace nb = nanobind;
using namespace nb::literals;

void register_errors(nb::module_& module);
void register_clock(nb::module_& module);
void register_buffer(nb::module_& module);
void register_memory(nb::module_& module);
void register_areas(nb::module_& module);
void register_pmemobj(nb::module_& module);
void register_counters(nb::module_& module);
void register_counters_perf(nb::module_& module);
void register_counters_files(nb::module_& module);
void register_counters_processes(nb::module_& module);
void register_counters_nvml(nb::module_& module);
void register_counters_cupti(nb::module_& module);
void register_counters_pcp(nb::module_& module);
void register_counters_lane(nb::module_& module);
void register_process(nb::module_& module);
void register_modelled(nb::module_& module);
void register_stimulus(nb::module_& module);
void register_team(nb::module_& module);
void register_kernels(nb::module_& module);
void register_stream_arrays(nb::module_& module);
void register_chase(nb::module_& module);
void register_accesses(nb::module_& module);
void register_shared_lines(nb::module_& module);
void register_traffic(nb::module_& module);
void register_competition(nb::module_& module);
void register_cache(nb::module_& module);
void register_blas(nb::module_& module);
void register_nests(nb::module_& module);
void register_gpu(nb::module_& module);
void register_gpu_arrays(nb::module_& module);
void register_gpu_chase(nb::module_& module);
void register_gpu_transfers(nb::module_& module);
void register_gpu_nests(nb::module_& module);

// A StopCheck: runs the Python handlers of signals that came meanwhile; true when one raised. What
// it raised stays set and comes out in place of Interrupted. Throws OutOfTime after the time that
// Python set for the calls of this thread.
bool is_wished_to_stop();

// For calls that may take longer than 10 us.
using ReleaseGil = nb::call_guard<nb::gil_scoped_release>;

// A class that Python cannot derive from, which its stub says too.
template <class Native, class... Base>
nb::class_<Native, Base...> final_class(nb::module_& module, const char* name,
                                        const char* doc = "") {
    std::string signature = std::string("@typing.final\nclass ") + name + "(";
    (signature.append(nb::type_name(nb::type<Base>()).c_str()), ...);
    signature += ")";
    return {module, name, nb::is_final(), nb::sig(signature.c_str()), doc};
}

}  // namespace memgauge::bindings
