/* STREAM's triad, for cachegrind: three data references an element. */

#include <stdlib.h>

int main(int argc, char** argv) {
    const size_t elements = argc > 1 ? strtoul(argv[1], 0, 10) : 0;
    static volatile double a[1000000], b[1000000], c[1000000];
    size_t i;
    for (i = 0; i < elements && i < 1000000; ++i) c[i] = a[i] + 3.0 * b[i];
    return 0;
}
