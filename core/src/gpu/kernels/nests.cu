// Loop nests of known traffic, as nests/description.hpp has them: what the host runs in a loop,
// threads do here at once. No tiles, no shared memory: each element is loaded and stored where the
// nest has it.
//
// Maps (copies, re-sorts, STREAM): a thread for each trip of the innermost loop. Inner products
// (GEMV, GEMM): a thread for each element of the result, which goes through the innermost loop. Of
// both, consecutive threads are consecutive trips of the innermost of those loops.

struct NestLoops {  // nests::Loops; elements
    u64 trips[4];
    u64 first[3];
    u64 strides[3][4];
};

enum NestBody { nest_copy, nest_scale, nest_add, nest_triad };

// Where the references stand in trip `number` of the loops up to `last`, which turns fastest.
template <int last, class Index>
__device__ __forceinline__ void places(const NestLoops& loops, Index number, u64 (&at)[3]) {
#pragma unroll
    for (int r = 0; r < 3; ++r) at[r] = loops.first[r];
#pragma unroll
    for (int loop = last; loop >= 0; --loop) {
        const Index trips = (Index)loops.trips[loop];
        Index trip = number;
        number = 0;
        if (trip >= trips) {
            number = trip / trips;
            trip -= number * trips;
        }
#pragma unroll
        for (int r = 0; r < 3; ++r) at[r] += trip * loops.strides[r][loop];
    }
}

template <int body, class T>
__device__ __forceinline__ T mapped(T first, T second) {
    if constexpr (body == nest_scale) {
        return 3.0 * first;
    } else if constexpr (body == nest_add) {
        return first + second;
    } else if constexpr (body == nest_triad) {
        return first + 3.0 * second;
    } else {
        return first;
    }
}

template <int body, class T, class Index>
__device__ __forceinline__ void map(const NestLoops& loops, u64 trips, const T* a, const T* b,
                                    T* out) {
    const u64 number = thread_number();
    if (number >= trips) return;
    u64 at[3];
    places<3>(loops, (Index)number, at);
    const T first = load<as_usual>(a + at[0]);
    if constexpr (body == nest_add || body == nest_triad) {
        store<as_usual>(out + at[2], mapped<body>(first, load<as_usual>(b + at[1])));
    } else {
        store<as_usual>(out + at[1], mapped<body>(first, first));
    }
}

// Where there are more than 2^32 trips, numbers have 64 bits, whose division takes much longer.
#define NEST_MAP(name, body, T)                                                             \
    extern "C" __global__ void name(NestLoops loops, u64 trips, const T* a, const T* b, T* out) { \
        if (trips <= 0xffffffffull) {                                                       \
            map<body, T, u32>(loops, trips, a, b, out);                                     \
        } else {                                                                            \
            map<body, T, u64>(loops, trips, a, b, out);                                     \
        }                                                                                   \
    }
NEST_MAP(nest_copy_8, nest_copy, double)
NEST_MAP(nest_copy_16, nest_copy, double2)
NEST_MAP(nest_scale_8, nest_scale, double)
NEST_MAP(nest_add_8, nest_add, double)
NEST_MAP(nest_triad_8, nest_triad, double)

extern "C" __global__ void nest_dot(NestLoops loops, u64 results, const double* a,
                                    const double* b, double* out) {
    const u64 number = thread_number();
    if (number >= results) return;
    u64 at[3];
    places<2>(loops, number, at);
    const double* row = a + at[0];
    const double* other = b + at[1];
    const u64 row_stride = loops.strides[0][3];
    const u64 other_stride = loops.strides[1][3];
    double sum = 0.0;
    for (u64 k = 0; k < loops.trips[3]; ++k) {
        sum += load<as_usual>(row + k * row_stride) * load<as_usual>(other + k * other_stride);
    }
    store<as_usual>(out + at[2], sum);
}

// ---- what arrays hold, and checks --------------------------------------------------------------

// As nests::content, of double `index` of the array at position `array`.
__device__ __forceinline__ double content(u64 array, u64 index) {
    const u64 scrambled = (index + 1 + (array << 56)) * 0x9e3779b97f4a7c15ull;
    return __longlong_as_double((long long)((scrambled >> 12) | (0x3ffull << 52)));
}

extern "C" __global__ void nest_fill(double* to, u64 count, u64 array) {
    for (u64 i = thread_number(); i < count; i += thread_count()) {
        store<as_usual>(to + i, content(array, i));
    }
}

// What one thread found; the host adds up.
struct NestFound {
    double sum;  // of relative errors; one that is not below 1 (or no number): 1
    u64 compared;
    u64 failed;
    u64 first;  // element, of those that failed
};

// Of a map, against the contents of what it read; `doubles` of one element.
extern "C" __global__ void nest_check(NestLoops loops, u64 trips, const double* out, u64 doubles,
                                      u64 body, u64 references, double epsilon,
                                      NestFound* found) {
    NestFound mine = {0.0, 0, 0, 0};
    for (u64 number = thread_number(); number < trips; number += thread_count()) {
        u64 at[3];
        places<3>(loops, number, at);
        const u64 into = references == 3 ? at[2] : at[1];
        for (u64 d = 0; d < doubles; ++d) {
            const double first = content(0, at[0] * doubles + d);
            double exact = first;
            if (body == nest_scale) exact = mapped<nest_scale>(first, first);
            if (body == nest_add) exact = mapped<nest_add>(first, content(1, at[1]));
            if (body == nest_triad) exact = mapped<nest_triad>(first, content(1, at[1]));
            const double off = load<as_usual>(out + into * doubles + d) - exact;
            const double error = (off < 0.0 ? -off : off) / exact;
            mine.sum += error < 1.0 ? error : 1.0;
            ++mine.compared;
            if (error <= epsilon) continue;
            if (mine.failed == 0 || into < mine.first) mine.first = into;
            ++mine.failed;
        }
    }
    found[thread_number()] = mine;
}

// A thread for each row: contents of an array of rows of n, times `factors`, or times the contents
// of the array at `factors_of` where that is null. Last to first, as the host does it.
extern "C" __global__ void nest_products(double* into, u64 rows, u64 n, u64 array,
                                         const double* factors, u64 factors_of) {
    for (u64 row = thread_number(); row < rows; row += thread_count()) {
        double sum = 0.0;
        for (u64 k = n; k-- > 0;) {
            const double factor = factors != 0 ? load<as_usual>(factors + k) : content(factors_of, k);
            sum += content(array, row * n + k) * factor;
        }
        store<as_usual>(into + row, sum);
    }
}

// A thread for each row of what lies in memory, times the contents of the array at `factors_of`.
extern "C" __global__ void nest_row_sums(double* into, const double* values, u64 rows, u64 n,
                                         u64 factors_of) {
    for (u64 row = thread_number(); row < rows; row += thread_count()) {
        double sum = 0.0;
        for (u64 k = 0; k < n; ++k) {
            sum += load<as_usual>(values + row * n + k) * content(factors_of, k);
        }
        store<as_usual>(into + row, sum);
    }
}
