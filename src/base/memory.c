/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory and strings.
 *
 * Every allocation of the library passes here, so that tests can let any of
 * them fail.  Owns the countdown to that failure.
 */
#define _GNU_SOURCE /* MREMAP_FIXED, syscall() */
#include "base/base.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Arrays from here on are mappings of their own, in multiples of this: the size
 * of a huge page of x86 and of most others. */
#define LARGE_BYTES ((size_t)1 << 21)

/* Allocations until one fails, that one included; 0 or less: none will, or
 * EKI_MEMORY_GONE: all will. */
static _Atomic int64_t fail_countdown;

void eki_memory_fail(int64_t n)
{
    /* relaxed: the countdown guards no other data. */
    atomic_store_explicit(&fail_countdown, n, memory_order_relaxed);
}

static bool must_fail(void)
{
    /* relaxed: see eki_memory_fail().  The load keeps the line shared between
     * threads while no test counts. */
    int64_t left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    if (EKI_LIKELY(left <= 0))
        return left == EKI_MEMORY_GONE;
    /* relaxed: see eki_memory_fail().  Threads that pass the load together may
     * take it below 0, which means the same as 0. */
    return atomic_fetch_sub_explicit(&fail_countdown, 1,
                                     memory_order_relaxed) == 1;
}

/* The size of COUNT objects, at least 1 byte so that NULL means failure. */
static bool size_multiply(size_t count, size_t bytes, size_t *total)
{
    if (bytes != 0 && count > SIZE_MAX / bytes)
        return false;
    *total = count * bytes != 0 ? count * bytes : 1;
    return true;
}

void *eki_alloc(size_t count, size_t bytes)
{
    size_t total;
    if (!size_multiply(count, bytes, &total) || must_fail())
        return NULL;
    return calloc(1, total);
}

void *eki_realloc(void *memory, size_t count, size_t bytes)
{
    size_t total;
    if (!size_multiply(count, bytes, &total) || must_fail())
        return NULL;
    return realloc(memory, total);
}

bool eki_grow(void *array, int64_t count, int64_t *room, int64_t first,
              size_t bytes)
{
    if (count < *room)
        return true;
    int64_t more = *room ? 2 * *room : first;
    /* All pointers to objects look alike, but have types of their own. */
    void *memory;
    memcpy(&memory, array, sizeof memory);
    memory = eki_realloc(memory, (size_t)more, bytes);
    if (!memory)
        return false;
    memcpy(array, &memory, sizeof memory);
    *room = more;
    return true;
}

int64_t eki_place_from(const void *array, int64_t count, size_t bytes,
                       uint64_t key)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        uint64_t number;
        memcpy(&number, (const char *)array + (size_t)middle * bytes,
               sizeof number);
        if (number < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void *eki_alloc_untouched(size_t bytes)
{
    if (bytes > SIZE_MAX - EKI_LINE || must_fail())
        return NULL;
    size_t lines = bytes / EKI_LINE + (bytes % EKI_LINE != 0 || bytes == 0);
    return aligned_alloc(EKI_LINE, lines * EKI_LINE);
}

void *eki_alloc_lines(size_t bytes)
{
    void *memory = eki_alloc_untouched(bytes);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

void eki_free(void *memory)
{
    free(memory);
}

static bool is_large_array(size_t bytes)
{
    return bytes >= LARGE_BYTES;
}

/* A mapping of whole huge pages; NULL: there is none. */
static void *map_large(size_t bytes)
{
    unsigned char *memory =
        mmap(NULL, bytes + LARGE_BYTES, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    size_t before = (size_t)(-(uintptr_t)memory & (LARGE_BYTES - 1));
    if (before != 0)
        munmap(memory, before);
    munmap(memory + before + bytes, LARGE_BYTES - before);
    return memory + before;
}

/* Pages move, not what lies on them.  The system does it, not mremap(): UCX, on
 * which MPI may rest, has one of its own that forgets the new place, and root's
 * pages would go to address 0. */
static void *move_large(void *array, size_t bytes, size_t wanted)
{
    void *place = map_large(wanted);
    if (!place)
        return NULL;
    if (syscall(SYS_mremap, array, bytes, wanted, MREMAP_MAYMOVE | MREMAP_FIXED,
                place) == -1) {
        munmap(place, wanted);
        return NULL;
    }
    return place;
}

static size_t mapped_bytes(size_t bytes)
{
    return (bytes + LARGE_BYTES - 1) / LARGE_BYTES * LARGE_BYTES;
}

static void *resize_large(void *array, size_t bytes, size_t wanted)
{
    size_t pages = mapped_bytes(wanted), old = mapped_bytes(bytes);
    if (pages < wanted || pages > SIZE_MAX - LARGE_BYTES)
        return NULL;
    if (is_large_array(bytes) && pages == old)
        return array;
    void *resized = is_large_array(bytes) ? move_large(array, old, pages)
                                          : map_large(pages);
    if (!resized)
        return NULL;
    /* Without huge pages all is as right, and touched more slowly. */
    madvise(resized, pages, MADV_HUGEPAGE);
    if (is_large_array(bytes))
        return resized;
    if (bytes > 0)
        memcpy(resized, array, bytes);
    free(array);
    return resized;
}

void *eki_array_resize(void *array, size_t bytes, size_t wanted)
{
    EKI_ASSERT(wanted > 0 && wanted >= bytes);
    if (must_fail())
        return NULL;
    return is_large_array(wanted) ? resize_large(array, bytes, wanted)
                                  : realloc(array, wanted);
}

size_t eki_array_cut(void *array, size_t bytes, size_t used)
{
    if (!is_large_array(bytes) || used > bytes / 4)
        return bytes;
    /* So much that it is large whatever the caller rounds down. */
    size_t left = mapped_bytes(used) + 2 * LARGE_BYTES;
    size_t old = mapped_bytes(bytes);
    if (left >= old)
        return bytes;
    munmap((unsigned char *)array + left, old - left);
    return left;
}

void eki_array_free(void *array, size_t bytes)
{
    if (is_large_array(bytes))
        munmap(array, mapped_bytes(bytes));
    else
        free(array);
}

char *eki_copy_string(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = eki_alloc(bytes, 1);
    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}
