/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank whose seeds are drawn by their numbers, and what the other tells. */
#ifndef SEEDS_H
#define SEEDS_H

#include "lone.h"

/* Make RANK with COUNT seeds, numbered from FIRST. */
static inline void make(struct lone *lone, int rank, int count, uint64_t first)
{
    lone_start(lone, rank);
    lone_seed(lone, count, first);
}

static inline void enter(struct lone *lone)
{
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_COUNTER);
}

static inline void begin(struct lone *lone, int rank, int count, uint64_t first)
{
    make(lone, rank, count, first);
    enter(lone);
}

/* A seed that stands for COUNT indices from INDEX on, NUMBER is of its id. */
static inline void seed_range(struct lone *lone, int64_t index, int64_t count,
                              uint64_t number)
{
    struct eki_range range = {index, index + count};
    struct eki_slot *slot = lone_seed_at(lone, 0, 0);
    slot->bytes = sizeof range;
    slot->bin = EKI_BIN_RANGE;
    slot->flags |= EKI_SLOT_RANGE;
    slot->id = eki_id(lone_worker(lone)->id, number);
    memcpy(slot->payload, &range, sizeof range);
    lone_worker(lone)->local.has_ranges = true;
}

/* To rank 0: what rank 1 holds. */
static inline void tell_seeds(struct lone *lone, struct eki_seeds seeds)
{
    struct eki_message *message = lone_message(lone, EKI_KIND_SEEDS);
    message->head.count = 1;
    message->head.bytes = sizeof seeds;
    memcpy(message->body, &seeds, sizeof seeds);
    lone_serve(lone);
}

/* To rank 1: COUNT entries of the table from FIRST on. */
static inline void tell_table(struct lone *lone, const struct eki_seeds *table,
                              int64_t first, int64_t count)
{
    struct eki_message *message = lone_message(lone, EKI_KIND_TABLE);
    message->head.first = first;
    message->head.count = count;
    message->head.bytes = count * (int64_t)sizeof *table;
    if (count > 0)
        memcpy(message->body, table, (size_t)message->head.bytes);
    lone_serve(lone);
}

/* The table of a job in which rank 0 has MINE and rank 1 THEIRS to fetch. */
static inline void tell_counts(struct lone *lone, int64_t mine, int64_t theirs)
{
    const struct eki_seeds table[3] = {
        {.function = -1},
        {.first = mine, .function = -1},
        {.first = mine + theirs, .function = -1}};
    tell_table(lone, table, 0, 3);
}

/* A message about COUNT seeds from NUMBER on for, or from, WORKER. */
static inline void tell_numbers(struct lone *lone, int kind, int worker,
                                int64_t number, int count)
{
    struct eki_message *message = lone_message(lone, kind);
    message->head.worker = worker;
    message->head.first = number;
    message->head.detail = count;
    lone_serve(lone);
}

/* Likewise, about one. */
static inline void tell_number(struct lone *lone, int kind, int worker,
                               int64_t number)
{
    tell_numbers(lone, kind, worker, number, 1);
}

/* Rank 1 with seeds 10, 11; rank 0 has three before them. */
static inline void begin_rank_1(struct lone *lone)
{
    begin(lone, 1, 2, 10);
    lone_serve(lone);
    tell_counts(lone, 3, 2);
    lone_forget(lone);
}

static inline void enter_chunks(struct lone *lone, int chunk)
{
    lone_enter_phase(
        lone, &(struct eki_phase){.kind = EKI_PHASE_PROCESS,
                                  .signature = 1,
                                  .scheme = eki_scheme_of(EK_STEAL_COUNTER),
                                  .chunk = chunk});
}

/* The phase ends at once, and says why. */
static inline void check_broken(struct lone *lone, const char *text)
{
    struct eki_error error = lone_end(lone);
    CHECK_EQ_INT(error.status, EK_ERR_MPI);
    CHECK_HAS_TEXT(error.text, text);
    lone_close(lone);
}

#endif
