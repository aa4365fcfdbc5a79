/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the memory of a large simulation lies. */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include "simulation.h"

#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    WORKER_BYTES = 12000, /* with its part of a rank, about */
    TASK_BYTES = 100,
    HUGE_PAGE = 1 << 21
};

/* The lines that an event reads lie far apart.  In huge pages most of them are
 * found without a walk through page tables.  What stays free at the end of the
 * heap takes no memory. */
void heap_prepare(const struct run *run)
{
    size_t bytes = (size_t)run->workers * WORKER_BYTES +
                   (size_t)run->workload->count * TASK_BYTES;
    if (bytes < 64 * (size_t)HUGE_PAGE)
        return;
#if defined(M_MMAP_MAX) && defined(MADV_HUGEPAGE)
    /* All of it comes from the heap, which does not shrink. */
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    unsigned char *first = sbrk(0);
    first += -(uintptr_t)first & (HUGE_PAGE - 1);
    /* volatile: the compiler must not leave out both calls. */
    void *volatile memory = malloc(bytes);
    unsigned char *end = sbrk(0);
    if (end > first)
        madvise(first, (size_t)(end - first), MADV_HUGEPAGE);
    free(memory);
#endif
}
