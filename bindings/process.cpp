#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "memgauge/held_process.hpp"
#include "register.hpp"

namespace nb = nanobind;

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
    nb::class_<HeldProcess>(module, "HeldProcess", nb::is_final())
        .def("__init__", &init_held, nb::arg("arguments"), nb::arg("paths"), nb::arg("environment"))
        .def_prop_ro("pid", &HeldProcess::pid)
        .def("release", &HeldProcess::release, ReleaseGil());
    module.def("become_program", &become, nb::arg("arguments"), nb::arg("paths"),
               nb::arg("environment"));
    module.def("adopt_orphans", &adopt_orphans, nb::arg("on"));
}

}  // namespace memgauge::bindings
