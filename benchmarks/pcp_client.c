/* A plain client of libpcp: arguments are host, number of fetches and metrics. Prints ns of each.
   It declares what it calls, as no header of libpcp is needed otherwise. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef unsigned int pmID;
extern int pmNewContext(int, const char *);
extern int pmLookupName(int, const char **, pmID *);
extern int pmFetch(int, pmID *, void **);
extern void pmFreeResult(void *);

static long long now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC_RAW, &at);
    return at.tv_sec * 1000000000LL + at.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc < 4 || pmNewContext(1, argv[1]) < 0) return 1;
    const int metrics = argc - 3;
    pmID *ids = calloc((size_t)metrics, sizeof *ids);
    if (ids == NULL || pmLookupName(metrics, (const char **)argv + 3, ids) != metrics) return 2;
    const int warm = 50, fetches = atoi(argv[2]);
    for (int fetch = -warm; fetch < fetches; ++fetch) {
        void *result = NULL;
        const long long begin = now();
        if (pmFetch(metrics, ids, &result) < 0) return 3;
        pmFreeResult(result);
        const long long end = now();
        if (fetch >= 0) printf("%lld\n", end - begin);
    }
    return 0;
}
