/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC-32C (Castagnoli: polynomial 0x1edc6f41, reflected), a byte at a time.
 *
 * Owns the table, made once: entry I is the remainder of I.
 */
#include "base/base.h"

#include <pthread.h>

static uint32_t remainders[256];

/* Eight times shifted right, and the polynomial subtracted for each bit that
 * fell out. */
static void fill_remainders(void)
{
    const uint32_t reflected = 0x82f63b78;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t rest = i;
        for (int bit = 0; bit < 8; bit++)
            rest = rest >> 1 ^ (rest & 1 ? reflected : 0);
        remainders[i] = rest;
    }
}

uint32_t eki_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const unsigned char *next = data;
    pthread_once(&once, fill_remainders);
    crc = ~crc;
    for (size_t i = 0; i < bytes; i++)
        crc = crc >> 8 ^ remainders[(crc ^ next[i]) & 0xff];
    return ~crc;
}
