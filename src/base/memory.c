/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory and strings.
 *
 * Every allocation of the library passes here, so that tests can let any of
 * them fail.  Owns the countdown to that failure.
 */
#include "base/base.h"

#include <stdarg.h>
#include <string.h>

/* Allocations until one fails, that one included; 0 or less: none will. */
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
    if (EKI_LIKELY(
            atomic_load_explicit(&fail_countdown, memory_order_relaxed) <= 0))
        return false;
    /* relaxed: likewise.  Threads that pass the load together may take it
     * below 0, which means the same as 0. */
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

void *eki_alloc_lines(size_t bytes)
{
    if (bytes > SIZE_MAX - EKI_LINE || must_fail())
        return NULL;
    size_t lines = bytes / EKI_LINE + (bytes % EKI_LINE != 0 || bytes == 0);
    void *memory = aligned_alloc(EKI_LINE, lines * EKI_LINE);
    if (memory != NULL)
        memset(memory, 0, lines * EKI_LINE);
    return memory;
}

void eki_free(void *memory)
{
    free(memory);
}

char *eki_copy_string(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = eki_alloc(bytes, 1);
    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

void eki_append(char *text, size_t bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, bytes - used, format, arguments);
    va_end(arguments);
}
