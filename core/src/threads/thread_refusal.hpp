#pragma once
// Why a thread could not be started, in words.

#include <string>

namespace memgauge {

// Throws DoesNotFit where there is no address space for a thread's stack, else SystemError that
// names the limits on threads. `what`: such as "cannot start thread 0 of a team of 4". `error`:
// what the start failed with, which is EAGAIN in both cases.
[[noreturn]] void refuse_thread(const std::string& what, int error);

}  // namespace memgauge
