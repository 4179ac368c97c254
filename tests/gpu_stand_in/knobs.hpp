#pragma once
// What a stand-in was told to be: knobs are environment variables GPU_STAND_IN_NAME, else lines
// "name=value" of the file `knobs` in the directory that the library was loaded from.

#include <cstdint>
#include <string>

namespace stand_in {

// The text of a knob; `otherwise` where it was not set.
std::string knob(const std::string& name, const std::string& otherwise);
std::uint64_t knob_number(const std::string& name, std::uint64_t otherwise);
double knob_real(const std::string& name, double otherwise);

// Counts a call; the code that it must fail with: "fail" holds ENTRY=CODE[@FROM_CALL], by commas.
int called(const char* entry_point);
std::uint64_t calls_of(const std::string& entry_point);

}  // namespace stand_in
