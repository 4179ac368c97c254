// A BLAS on the arrays of nests. Matrices lie by rows; a BLAS takes them by columns, so that each
// is given as its transpose.

#include "memgauge/blas.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "memgauge/error.hpp"
#include "nests/blas/library.hpp"
#include "nests/description.hpp"

namespace memgauge {

struct Blas::Calls {
    blas::Gemm* gemm;
    blas::Gemv* gemv;

    // C[n][n] = A[n][n] B[n][n]
    void multiply(std::size_t size, const double* a, const double* b, double* c) const noexcept {
        const auto n = static_cast<blas::Integer>(size);
        const double one = 1.0;
        const double zero = 0.0;
        gemm("N", "N", &n, &n, &n, &one, b, &n, a, &n, &zero, c, &n, 1, 1);
    }
    // y[rows] = A[rows][n] x[n]
    void multiply(std::size_t rows, std::size_t size, const double* a, const double* x,
                  double* y) const noexcept {
        const auto m = static_cast<blas::Integer>(rows);
        const auto n = static_cast<blas::Integer>(size);
        const blas::Integer next = 1;
        const double one = 1.0;
        const double zero = 0.0;
        gemv("T", &n, &m, &one, a, &n, x, &next, &zero, y, &next, 1);
    }
};

namespace {

// Large enough for every library that has threads to use them.
constexpr std::size_t tried = 256;

// Numbers of this process's threads; empty where the system does not show them.
std::set<std::string> threads_now() {
    std::set<std::string> found;
    std::error_code error;
    for (std::filesystem::directory_iterator at("/proc/self/task", error), end; !error && at != end;
         at.increment(error)) {
        found.insert(at->path().filename());
    }
    return found;
}

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
    throw RequestError("cannot use the BLAS library " + name + ": " + why);
}

}  // namespace

Blas::Blas(std::string_view name) : name_(name) {
    const std::set<std::string> before = threads_now();
    const blas::SingleThreaded limited;
    blas::Library library = blas::load(name);
    calls_ = std::make_shared<const Calls>(Calls{library.gemm, library.gemv});
    vendor_ = std::move(library.vendor);
    version_ = std::move(library.version);
    file_ = std::move(library.file);
    threads_ = library.threads;
    if (threads_ > 1) {
        refuse(name_, "it stays at " + std::to_string(threads_) +
                          " threads when asked for one, and those would not be pinned; give a "
                          "build of it without threads");
    }
    const std::vector<double> a(tried * tried, 2.0);
    const std::vector<double> b(tried * tried, 3.0);
    std::vector<double> c(tried * tried, -1.0);
    const auto wrong = [&](std::size_t count) {
        return std::any_of(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(count),
                           [](double value) { return value != 6.0 * tried; });
    };
    calls_->multiply(tried, a.data(), b.data(), c.data());
    if (wrong(c.size())) refuse(name_, "its dgemm computes something else");
    std::ranges::fill(c, -1.0);
    calls_->multiply(tried, tried, a.data(), b.data(), c.data());
    if (wrong(tried)) refuse(name_, "its dgemv computes something else");
    const std::set<std::string> after = threads_now();
    const auto started = std::ranges::count_if(
        after, [&](const std::string& number) { return !before.contains(number); });
    if (!before.empty() && started > 0) {
        refuse(name_,
               "it starts " + std::to_string(started) + " thread" + (started > 1 ? "s" : "") +
                   " of its own though asked for none, and those would not be pinned; give a "
                   "build of it without threads");
    }
}

std::vector<std::string_view> Blas::names() {
    return blas::names();
}

void Blas::check(const NestSpec& spec) {
    if (spec.kind != NestKind::gemv && spec.kind != NestKind::gemm) {
        throw RequestError("loop nest " + std::string(to_string(spec.kind)) +
                           ": a BLAS library does gemv and gemm; choose one of these");
    }
    if (std::max(spec.shape.m, spec.shape.n) > blas::largest_integer) {
        throw RequestError("loop nest " + std::string(to_string(spec.kind)) +
                           ": a BLAS library takes no more than 2147483647 rows; give fewer");
    }
}

void Blas::run(const NestSpec& spec, const std::array<void*, 3>& operands) const noexcept {
    const auto* const a = static_cast<const double*>(operands[0]);
    const auto* const b = static_cast<const double*>(operands[1]);
    auto* const c = static_cast<double*>(operands[2]);
    const NestShape& shape = spec.shape;
    if (spec.kind == NestKind::gemm) {
        calls_->multiply(shape.n, a, b, c);
        return;
    }
    const std::size_t rows = nests::rows_of_a(shape);
    for (std::size_t done = 0; done < shape.m; done += rows) {
        calls_->multiply(std::min(rows, shape.m - done), shape.n, a, b, c + done);
    }
}

}  // namespace memgauge
