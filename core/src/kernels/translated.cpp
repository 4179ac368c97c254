// The `standard` loops with the address of every element translated, compiled as those for the
// baseline processor are (core/kernels.cmake).
//
// What pmemobj_direct() does inline is fixed by the library's binary interface: a null object is a
// null pointer; the pool that this thread used last is compared with the object's; only a miss
// calls into the library. Two loads and two comparisons an element and array are left, and a loop
// that no compiler turns into vectors, because the call may change everything. Nothing here is
// volatile or keeps the compiler from what it could do with the library's own header.
//
// Compared with loops compiled against that header (1.12, gcc 12 -O3 as here, in a program): the
// same comparisons and, for each array, the same loads but one, of the thread-local address from
// the GOT, since here it is known at run time only and kept in a register. In the first-level cache
// of a Zen 5, copy took 1.2 ns an element here and 1.5 with the header (2.4 as position-independent
// code, which calls __tls_get_addr), triad 1.8 and 2.5: how a program was compiled matters as much.

#include "kernels/translated.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "memory/areas/pmemobj_library.hpp"

namespace memgauge::kernels {

namespace {

inline void* direct(ObjectId object, const pmemobj::Translation& by) noexcept {
    if (object.offset == 0 || object.pool == 0) return nullptr;
    pmemobj::PoolCache* const cache = by.cache;
    if (*by.invalidate != cache->invalidate || cache->uuid_lo != object.pool) {
        cache->invalidate = *by.invalidate;
        cache->pool = by.pool_by_oid(object);
        if (cache->pool == nullptr) {
            cache->uuid_lo = 0;
            return nullptr;
        }
        cache->uuid_lo = object.pool;
    }
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(cache->pool) + object.offset);
}

// An array by its address, or by its object.
template <class T, bool translated>
class Elements;

template <class T>
class Elements<T, false> {
public:
    Elements(void* data, const ObjectId&, const pmemobj::Translation&) noexcept
        : data_(static_cast<T*>(data)) {}
    T& operator[](std::size_t j) const noexcept { return data_[j]; }

private:
    T* data_;
};

template <class T>
class Elements<T, true> {
public:
    Elements(void*, const ObjectId& object, const pmemobj::Translation& by) noexcept
        : object_(object), by_(by) {}
    T& operator[](std::size_t j) const noexcept { return static_cast<T*>(direct(object_, by_))[j]; }

private:
    const ObjectId& object_;
    const pmemobj::Translation& by_;
};

constexpr bool reads_by_object(Access access) noexcept {
    return access == Access::translated || access == Access::translated_source;
}

constexpr bool writes_by_object(Access access) noexcept {
    return access == Access::translated || access == Access::translated_destination;
}

// The objects of a, b and c, where the library's function may change them as far as the compiler
// knows: so are a program's TOIDs, whose address it gave to the function that allocated them.
struct Objects {
    explicit Objects(const KernelOperands& operands) noexcept : ids(operands.translated->objects) {
        asm volatile("" : : "r"(this) : "memory");
    }
    std::array<ObjectId, 3> ids;
};

template <class T, Access access>
class Arrays {
public:
    using Source = Elements<T, reads_by_object(access)>;
    using Destination = Elements<T, writes_by_object(access)>;

    Arrays(const KernelOperands& operands, const Objects& objects,
           const pmemobj::Translation& by) noexcept
        : operands_(operands), objects_(objects), by_(by) {}

    [[nodiscard]] Source a() const noexcept { return at<Source>(operands_.a, 0); }
    [[nodiscard]] Source b() const noexcept { return at<Source>(operands_.b, 1); }
    [[nodiscard]] Source c() const noexcept { return at<Source>(operands_.c, 2); }
    [[nodiscard]] Destination to_a() const noexcept { return at<Destination>(operands_.a, 0); }
    [[nodiscard]] Destination to_b() const noexcept { return at<Destination>(operands_.b, 1); }
    [[nodiscard]] Destination to_c() const noexcept { return at<Destination>(operands_.c, 2); }
    [[nodiscard]] T scalar() const noexcept { return static_cast<T>(operands_.scalar); }

private:
    template <class Role>
    [[nodiscard]] Role at(void* data, std::size_t array) const noexcept {
        return Role(data, objects_.ids[array], by_);
    }

