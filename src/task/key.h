/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys: ids as programs see them.
 *
 * An id is an address: the worker that is the home of a task, and a number
 * there.  A job that loads what other workers have saved gives tasks other
 * homes, so other ids.  The *key* of a task stays: it is the id that the task
 * got first.  In keys the workers of this job have numbers above those of the
 * jobs before, from its *key base* on.  Where that is 0, ids are keys.
 *
 * The number of a task that has *moved* to such a home holds its key: the
 * worker that was its first home, the part of the numbers that it was from, and
 * its place in that part.
 */
#ifndef EKI_KEY_H
#define EKI_KEY_H

#include "task/slot.h"

/*
 * Seeds take the lower half of the numbers, spawned tasks those above.  A
 * sixteenth of the seeds' is for other threads than the home thread, and one
 * for what tasks of other collections add.  After some 10^11 seeds the numbers
 * start anew; then two tasks may have one id.  The last quarter of all numbers
 * is for tasks that have moved.
 */
#define EKI_OTHER_NUMBERS (EKI_NUMBERS / 32 * 14)
#define EKI_INLET_NUMBERS (EKI_NUMBERS / 32 * 15)
#define EKI_SPAWNED_NUMBERS (EKI_NUMBERS / 2)
#define EKI_MOVED_NUMBERS (EKI_NUMBERS / 4 * 3)

/* Id of the first task that a worker spawns. */
static inline uint64_t eki_id_first_spawned(int64_t worker)
{
    return eki_id(worker, EKI_SPAWNED_NUMBERS);
}

/* Homes that an id can name. */
#define EKI_HOMES_MOST (1 << 24)

/* The key of the task with ID, in a job with BASE. */
uint64_t eki_key_later(int base, uint64_t id);
static inline uint64_t eki_key(int base, uint64_t id)
{
    return EKI_LIKELY(base == 0) ? id : eki_key_later(base, id);
}
/* Id of the task with KEY that has moved to WORKER, in a job with BASE. */
uint64_t eki_key_move(int base, uint64_t key, int worker);
/* The place of a key in its part; and how many there are for what has moved. */
uint64_t eki_key_place(uint64_t key);
uint64_t eki_key_places(int base);

/* "5 (home worker 3)", as errors name a task. */
struct eki_key_words {
    char text[64];
};
struct eki_key_words eki_key_words(int base, uint64_t id);

#endif
