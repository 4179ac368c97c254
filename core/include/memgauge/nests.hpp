#pragma once
// Loop nests whose memory traffic is known by thought: GEMV, GEMM, STREAM, copies in strides and
// the re-sorting routines of a distributed 3-D FFT. Reference loops on purpose: no blocking, no
// library. Each nest is written once, over what its innermost loop does: run, or tell its address
// stream to a cache model.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "memgauge/buffer.hpp"
#include "memgauge/cache_model.hpp"
#include "memgauge/team.hpp"

namespace memgauge {

// Source of GEMV, GEMM and the re-sorting routines' index orders: Barry, Jagode, Danalis, Dongarra:
// Memory Traffic and Complete Application Profiling with PAPI Multi-Component Measurements
// (listings 1 to 8).
enum class NestKind : std::uint8_t {
    gemv,  // y[m] = A[min(m, cap)][n] x[n]; row i of A is i % cap
    gemm,  // C[n][n] = A[n][n] B[n][n], inner product, B walked by columns
    copy,  // STREAM's four over n elements
    scale,
    add,
    triad,
    strided_copy,  // b[i * stride] = a[i * stride], i < n; stride in elements
    transpose,     // b[j][i] = a[i][j], m x n, rows of a in order
    s1cf_first,    // tmp[plane][row][col] = in[plane][row][col]: first loop nest
    s1cf_second,   // out[col][plane][row] = tmp[plane][row][col], col outermost
    s1cf,          // both in one: out[col][plane][row] = in[plane][row][col], in in order
    s1pf_first,    // as S1CF with planes and columns exchanged:
    s1pf_second,   // out[plane][col][row] = tmp[col][row][plane], plane outermost
    s1pf,
    s2cf,  // in[y][plane][x][row], walked plane, x, y, row; out in order
    s2pf,  // the same with planes and columns exchanged: in[y][col][x][row]
};

std::string_view to_string(NestKind) noexcept;     // "gemv", ..., "s1cf-first"
NestKind nest_kind_from_string(std::string_view);  // RequestError naming the choices
std::vector<NestKind> nest_kinds();

// Extents in elements; those that a kind does not use are 0.
struct NestShape {
    std::size_t m = 0;  // rows
    std::size_t n = 0;
    std::size_t cap = 0;     // rows of A that exist; 0: all
    std::size_t stride = 0;  // of strided_copy
    std::size_t planes = 0;  // of the re-sorting routines: in complex doubles, 16 bytes
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::size_t x = 0;  // of S2CF, S2PF
    std::size_t y = 0;
};

struct NestSpec {
    NestKind kind = NestKind::gemm;
    NestShape shape;
    bool store_prefetch = false;  // of the stored stream, a line or more ahead, as
                                  // gcc -fprefetch-loop-arrays does (dcbtst on POWER)
};

struct NestArray {
    std::string name;  // "A", "x", "tmp"
    std::size_t bytes = 0;
    std::size_t element_bytes = 8;
    bool read = false;
    bool written = false;
};

// The arrays of a nest in the order of its operands; the ids of their access streams are their
// positions here. RequestError: extents that make no sense, or more than 2^48 bytes.
std::vector<NestArray> arrays_of(const NestSpec& spec);
// Trips of the innermost loop.
std::uint64_t trips_of(const NestSpec& spec);

// The address stream of one execution, told to a model as `core`; arrays begin at `bases`.
// `stop` is asked every few ms of work; Interrupted.
void simulate(const NestSpec& spec, const std::vector<std::uint64_t>& bases, unsigned core,
              CacheModel& model, const StopCheck& stop = {});
// Several cores at once, each on arrays of its own, in turn after each execution of the innermost
// loop.
void simulate_batched(const NestSpec& spec, const std::vector<std::vector<std::uint64_t>>& bases,
                      CacheModel& model, const StopCheck& stop = {});

// Runs on the operands given, in the order of arrays_of. The caller's memory.
void execute(const NestSpec& spec, const std::vector<void*>& operands) noexcept;

// Arrays for a team, one set for each thread and copy, and the nest run on them: each thread works
// on sets of its own ("batched"; a team of one is the plain kernel).
class LoopNest {
public:
    // `copies` sets for each thread are used in turn, so that a repetition finds nothing of the
    // one before in the caches. Allocated, filled with numbers that are not zero (a known function
    // of array and index) and touched by the thread that uses them.
    LoopNest(Team& team, const NestSpec& spec, std::size_t copies, PagePolicy pages,
             MemorySource memory, const StopCheck& stop = {});
    ~LoopNest();

    // Every thread executes the nest `repetitions` times, each stamped, going on with the next set.
    Slice run(std::size_t repetitions);
    // Compares what was written with what a plain second way of computing it gives, for the sets
    // that were used; as StreamArrays.
    [[nodiscard]] std::vector<ArrayValidation> validate(const StopCheck& stop = {});
    [[nodiscard]] std::vector<Backing> backing() const;
    // Address of an array of a thread's set, for whoever looks at it (the bindings show it as a
    // memoryview).
    [[nodiscard]] void* array(std::size_t rank, std::size_t copy, std::size_t index) const;
    void corrupt(std::size_t rank, std::size_t array, std::size_t element);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memgauge
