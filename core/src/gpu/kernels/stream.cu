// The STREAM kernels (McCalpin, 1995), what fills their arrays, and what checks them.
//
// x and y are the arrays that are read, `out` the one that is written; lengths are multiples of 32
// elements, so that all vectors are whole. Element i starts as a multiple of the ramp: it is never
// zero and does not repeat, since memory may treat equal data unlike others.

// x(i) = 1 + i * 2^-40: i < 2^40 is the upper part of the fraction.
__device__ __forceinline__ double ramp(u64 i, double) {
    return __longlong_as_double((long long)(0x3ff0000000000000ull + (i << 12)));
}

// x(i) = 1 + (i mod 2^23) * 2^-23: the lower bits of i are the fraction.
__device__ __forceinline__ float ramp(u64 i, float) {
    return __int_as_float((int)(0x3f800000u | ((u32)i & 0x7fffffu)));
}

struct Copy {
    static constexpr int sources = 1;
    template <class T>
    __device__ static T of(T x, T, T) { return x; }
};
struct Scale {
    static constexpr int sources = 1;
    template <class T>
    __device__ static T of(T x, T, T s) { return s * x; }
};
struct Add {
    static constexpr int sources = 2;
    template <class T>
    __device__ static T of(T x, T y, T) { return x + y; }
};
struct Triad {  // and update, which writes to x
    static constexpr int sources = 2;
    template <class T>
    __device__ static T of(T x, T y, T s) { return x + s * y; }
};
struct Write {  // s times the ramp
    static constexpr int sources = 0;
};
struct Read {
    static constexpr int sources = 1;
};

// 16 bytes, the most that one thread loads at once.
template <class T>
struct Vector;
template <>
struct Vector<float> {
    typedef float4 Type;
    static constexpr int lanes = 4;
    template <class Operation>
    __device__ static float4 of(float4 x, float4 y, float s) {
        return make_float4(Operation::of(x.x, y.x, s), Operation::of(x.y, y.y, s),
                           Operation::of(x.z, y.z, s), Operation::of(x.w, y.w, s));
    }
    __device__ static float4 ramps(u64 i, float s) {
        return make_float4(s * ramp(i, s), s * ramp(i + 1, s), s * ramp(i + 2, s),
                           s * ramp(i + 3, s));
    }
    __device__ static float sum(float4 x) { return (x.x + x.y) + (x.z + x.w); }
};
template <>
struct Vector<double> {
    typedef double2 Type;
    static constexpr int lanes = 2;
    template <class Operation>
    __device__ static double2 of(double2 x, double2 y, double s) {
        return make_double2(Operation::of(x.x, y.x, s), Operation::of(x.y, y.y, s));
    }
    __device__ static double2 ramps(u64 i, double s) {
        return make_double2(s * ramp(i, s), s * ramp(i + 1, s));
    }
    __device__ static double sum(double2 x) { return x.x + x.y; }
};

// One element per thread. Of `read` the host passes an s that no sum equals: the store never
// happens, and no compiler knows.
template <class Operation, class T>
__device__ __forceinline__ void standard(const T* x, const T* y, T* out, u64 count, T s,
                                         u64 first) {
    const u64 i = thread_number();
    if (i >= count) return;
    if constexpr (Operation::sources == 0) {
        store<as_usual>(out + i, s * ramp(first + i, s));
    } else if constexpr (Operation::sources == 2) {
        store<as_usual>(out + i, Operation::of(load<as_usual>(x + i), load<as_usual>(y + i), s));
    } else {
        store<as_usual>(out + i, Operation::of(load<as_usual>(x + i), s, s));
    }
}

template <class T>
__device__ __forceinline__ void standard_read(const T* x, T* out, u64 count, T s) {
    const u64 i = thread_number();
    if (i >= count) return;
    const T value = load<as_usual>(x + i);
    if (value == s) store<as_usual>(out, value);
}

// Vectors that one thread does in a row: neighbours are done by neighbouring threads, so that a
// warp's access is 512 bytes in one piece. All loads come before all stores: what bounds bandwidth
// is how many bytes are under way. `whole`: all lie before `end`, and nothing is compared.
template <bool whole, class Operation, class T, Hint hint, int unroll, int threads>
__device__ __forceinline__ void walk(const typename Vector<T>::Type* x,
                                     const typename Vector<T>::Type* y,
                                     typename Vector<T>::Type* out, u64 i, u64 end, T s,
                                     u64 first) {
    typedef Vector<T> Lanes;
    typename Lanes::Type from[unroll];
    typename Lanes::Type other[unroll];
    if constexpr (Operation::sources > 0) {
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            if (!whole && i + u * threads >= end) continue;
            from[u] = load<hint>(x + i + u * threads);
            if constexpr (Operation::sources == 2) other[u] = load<hint>(y + i + u * threads);
        }
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
        if (!whole && i + u * threads >= end) continue;
        if constexpr (Operation::sources == 0) {
            store<hint>(out + i + u * threads,
                        Lanes::ramps(first + (i + u * threads) * Lanes::lanes, s));
        } else if constexpr (Operation::sources == 1) {
            store<hint>(out + i + u * threads,
                        Lanes::template of<Operation>(from[u], from[u], s));
        } else {
            store<hint>(out + i + u * threads,
                        Lanes::template of<Operation>(from[u], other[u], s));
        }
    }
}

