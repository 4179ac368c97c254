#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "memgauge/counters/number_files.hpp"
#include "register.hpp"

namespace memgauge::bindings {
namespace {

void init_cell(NumberCell* self, std::string row, unsigned column, std::string field) {
    new (self) NumberCell{.row = std::move(row), .column = column, .field = std::move(field)};
}

void init_file(NumberFile* self, std::string path, std::vector<NumberCell> cells,
               std::vector<std::uint64_t> words) {
    new (self)
        NumberFile{.path = std::move(path), .cells = std::move(cells), .words = std::move(words)};
}

std::shared_ptr<CounterSource> open_files(const std::vector<NumberFile>& files) {
    return open_number_files(files);
}

}  // namespace

void register_counters_files(nb::module_& module) {
    final_class<NumberCell>(
        module, "NumberCell",
        "A number in a file of lines: the line that begins with `row`, and the word in it.\n\n"
        "`field`: the word `field=NUMBER`, else the word in `column`, 0 the first after the row's "
        "name.")
        .def("__init__", &init_cell, "row"_a, "column"_a = 0, "field"_a = "");
    final_class<NumberFile>(
        module, "NumberFile",
        "A file kept open. Without cells and words the whole file is one number; else each is a "
        "slot.\n\n"
        "`words`: offsets in bytes of little-endian words of 64 bits in a binary file.")
        .def("__init__", &init_file, "path"_a, "cells"_a = std::vector<NumberCell>(),
             "words"_a = std::vector<std::uint64_t>());
    module.def("open_number_files", &open_files, "files"_a, ReleaseGil(),
               "Slots of each file in order. What is not a whole number from 0 on is missing.\n\n"
               "Raises CounterRefused with `error_number` and `event_index`, the place of the file "
               "in the list.");
}

}  // namespace memgauge::bindings
