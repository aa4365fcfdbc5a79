/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_file_fill(struct fuzz_file *file, const void *data, size_t size)
{
    if (file->path[0] == '\0') {
        file->descriptor = memfd_create("fuzz", MFD_CLOEXEC);
        FUZZ_CHECK(file->descriptor >= 0);
        snprintf(file->path, sizeof file->path, "/proc/self/fd/%d",
                 file->descriptor);
    }
    FUZZ_CHECK(ftruncate(file->descriptor, 0) == 0);
    FUZZ_CHECK(pwrite(file->descriptor, data, size, 0) == (ssize_t)size);
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL);
    for (size_t i = 0; i < size; i++)
        text[i] = data[i] ? (char)data[i] : ' ';
    text[size] = '\0';
    return text;
}