    const KernelOperands& operands_;
    const Objects& objects_;
    const pmemobj::Translation& by_;
};

template <class T, Access access>
double translated_copy(const KernelOperands& operands) noexcept {
    const Objects objects(operands);
    const pmemobj::Translation by = operands.translated->by;
    const Arrays<T, access> arrays(operands, objects, by);
    const auto a = arrays.a();
    const auto c = arrays.to_c();
    const std::size_t count = operands.count;
    for (std::size_t j = 0; j < count; ++j) c[j] = a[j];
    return 0.0;
}

template <class T, Access access>
double translated_scale(const KernelOperands& operands) noexcept {
    const Objects objects(operands);
    const pmemobj::Translation by = operands.translated->by;
    const Arrays<T, access> arrays(operands, objects, by);
    const auto b = arrays.to_b();
    const auto c = arrays.c();
    const std::size_t count = operands.count;
    const T scalar = arrays.scalar();
    for (std::size_t j = 0; j < count; ++j) b[j] = scalar * c[j];
    return 0.0;
}

template <class T, Access access>
double translated_add(const KernelOperands& operands) noexcept {
    const Objects objects(operands);
    const pmemobj::Translation by = operands.translated->by;
    const Arrays<T, access> arrays(operands, objects, by);
    const auto a = arrays.a();
    const auto b = arrays.b();
    const auto c = arrays.to_c();
    const std::size_t count = operands.count;
    for (std::size_t j = 0; j < count; ++j) c[j] = a[j] + b[j];
    return 0.0;
}

template <class T, Access access>
double translated_triad(const KernelOperands& operands) noexcept {
    const Objects objects(operands);
    const pmemobj::Translation by = operands.translated->by;
    const Arrays<T, access> arrays(operands, objects, by);
    const auto a = arrays.to_a();
    const auto b = arrays.b();
    const auto c = arrays.c();
    const std::size_t count = operands.count;
    const T scalar = arrays.scalar();
    for (std::size_t j = 0; j < count; ++j) a[j] = b[j] + scalar * c[j];
    return 0.0;
}

// Reads and writes its destination: both by the destination's address.
template <class T, Access access>
double translated_update(const KernelOperands& operands) noexcept {
    const Objects objects(operands);
    const pmemobj::Translation by = operands.translated->by;
    const Arrays<T, access> arrays(operands, objects, by);
    const auto a = arrays.to_a();
    const auto b = arrays.b();
    const std::size_t count = operands.count;
    const T scalar = arrays.scalar();
    for (std::size_t j = 0; j < count; ++j) a[j] = a[j] + scalar * b[j];
    return 0.0;
}

template <class T, Access access>
double translated_read(const KernelOperands& operands) noexcept {
    const Objects objects(operands);
    const pmemobj::Translation by = operands.translated->by;
    const auto a = Arrays<T, access>(operands, objects, by).a();
    const std::size_t count = operands.count;
    constexpr std::size_t sums = 8;
    T sum[sums] = {};
    std::size_t j = 0;
    for (; j + sums <= count; j += sums) {
        for (std::size_t k = 0; k < sums; ++k) sum[k] += a[j + k];
    }
    for (; j < count; ++j) sum[0] += a[j];
    double total = 0.0;
    for (const T part : sum) total += static_cast<double>(part);
    return total;
}

template <class T, Access access>
double translated_write(const KernelOperands& operands) noexcept {
    constexpr std::size_t stretch = std::size_t{1} << 20;
    const Objects objects(operands);
    const pmemobj::Translation by = operands.translated->by;
    const auto a = Arrays<T, access>(operands, objects, by).to_a();
    const std::size_t whole = operands.count;
    const double ramp_begin = operands.ramp_begin;
    const double ramp_step = operands.ramp_step;
    const T step = static_cast<T>(ramp_step);
    for (std::size_t first = 0; first < whole; first += stretch) {
        const auto count = static_cast<std::int32_t>(std::min(stretch, whole - first));
        const T begin = static_cast<T>(ramp_begin + static_cast<double>(first) * ramp_step);
        for (std::int32_t j = 0; j < count; ++j) {
            a[first + static_cast<std::size_t>(j)] = begin + static_cast<T>(j) * step;
        }
    }
    return 0.0;
}

template <class T, Access access>
KernelFunction select(Operation operation) noexcept {
    switch (operation) {
        case Operation::copy:
            return translated_copy<T, access>;
        case Operation::scale:
            return translated_scale<T, access>;
        case Operation::add:
            return translated_add<T, access>;
        case Operation::triad:
            return translated_triad<T, access>;
        case Operation::read:
            return translated_read<T, access>;
        case Operation::write:
            return translated_write<T, access>;
        case Operation::update:
            return translated_update<T, access>;
    }
    return nullptr;
}

template <class T>
KernelFunction select(Operation operation, Access access) noexcept {
    switch (access) {
        case Access::translated:
            return select<T, Access::translated>(operation);
        case Access::translated_source:
            return select<T, Access::translated_source>(operation);
        case Access::translated_destination:
            return select<T, Access::translated_destination>(operation);
        case Access::direct:
            break;
    }
    return nullptr;
}

}  // namespace

KernelFunction translated_kernel(Operation operation, ElementType element, Access access) noexcept {
    return element == ElementType::f32 ? select<float>(operation, access)
                                       : select<double>(operation, access);
}

void ready_access(const KernelSpec& spec) noexcept {
    if (spec.access != Access::direct) static_cast<void>(pmemobj::translation());
}

}  // namespace memgauge::kernels

namespace memgauge {

Access access_of(Access asked, Operation operation, bool source_in_pool, bool destination_in_pool) {
    if (asked == Access::direct) return Access::direct;
    const bool reads = operation != Operation::write && source_in_pool;
    const bool writes = operation != Operation::read && destination_in_pool;
    if (!reads && !writes) {
        throw RequestError(
            "cannot translate the address of every element: its memory is no pool; put the arrays "
            "in --memory pmemobj:PATH, or ask for direct access");
    }
    if (operation == Operation::read || operation == Operation::write || (reads && writes)) {
        return Access::translated;
    }
    return reads ? Access::translated_source : Access::translated_destination;
}

}  // namespace memgauge
