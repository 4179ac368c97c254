#pragma once
// What a compiled kernel program and the stand-in driver share: the driver finds `stand_in_state`
// in the program, sets it before a launch and reads it after. No header is included here: a kernel
// program has none either.

namespace stand_in {

struct Allocation {
    unsigned long long begin;
    unsigned long long end;
};

struct Place {
    unsigned x, y, z;
};

// Lines of 128 bytes, each with one place where it can be; null: not modelled.
struct Cache {
    unsigned long long* lines;
    unsigned long long count;

    // Whether it was there; it is now.
    bool holds(unsigned long long line) {
        unsigned long long& place = lines[line % count];
        const bool hit = place == line;
        place = line;
        return hit;
    }
};

struct KernelState {
    unsigned long long arena_begin;  // the device memory of all devices lies between these
    unsigned long long arena_end;
    const Allocation* allocations;
    unsigned long long allocation_count;
    unsigned long long read_bytes;  // of device memory, all threads together
    unsigned long long write_bytes;
    unsigned long long illegal;     // accesses to device memory that nobody allocated
    unsigned long long misaligned;  // accesses at no multiple of their size
    // The GPU's clocks at this moment. Where time is scripted it goes on by what is moved, and by
    // waiting: idle_ns, a step for each reading of the timer with nothing moved since the last.
    unsigned long long (*timer_ns)(const KernelState*);
    unsigned long long idle_ns;
    unsigned long long bytes_at_reading;
    double cycles_per_ns;
    unsigned long long timer_step_ns;
    unsigned multiprocessors;
    Cache l1;  // of the whole GPU, empty when a kernel begins
    Cache l2;
    double l1_load_ns;  // what each load takes on top, by where it is found
    double l2_load_ns;
    double memory_load_ns;
    double loads_ns;  // so far
};

using LaunchThunk = void (*)(Place grid, Place block, void** parameters);

}  // namespace stand_in
