#include "memgauge/error.hpp"

#include <system_error>

namespace memgauge {

CounterRefused::CounterRefused(const std::string& what, int error_number, std::size_t index)
    : RequestError(what + ": " + std::generic_category().message(error_number)),
      error_number_(error_number),
      index_(index) {}

SystemError::SystemError(const std::string& what, int error_number)
    : Error(what + ": " + std::generic_category().message(error_number)),
      error_number_(error_number) {}

OutOfTime::OutOfTime() : RequestError("it took longer than the time that there was for it") {}

Interrupted::Interrupted() : Error("interrupted before the work was done") {}

}  // namespace memgauge
