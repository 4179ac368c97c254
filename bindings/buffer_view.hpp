#pragma once
// Memory of a Python object that lends it (the buffer protocol), held while native code works on
// it.

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "memgauge/error.hpp"

namespace memgauge::bindings {

// An object that should lend its memory; BufferView refuses one that does not.
class Readable : public nanobind::object {
    static bool accepts(PyObject* /*object*/) { return true; }

public:
    NB_OBJECT_DEFAULT(Readable, object, "_typeshed.ReadableBuffer", accepts)
};

class BufferView {
public:
    // `what` names it in messages. RequestError: it lends none, is not contiguous, or is read-only
    // and to be written. With the GIL.
    BufferView(nanobind::handle object, bool writable, const std::string& what) {
        if (PyObject_GetBuffer(object.ptr(), &view_, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) ==
            0) {
            return;
        }
        PyErr_Clear();
        view_.obj = nullptr;
        throw RequestError(what + ": is no contiguous" + (writable ? " and writable" : "") +
                           " memory; give a C-contiguous array, bytearray or memoryview");
    }
    ~BufferView() {
        if (view_.obj != nullptr) PyBuffer_Release(&view_);
    }
    BufferView(BufferView&& other) noexcept : view_(std::exchange(other.view_, {})) {}
    BufferView(const BufferView&) = delete;
    BufferView& operator=(const BufferView&) = delete;
    BufferView& operator=(BufferView&&) = delete;

    [[nodiscard]] void* data() const noexcept { return view_.buf; }
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(view_.len); }
    [[nodiscard]] bool is_aligned(std::size_t bytes) const noexcept {
        return reinterpret_cast<std::uintptr_t>(view_.buf) % bytes == 0;
    }
    [[nodiscard]] bool overlaps(const BufferView& other) const noexcept {
        const auto* const mine = static_cast<const std::byte*>(data());
        const auto* const theirs = static_cast<const std::byte*>(other.data());
        return mine < theirs + other.size() && theirs < mine + size();
    }

private:
    Py_buffer view_{};
};

}  // namespace memgauge::bindings
