#pragma once
// A BLAS as loaded: its two functions, and what libraries have beside them to limit threads and to
// tell who they are.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memgauge::blas {

// Integers are given by reference, so one of 64 bits serves libraries of 32 and of 64 bits alike
// where the lower half comes first.
using Integer = std::int64_t;
static_assert(std::endian::native == std::endian::little);
inline constexpr std::size_t largest_integer = 0x7fffffff;

// The last arguments are the lengths of the first, as compilers of Fortran pass them.
using Gemm = void(const char* trans_a, const char* trans_b, const Integer* m, const Integer* n,
                  const Integer* k, const double* alpha, const double* a, const Integer* lda,
                  const double* b, const Integer* ldb, const double* beta, double* c,
                  const Integer* ldc, std::size_t length_a, std::size_t length_b);
using Gemv = void(const char* trans, const Integer* m, const Integer* n, const double* alpha,
                  const double* a, const Integer* lda, const double* x, const Integer* increment_x,
                  const double* beta, double* y, const Integer* increment_y, std::size_t length);

struct Library {
    Gemm* gemm = nullptr;
    Gemv* gemv = nullptr;
    std::string vendor;
    std::string version;
    std::string file;
    int threads = 0;  // 0: it does not tell
};

// While it lives, the environment asks libraries to use one thread; it is then as before. They look
// when they are loaded or first called.
class SingleThreaded {
public:
    SingleThreaded();
    ~SingleThreaded();
    SingleThreaded(const SingleThreaded&) = delete;
    SingleThreaded& operator=(const SingleThreaded&) = delete;

private:
    std::vector<std::pair<const char*, std::string>> before_;  // those that were set
};

// Loads a library and asks it to use one thread. RequestError: none of that name, or no BLAS.
Library load(std::string_view name);

// Names by which `load` knows files.
std::vector<std::string_view> names();

}  // namespace memgauge::blas
