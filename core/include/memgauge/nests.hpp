#pragma once
// Loop nests whose memory traffic is known by thought: GEMV, GEMM, STREAM, copies in strides and
// the re-sorting routines of a distributed 3-D FFT. Reference loops on purpose: no blocking, no
// library. Each nest is written once, over what its innermost loop does: run, or pass on its
// address stream to a cache model.

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
// (listings 1 to 9).
enum class NestKind : std::uint8_t {
    gemv,          // y[m] = A[min(m, cap)][n] x[n]; row i of A is i % cap
    gemm,          // C[n][n] = A[n][n] B[n][n], inner product, B walked by columns
    copy,          // STREAM's four over n elements, with a scalar of 3: c = a,
    scale,         // b = 3 c,
    add,           // c = a + b,
    triad,         // a = b + 3 c
    strided_copy,  // b[i * stride] = a[i * stride], i < n; stride in elements
    transpose,     // b[j][i] = a[i][j], m x n, rows of a in order
    s1cf_first,    // tmp[plane][row][col] = in[plane][row][col]: first loop nest
    s1cf_second,   // out[col][plane][row] = tmp[plane][row][col], col outermost
    s1cf,          // both in one: out[col][plane][row] = in[plane][row][col], in in order
    s1pf_first,    // as S1CF with planes and columns exchanged: tmp[col][row][plane],
    s1pf_second,   // out[plane][col][row] = tmp[col][row][plane], plane outermost
    s1pf,
    s2cf,  // out[plane][x][y][row] = in[y][plane][x][row], out in order
    s2pf,  // the same with planes and columns exchanged: out[col][x][y][row] = in[y][col][x][row]
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
    // Of s1cf, s1pf and transpose: so many elements of the contiguous dimension of what is read at
    // a time, for all of the next, so that lines of both arrays are used whole. For who wants it
    // done soon; the study's loops are without. 0: all.
    std::size_t tile = 0;
};

inline constexpr std::size_t prefetch_line_bytes = 64;
inline constexpr std::size_t prefetch_lines_ahead = 8;

struct NestSpec {
    NestKind kind = NestKind::gemm;
    NestShape shape;
    // Software prefetch as gcc -fprefetch-loop-arrays makes it. Before the first of every so many
    // stores of a loop as fill 64 bytes, what lies `prefetch_lines` times as far ahead is
    // prefetched for writing (dcbtst on POWER). Stores further apart than that each prefetch the
    // one so many after them. Nobody looks where the array ends: the last prefetches lie behind it.
    bool store_prefetch = false;
    // The same for all that the innermost loop reads (dcbt). Where arrays fill 64 bytes in
    // different numbers of trips, the loop is unrolled to the largest of these, and the prefetches
    // of all arrays for all these trips come first, array by array. To a model, prefetches of loads
    // and of stores are alike.
    bool load_prefetch = false;
    std::size_t prefetch_lines = prefetch_lines_ahead;
    // A second prefetch after each, so much farther ahead; 0: none.
    std::size_t prefetch_far_lines = 0;
};

struct NestArray {
    std::string name;  // "A", "x", "tmp"
    std::size_t bytes = 0;
    std::size_t element_bytes = 8;
    bool read = false;
    bool written = false;
};

// The arrays of a nest in the order of its operands: those read, then the one written. The ids of
// their access streams are their positions here; a store prefetch's follows the last, and after
// that come those of load prefetches in the order of the arrays.
// RequestError: extents that make no sense, or more than 2^48 bytes.
std::vector<NestArray> arrays_of(const NestSpec& spec);
// Trips of the innermost loop.
std::uint64_t trips_of(const NestSpec& spec);

// The address stream of one execution, passed to a model as `core`; arrays begin at `bases`.
// `stop` is asked several times a second; Interrupted.
void simulate(const NestSpec& spec, const std::vector<std::uint64_t>& bases, unsigned core,
              CacheModel& model, const StopCheck& stop = {});
// Of trips_of(spec), those that simulate() at least makes one after the other. Once the caches of a
// model of one core, all levels lru, no prefetchers, are as they were some rows of a matrix product
// before, but for the rows of A and C that came since, further rows are counted without them.
std::uint64_t trips_simulated(const NestSpec& spec, const CacheModel& model);
// Several cores at once, each on arrays of its own, in turn after each execution of the innermost
// loop.
void simulate_batched(const NestSpec& spec, const std::vector<std::vector<std::uint64_t>>& bases,
                      CacheModel& model, const StopCheck& stop = {});

// Runs on the operands given, in the order of arrays_of. The caller's memory, aligned for doubles;
// what is written overlaps nothing that is read.
void execute(const NestSpec& spec, const std::vector<void*>& operands);

// Of one array that was written, over all sets that were used.
struct NestValidation {
    std::string array;
    double average_relative_error = 0.0;
    double epsilon = 0.0;
    std::size_t elements = 0;         // compared; of GEMM's C: sums of rows, see validate()
    std::size_t failed_elements = 0;  // relative error above epsilon
    std::size_t first_failed = 0;     // of those compared, when failed_elements > 0
    bool passed = false;
};

class Blas;

// Arrays for a team, one set for each thread and copy, and the nest run on them: each thread works
// on sets of its own ("batched"; a team of one is the plain kernel).
class LoopNest {
public:
    // `copies` sets for each thread are used in turn, so that a repetition finds nothing of the
    // one before in the caches. Allocated, filled with numbers that are not zero (a known function
    // of array and index) and touched by the thread that uses them. The team must outlive this.
    // With `blas`, that library computes what the nest does, called by each thread of the team for
    // itself; RequestError: it cannot.
    LoopNest(Team& team, const NestSpec& spec, std::size_t copies, PagePolicy pages,
             const MemorySource& memory, const StopCheck& stop = {},
             std::shared_ptr<const Blas> blas = nullptr);
    ~LoopNest();

    // Every thread executes the nest `repetitions` times, each stamped, going on with the next set.
    // What the arrays hold once (of GEMV's matrix every walk), and write-allocate, is booked as
    // this process's known traffic. `stop` is asked every 20 ms; Interrupted, and what was written
    // is not to be looked at.
    Slice run(std::size_t repetitions, const StopCheck& stop = {});
    // What was written, compared with what the arrays read were filled with, for the sets that
    // were used; nothing before the first run. Copies, re-sorts and STREAM: each element (epsilon 0
    // for what is only moved). GEMV: each element, summed in another order. GEMM: C r against A (B
    // r) for a vector r that is not constant, in n^2 steps instead of n^3: one figure for each row.
    [[nodiscard]] std::vector<NestValidation> validate(const StopCheck& stop = {});
    [[nodiscard]] std::vector<Backing> backing() const;  // of each thread's sets
    [[nodiscard]] const NestSpec& spec() const noexcept;
    // Address of an array of a thread's set, for whoever looks at it (the bindings show it as a
    // memoryview). RequestError: there is none.
    [[nodiscard]] void* array(std::size_t rank, std::size_t copy, std::size_t index) const;
    // For tests of the validation: flips a bit of one element of the thread's first set.
    void corrupt(std::size_t rank, std::size_t array, std::size_t element);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memgauge