// Tiles of threads * unroll vectors, a block after the other; all are whole but the last.
template <class Operation, class T, Hint hint, int unroll, int threads>
__device__ __forceinline__ void tuned(const T* x, const T* y, T* out, u64 count, T s, u64 first) {
    typedef typename Vector<T>::Type Whole;
    const Whole* from = (const Whole*)x;
    const Whole* other = (const Whole*)y;
    Whole* to = (Whole*)out;
    const u64 vectors = count / Vector<T>::lanes;
    const u64 tile = (u64)threads * unroll;
#pragma unroll 1
    for (u64 begin = blockIdx.x * tile; begin < vectors; begin += gridDim.x * tile) {
        const u64 i = begin + threadIdx.x;
        if (begin + tile <= vectors) {
            walk<true, Operation, T, hint, unroll, threads>(from, other, to, i, vectors, s, first);
        } else {
            walk<false, Operation, T, hint, unroll, threads>(from, other, to, i, vectors, s, first);
        }
    }
}

template <bool whole, class T, Hint hint, int unroll, int threads>
__device__ __forceinline__ T sum_of(const typename Vector<T>::Type* x, u64 i, u64 end) {
    typename Vector<T>::Type from[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
        if (whole || i + u * threads < end) from[u] = load<hint>(x + i + u * threads);
    }
    T sum = 0;
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
        if (whole || i + u * threads < end) sum += Vector<T>::sum(from[u]);
    }
    return sum;
}

template <class T, Hint hint, int unroll, int threads>
__device__ __forceinline__ void tuned_read(const T* x, T* out, u64 count, T s) {
    typedef typename Vector<T>::Type Whole;
    const Whole* from = (const Whole*)x;
    const u64 vectors = count / Vector<T>::lanes;
    const u64 tile = (u64)threads * unroll;
    T sum = 0;
#pragma unroll 1
    for (u64 begin = blockIdx.x * tile; begin < vectors; begin += gridDim.x * tile) {
        const u64 i = begin + threadIdx.x;
        if (begin + tile <= vectors) {
            sum += sum_of<true, T, hint, unroll, threads>(from, i, vectors);
        } else {
            sum += sum_of<false, T, hint, unroll, threads>(from, i, vectors);
        }
    }
    if (sum == s) store<as_usual>(out, sum);
}

// Every vector of x is read `repeats` times, L1 passed by. The walks follow each other without a
// gap, each taken up by the threads that are free, so that short ones keep as many busy as long
// ones.
template <class T>
__device__ __forceinline__ void repeated_read(const T* x, T* out, u64 count, T s, u64 repeats) {
    typedef typename Vector<T>::Type Whole;
    const Whole* from = (const Whole*)x;
    const u64 vectors = count / Vector<T>::lanes;
    const u64 threads = thread_count();
    const u64 thread = thread_number();
    const u64 all = vectors * repeats;
    const u64 step = threads % vectors;
    u64 i = thread % vectors;
    u64 left = thread < all ? (all - thread + threads - 1) / threads : 0;
    constexpr int unroll = 4;
    T sum = 0;
#pragma unroll 1
    for (; left >= unroll; left -= unroll) {
        Whole got[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            got[u] = load<no_allocate>(from + i);
            i += step;
            if (i >= vectors) i -= vectors;
        }
#pragma unroll
        for (int u = 0; u < unroll; ++u) sum += Vector<T>::sum(got[u]);
    }
#pragma unroll 1
    for (; left > 0; --left) {
        sum += Vector<T>::sum(load<no_allocate>(from + i));
        i += step;
        if (i >= vectors) i -= vectors;
    }
    if (sum == s) store<as_usual>(out, sum);
}

// What one thread found; the host adds up.
struct Found {
    double sum;   // of relative errors; one that is not below 1 (or no number) counts 1
    u64 failed;   // elements whose relative error is not within the tolerance
    u64 first;    // the first of them
    u64 compared;
};

// Compares with factor * x(first + i), as ramp.cpp does on the host.
template <class T>
__device__ __forceinline__ void check(const T* values, u64 count, u64 first, double factor,
                                      double tolerance, Found* found) {
    Found mine = {0.0, 0, 0, 0};
    for (u64 i = thread_number(); i < count; i += thread_count()) {
        const double exact = factor * (double)ramp(first + i, (T)0);
        const double difference = (double)load<as_usual>(values + i) - exact;
        const double error = (difference < 0.0 ? -difference : difference) /
                             (exact < 0.0 ? -exact : exact);
        mine.sum += error < 1.0 ? error : 1.0;
        ++mine.compared;
        if (error <= tolerance) continue;
        if (mine.failed == 0) mine.first = first + i;
        ++mine.failed;
    }
    found[thread_number()] = mine;
}
