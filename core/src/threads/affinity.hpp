#pragma once
// Which CPUs a thread may run on.

#include <string>
#include <vector>

namespace memgauge {

// Binds the calling thread to one CPU. Returns 0 or the error number.
int pin_this_thread(int cpu) noexcept;

// "0-3,8": ascending ranges of an ascending list.
std::string format_cpu_list(const std::vector<int>& cpus);

// RequestError: an empty list, a CPU listed twice, one outside `allowed`.
void check_cpus(const std::vector<int>& cpus, const std::vector<int>& allowed);

}  // namespace memgauge
