#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "memgauge/counters/number_files.hpp"
#include "register.hpp"

namespace nb = nanobind;

namespace memgauge::bindings {
namespace {

void init_cell(NumberCell* self, std::string row, unsigned column, std::string field) {
    new (self) NumberCell{.row = std::move(row), .column = column, .field = std::move(field)};
}

void init_file(NumberFile* self, std::string path, std::vector<NumberCell> cells) {
    new (self) NumberFile{.path = std::move(path), .cells = std::move(cells)};
}

std::shared_ptr<CounterSource> open_files(const std::vector<NumberFile>& files) {
    return open_number_files(files);
}

}  // namespace

void register_counters_files(nb::module_& module) {
    nb::class_<NumberCell>(module, "NumberCell", nb::is_final())
        .def("__init__", &init_cell, nb::arg("row"), nb::arg("column") = 0, nb::arg("field") = "");
    nb::class_<NumberFile>(module, "NumberFile", nb::is_final())
        .def("__init__", &init_file, nb::arg("path"), nb::arg("cells") = std::vector<NumberCell>());
    module.def("open_number_files", &open_files, nb::arg("files"), ReleaseGil());
}

}  // namespace memgauge::bindings
