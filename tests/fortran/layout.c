/* SPDX-License-Identifier: BSD-3-Clause */
/* What the module mirrors, as C has it, and what Fortran does not have: for
 * test_calls.f90. */
#define _GNU_SOURCE
#include <evenkeel_task.h>

#include <stdlib.h>

size_t bytes_of_task(void);
size_t bytes_of_hint(void);
void make_folder(char *name);
void fill_task(ek_task *task);

size_t bytes_of_task(void)
{
    return sizeof(ek_task);
}

size_t bytes_of_hint(void)
{
    return sizeof(ek_hint);
}

/* NAME ends with XXXXXX. */
void make_folder(char *name)
{
    if (!mkdtemp(name))
        abort();
}

/* The last fields of each size. */
void fill_task(ek_task *task)
{
    *task = (ek_task){.bytes = 1, .count = 2, .home = 3, .starts_run = true};
}
