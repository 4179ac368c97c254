#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "memgauge/held_process.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

using Texts = std::vector<nb::bytes>;

std::vector<std::string> strings(const Texts& texts) {
    std::vector<std::string> made;
    made.reserve(texts.size());
    for (const nb::bytes& text : texts) {
        made.emplace_back(text.c_str(), text.size());
    }
    return made;
}

ProgramRequest program(const Texts& arguments, const Texts& paths, const Texts& environment) {
    return {.arguments = strings(arguments),
            .paths = strings(paths),
            .environment = strings(environment)};
}

void init_held(HeldProcess* self, const Texts& arguments, const Texts& paths,
               const Texts& environment) {
    new (self) HeldProcess(program(arguments, paths, environment));
}

int become(const Texts& arguments, const Texts& paths, const Texts& environment) {
    return become_program(program(arguments, paths, environment));
}

}  // namespace

void register_process(nb::module_& module) {
    final_class<HeldProcess>(module, "HeldProcess")
        .def("__init__", &init_held, "arguments"_a, "paths"_a, "environment"_a,
             "A process that waits; when let go it becomes the first of `paths` that can be "
             "started.")
        .def_prop_ro("pid", &HeldProcess::pid)
        .def("release", &HeldProcess::release, ReleaseGil(),
             "Start the program; 0, or the error number of why it could not be.");
    module.def("become_program", &become, "arguments"_a, "paths"_a, "environment"_a,
               "Replace this process by the first of `paths` that can be started; else why none "
               "could be.");
    module.def(
        "adopt_orphans", &adopt_orphans, "on"_a,
        "Make orphans among the descendants children of this process; 0, or the error number.");
}

}  // namespace memgauge::bindings
