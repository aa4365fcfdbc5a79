/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic of keys. */
#include "task/key.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    PART_BITS = 2,
    MOVED_BITS = EKI_ID_BITS - 2 /* of what the number of a moved task holds */
};

static const uint64_t parts[1 << PART_BITS] = {
    0, EKI_OTHER_NUMBERS, EKI_INLET_NUMBERS, EKI_SPAWNED_NUMBERS};

static int key_part(uint64_t number)
{
    int part = (1 << PART_BITS) - 1;
    while (number < parts[part])
        part--;
    return part;
}

/* All bits of a moved number that its first home leaves. */
static int place_bits(int base)
{
    int bits = base > 1 ? 64 - __builtin_clzll((uint64_t)base - 1) : 0;
    return MOVED_BITS - PART_BITS - bits;
}

uint64_t eki_key_later(int base, uint64_t id)
{
    uint64_t number = id % EKI_NUMBERS, moved = number - EKI_MOVED_NUMBERS;
    int bits = place_bits(base);
    if (number < EKI_MOVED_NUMBERS)
        return id + eki_id(base, 0);
    return eki_id((int64_t)(moved >> bits >> PART_BITS),
                  parts[moved >> bits & ((1 << PART_BITS) - 1)] +
                      moved % (UINT64_C(1) << bits));
}

uint64_t eki_key_move(int base, uint64_t key, int worker)
{
    uint64_t home = (uint64_t)eki_id_home(key);
    int part = key_part(key % EKI_NUMBERS);
    return eki_id(
        worker, EKI_MOVED_NUMBERS +
                    ((home << PART_BITS | (uint64_t)part) << place_bits(base)) +
                    eki_key_place(key));
}

uint64_t eki_key_place(uint64_t key)
{
    return key % EKI_NUMBERS - parts[key_part(key % EKI_NUMBERS)];
}

uint64_t eki_key_places(int base)
{
    return UINT64_C(1) << place_bits(base);
}

struct eki_key_words eki_key_words(int base, uint64_t id)
{
    struct eki_key_words words;
    uint64_t key = eki_key(base, id);
    int home = eki_id_home(key);
    snprintf(words.text, sizeof words.text, "%" PRIu64 " (home worker %d%s)",
             key % EKI_NUMBERS, home < base ? home : home - base,
             home < base ? " of an earlier job" : "");
    return words;
}
