#pragma once
// One function per core area adds that area's classes and functions to the module.

#include <nanobind/nanobind.h>

namespace memgauge::bindings {

void register_errors();
void register_clock(nanobind::module_& module);
void register_buffer(nanobind::module_& module);
void register_memory(nanobind::module_& module);
void register_areas(nanobind::module_& module);
void register_pmemobj(nanobind::module_& module);
void register_counters(nanobind::module_& module);
void register_counters_perf(nanobind::module_& module);
void register_counters_files(nanobind::module_& module);
void register_counters_processes(nanobind::module_& module);
void register_counters_nvml(nanobind::module_& module);
void register_counters_cupti(nanobind::module_& module);
void register_counters_pcp(nanobind::module_& module);
void register_counters_lane(nanobind::module_& module);
void register_process(nanobind::module_& module);
void register_modelled(nanobind::module_& module);
void register_stimulus(nanobind::module_& module);
void register_team(nanobind::module_& module);
void register_kernels(nanobind::module_& module);
void register_stream_arrays(nanobind::module_& module);
void register_chase(nanobind::module_& module);
void register_accesses(nanobind::module_& module);
void register_traffic(nanobind::module_& module);
void register_competition(nanobind::module_& module);
void register_cache(nanobind::module_& module);
void register_nests(nanobind::module_& module);
void register_gpu(nanobind::module_& module);
void register_gpu_arrays(nanobind::module_& module);
void register_gpu_chase(nanobind::module_& module);
void register_gpu_transfers(nanobind::module_& module);
void register_gpu_nests(nanobind::module_& module);

// A StopCheck: runs the Python handlers of signals that came meanwhile; true when one raised. What
// it raised stays set and comes out in place of Interrupted.
bool signal_raised();

// For calls that may take longer than 10 us.
using ReleaseGil = nanobind::call_guard<nanobind::gil_scoped_release>;

}  // namespace memgauge::bindings
