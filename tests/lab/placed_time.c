/* Touches 16 MiB, asks the kernel on which nodes they are, and prints the time that streaming
 * through them would take on a machine whose node 0 has three times the bandwidth of node 1: that of
 * the node which is finished last. A model: emulated memory has no speed of its own. */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BYTES = 16 << 20, PAGE = 4096, PAGES = BYTES / PAGE, AT_ONCE = 512 };

int main(void) {
    static void* pages[AT_ONCE];
    static int nodes[AT_ONCE];
    long on[2] = {0, 0};
    char* base = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return 1;
    madvise(base, BYTES, MADV_NOHUGEPAGE);
    memset(base, 1, BYTES);
    for (long first = 0; first < PAGES; first += AT_ONCE) {
        for (long i = 0; i < AT_ONCE; ++i) pages[i] = base + (first + i) * PAGE;
        if (syscall(SYS_move_pages, 0, AT_ONCE, pages, NULL, nodes, 0) != 0) return 2;
        for (long i = 0; i < AT_ONCE; ++i) {
            if (nodes[i] != 0 && nodes[i] != 1) return 3;
            ++on[nodes[i]];
        }
    }
    const double near = (double)on[0] / PAGES / 3, far = (double)on[1] / PAGES;
    printf("modelled time %.4f\n", near > far ? near : far);
    return 0;
}
