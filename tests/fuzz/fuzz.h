/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fuzz target: one function that takes any bytes, called by libFuzzer, or by
 * replay.c with those of files.  It ends the process where it finds something.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "base/base.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* End the process unless CONDITION holds. */
#define FUZZ_CHECK(condition) fuzz_check((condition), #condition, __LINE__)

static inline void fuzz_check(bool condition, const char *what, int line)
{
    if (condition)
        return;
    fprintf(stderr, "line %d: %s is false\n", line, what);
    abort();
}

/* A file in memory, by name. */
struct fuzz_file {
    int descriptor;
    char path[32];
};

/* Make FILE, at its first use, and let it hold SIZE bytes of DATA. */
void fuzz_file_fill(struct fuzz_file *file, const void *data, size_t size);

/* Fill FILE with what is behind the first byte of an input.  Where that is not
 * 0 the CRCs are made right, as far as the lengths are, so that what lies
 * behind them is reached; the header has HEAD bytes. */
void fuzz_sealed_fill(struct fuzz_file *file, const uint8_t *data, size_t size,
                      size_t head);

/* The bytes as a text that ends, with none within; to be freed. */
char *fuzz_text(const uint8_t *data, size_t size);

#endif
