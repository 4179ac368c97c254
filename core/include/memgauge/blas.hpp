#pragma once
// A BLAS that is installed, loaded at run time: matrix times vector and matrix times matrix by a
// library's code, on the arrays of the loop nests that do the same.

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "memgauge/nests.hpp"

namespace memgauge {

// Called by its Fortran interface (dgemm_, dgemv_), which every BLAS has. Each call is limited to
// the thread that makes it: a team's threads are pinned, those of a library are not.
class Blas {
public:
    // `name`: one of names(), a library's file name (with ".so") that the loader finds, or a path
    // (with a slash). It is loaded, limited to one thread and tried on a small matrix; the
    // variables of the environment that limit threads are set meanwhile and then as before. The
    // library stays loaded. RequestError: it cannot be loaded, has no dgemm and dgemv, computes
    // something else, or starts threads whatever it is asked.
    explicit Blas(std::string_view name);

    [[nodiscard]] static std::vector<std::string_view> names();

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    // Whose library it is by the functions that it has, such as "OpenBLAS"; empty: not known.
    [[nodiscard]] const std::string& vendor() const noexcept { return vendor_; }
    // What the library says of itself, on one line; empty: it does not tell.
    [[nodiscard]] const std::string& version() const noexcept { return version_; }
    // The file that was loaded, links followed.
    [[nodiscard]] const std::string& file() const noexcept { return file_; }
    // As the library reports it; 0: it does not tell, and it started no thread when it was tried.
    [[nodiscard]] int threads() const noexcept { return threads_; }

    // Whether it can do what the nest does: gemv and gemm. RequestError naming the two.
    static void check(const NestSpec& spec);
    // One execution on operands in the order of arrays_of. A capped matrix takes a call for each
    // walk over its rows. A call under way cannot be ended.
    void run(const NestSpec& spec, const std::array<void*, 3>& operands) const noexcept;

private:
    struct Calls;
    std::shared_ptr<const Calls> calls_;
    std::string name_;
    std::string vendor_;
    std::string version_;
    std::string file_;
    int threads_ = 0;
};

}  // namespace memgauge
