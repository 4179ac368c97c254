#pragma once
// A source of memory as Python holds it: opened, and closed before its areas go.

#include <stdexcept>
#include <utility>

#include "memgauge/memory_source.hpp"

namespace memgauge::bindings {

class Memory {
public:
    explicit Memory(MemorySource source) : source_(std::move(source)) {}

    // std::runtime_error (RuntimeError in Python): closed. What it was is not to be taken for
    // ordinary memory.
    [[nodiscard]] const MemorySource& source() const {
        if (closed_) throw std::runtime_error("Memory is closed; open it again");
        return source_;
    }
    void close() {
        closed_ = true;
        source_.area.reset();
    }

private:
    MemorySource source_;
    bool closed_ = false;
};

// Of an argument that may be left out: ordinary memory then.
inline MemorySource source_of(const Memory* memory) {
    return memory == nullptr ? MemorySource{} : memory->source();
}

}  // namespace memgauge::bindings
