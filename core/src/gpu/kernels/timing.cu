// Small kernels of the clocks.

// Keeps the stream busy while the host queues what is to follow each other without a gap. A timer
// that stands still ends it too, after more readings than fit into the time: one takes several
// nanoseconds.
extern "C" __global__ void hold(u64 ns) {
    const u64 begin = MEMGAUGE_GLOBALTIMER();
    const u64 most = 100000 + ns;
    for (u64 tries = 0; tries < most && MEMGAUGE_GLOBALTIMER() - begin < ns; ++tries) {
    }
}

extern "C" __global__ void timer_now(u64* out) {
    *out = MEMGAUGE_GLOBALTIMER();
}

// The least difference between two readings that differ, of `changes`; 0: none did in `tries`.
extern "C" __global__ void timer_resolution(u64* out, u64 changes, u64 tries) {
    u64 least = 0;
    u64 last = MEMGAUGE_GLOBALTIMER();
    for (u64 tried = 0; changes > 0 && tried < tries; ++tried) {
        const u64 now = MEMGAUGE_GLOBALTIMER();
        if (now == last) continue;
        if (least == 0 || now - last < least) least = now - last;
        last = now;
        --changes;
    }
    *out = least;
}
