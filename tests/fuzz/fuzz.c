/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "fuzz.h"

#include "base/sealed.h"

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

/* Put the CRC of the BYTES from AT on behind them. */
static void mend_crc(unsigned char *data, size_t at, size_t bytes)
{
    eki_put(data + at + bytes, eki_crc32c(0, data + at, bytes), 4);
}

static void mend(unsigned char *data, size_t size, size_t head)
{
    size_t at = head;
    if (at < EKI_BLOCK_CRC || at > size)
        return;
    mend_crc(data, 0, at - EKI_BLOCK_CRC);
    while (size - at >= EKI_BLOCK_HEAD + EKI_BLOCK_CRC) {
        size_t rest = size - at - EKI_BLOCK_HEAD - EKI_BLOCK_CRC;
        size_t bytes = eki_get(data + at + EKI_BLOCK_BYTES, 8);
        eki_put(data + at + EKI_BLOCK_HEAD_CRC, eki_block_head_crc(data + at),
                4);
        if (bytes > rest)
            return;
        mend_crc(data, at + EKI_BLOCK_HEAD, bytes);
        at += EKI_BLOCK_HEAD + bytes + EKI_BLOCK_CRC;
    }
}

void fuzz_sealed_fill(struct fuzz_file *file, const uint8_t *data, size_t size,
                      size_t head)
{
    size_t bytes = size > 0 ? size - 1 : 0;
    unsigned char *copy = malloc(size + 1);
    FUZZ_CHECK(copy != NULL);
    if (size > 0)
        memcpy(copy, data + 1, bytes);
    if (size > 0 && data[0])
        mend(copy, bytes, head);
    fuzz_file_fill(file, copy, bytes);
    free(copy);
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
