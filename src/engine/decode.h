/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decode: what the decoders of messages share.
 *
 * Every field is compared with what it may be before anything is done with it:
 * by the row of the verb (eki_fits_verb()), then, where bounds depend on the
 * topology or the state of the phase, by the protocol that takes the message,
 * in a chain of eki_fits...().  The first field that does not fit is refused
 * (refusal.c), and the message is dropped.
 */
#ifndef EKI_ENGINE_DECODE_H
#define EKI_ENGINE_DECODE_H

#include "engine/offers.h"
#include "exchange/shape.h"

/* Whose message is decoded. */
struct eki_decode {
    struct eki_engine *engine;
    const char *kind;
    int source; /* rank */
};

static inline struct eki_decode eki_decode_of(struct eki_engine *engine,
                                              const struct eki_head *head)
{
    return (struct eki_decode){
        engine, eki_engine_verb(engine, head->kind)->name, head->source};
}

/* Refuse the message for its FIELD; always false. */
EKI_COLD bool eki_refuse_field(const struct eki_decode *decode,
                               const char *field, int64_t value, int64_t least,
                               int64_t most);

/* Whether LEAST <= VALUE <= MOST. */
static inline bool eki_fits(const struct eki_decode *decode, const char *field,
                            int64_t value, int64_t least, int64_t most)
{
    if (EKI_LIKELY(value >= least && value <= most))
        return true;
    return eki_refuse_field(decode, field, value, least, most);
}

static inline bool eki_fits_one(const struct eki_decode *decode,
                                const char *field, int64_t value,
                                int64_t expected)
{
    return eki_fits(decode, field, value, expected, expected);
}

/* All fields that SHAPE has rows for; what is summed up is in SUMS, or NULL. */
static inline bool eki_fits_shape(const struct eki_decode *decode,
                                  const struct eki_shape *shape,
                                  const void *body, const void *sums)
{
    struct eki_unfit unfit;
    return eki_shape_fits(shape, body, sums, &unfit) ||
           eki_refuse_field(decode, unfit.name, unfit.value, unfit.least,
                            unfit.most);
}

/* A body of COUNT items of BYTES each. */
static inline bool eki_fits_body(const struct eki_decode *decode,
                                 const struct eki_head *head, int64_t count,
                                 size_t bytes)
{
    return eki_fits_one(decode, "count", head->count, count) &&
           eki_fits_one(decode, "bytes", head->bytes, count * (int64_t)bytes);
}

/* A worker of RANK. */
static inline bool eki_fits_worker(const struct eki_decode *decode, int worker,
                                   int rank)
{
    const int *first = &decode->engine->topology->first_worker[rank];
    return eki_fits(decode, "worker", worker, first[0], first[1] - 1);
}

/* What the row of its verb says of a message. */
bool eki_fits_verb(struct eki_engine *engine, const struct eki_verb *verb,
                   const struct eki_message *message);
/* A task of one of so many functions. */
bool eki_fits_slot(const struct eki_decode *decode, const struct eki_slot *slot,
                   int functions);

/* Messages of the engine's own protocols. */
bool eki_wave_fits(struct eki_engine *engine,
                   const struct eki_message *message);
bool eki_break_fits(struct eki_engine *engine,
                    const struct eki_message *message);

#endif
