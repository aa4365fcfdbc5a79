/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random numbers and hashing.
 *
 * Paper: Blackman and Vigna, Scrambled linear pseudorandom number generators,
 * ACM TOMS 2021 (xoshiro256**); Steele, Lea and Flood, OOPSLA 2014 (splitmix64,
 * which fills the state and mixes hashes).
 */
#include "base/base.h"

static uint64_t rotate_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

void eki_random_seed(struct eki_random *random, uint64_t seed, uint64_t stream)
{
    uint64_t x = eki_hash(eki_hash(0, seed), stream);
    for (int i = 0; i < 4; i++) {
        x += EKI_SPLITMIX_STEP;
        random->state[i] = eki_splitmix(x);
    }
}

uint64_t eki_random_next(struct eki_random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t eki_random_below(struct eki_random *random, uint64_t n)
{
    /* Lemire, ACM TOMACS 2019, without the rejection: numbers below 2^32 are
     * at most 2^-32 more or less likely than others. */
    return (uint64_t)(((unsigned __int128)eki_random_next(random) * n) >> 64);
}

uint64_t eki_hash_text(uint64_t hash, const char *text)
{
    /* The final NUL, too: "ab", "c" must differ from "a", "bc". */
    do
        hash = eki_hash(hash, (unsigned char)*text);
    while (*text++ != '\0');
    return hash;
}
