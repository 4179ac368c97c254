/* Marks stretches of a program, such as a phase of its work, for `memgauge profile` to draw.
 *
 *     cc main.c $(memgauge region --cflags --libs)
 *     memgauge profile -- ./a.out
 *
 * Regions may nest and overlap; each begin is closed by the next end of the same name on the same
 * thread. Any thread may mark, also in a process forked from the profiled one. Where nothing
 * profiles the program (MEMGAUGE_MARKS is not set) a call costs a few ns and does nothing; else it
 * is one write(2) of a short line, with the processor time that its thread has used, a few
 * microseconds. A mark that cannot be written is left out:
 * marking never fails, blocks, or changes errno.
 *
 * Names: UTF-8, 200 bytes are kept; control characters become '_'.
 *
 * Fortran: call memgauge_region_begin("name"), call memgauge_region_end("name").
 */
#ifndef MEMGAUGE_REGION_H
#define MEMGAUGE_REGION_H

#if defined(__GNUC__)
#define MEMGAUGE_REGION_PUBLIC __attribute__((visibility("default")))
#else
#define MEMGAUGE_REGION_PUBLIC
#endif

#ifdef __cplusplus
extern "C" {
#endif

MEMGAUGE_REGION_PUBLIC void memgauge_region_begin(const char* name);
MEMGAUGE_REGION_PUBLIC void memgauge_region_end(const char* name);
/* Whether marks are kept: 1, or 0. For a name that costs something to make. */
MEMGAUGE_REGION_PUBLIC int memgauge_region_enabled(void);

#ifdef __cplusplus
}

namespace memgauge {

/* Marks its own lifetime. The name is not copied: it must live as long. */
class Region {
public:
    explicit Region(const char* name) noexcept : name_(name) { memgauge_region_begin(name_); }
    ~Region() { memgauge_region_end(name_); }
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;

private:
    const char* name_;
};

}  // namespace memgauge
#endif

#endif
