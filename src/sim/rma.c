/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated one-sided operations.  One takes half of `rma` to its target, where
 * it is carried out, and half of it back, with its bytes.  Changes of a word
 * are carried out in the order in which they arrive; each is begun `atomic_ns`
 * after the one before.  Reads and gets wait for nobody.  One on own memory is
 * done at once, and the step takes that time.
 *
 * Where the program has a pace of its own, which is a test, all take their
 * time, and others get data as it was at the last sync of its rank: a missing
 * one is seen.
 */
#include "sim/parts.h"

#include <string.h>

_Static_assert(EKI_ONE_SIDED_WORDS < 64, "a bit each");

static struct eki_sim_rma *sim_rma_of(struct eki_rma *base)
{
    return (struct eki_sim_rma *)base; /* its first member */
}

static size_t word_count(const struct eki_rma_operation *what)
{
    return what->words > 1 ? what->words : 1;
}

static bool is_exported(const struct eki_rma *rma,
                        const struct eki_rma_operation *what)
{
    bool is_of_data = what->kind >= EKI_RMA_GET;
    size_t room = is_of_data ? rma->bytes : rma->words;
    size_t count = is_of_data ? what->bytes : word_count(what);
    return what->rank >= 0 && what->rank < rma->fabric->size &&
           (is_of_data || count <= EKI_RMA_WORDS) && what->at <= room &&
           count <= room - what->at;
}

static bool test_operation(struct eki_rma *base, int ticket, uint64_t *before)
{
    struct eki_sim_rma *rma = sim_rma_of(base);
    const struct eki_sim_operation *operation = &rma->operations[ticket];
    if (base->fabric->failed != EK_OK)
        return true;
    EKI_ASSERT(rma->used >> ticket & 1);
    if (operation->done > rma->sim->now)
        return false;
    if (before && operation->what.kind < EKI_RMA_GET)
        memcpy(before, operation->before,
               word_count(&operation->what) * sizeof *before);
    rma->used &= ~(UINT64_C(1) << ticket);
    rma->has_ended = true;
    return true;
}

static void sync_rma(struct eki_rma *base)
{
    const struct eki_sim_rma *rma = sim_rma_of(base);
    if (rma->seen != base->data)
        memcpy(rma->seen, base->data, base->bytes);
}

/* Change a word of TARGET; returns when the change is begun. */
static uint64_t change_word(const struct eki_sim_rma *target,
                            struct eki_sim_operation *operation)
{
    const struct eki_sim *sim = target->sim;
    const struct eki_rma_operation *what = &operation->what;
    uint64_t *word = &target->words[what->at];
    uint64_t begun = eki_sim_later(target->word_free[what->at], sim->now);
    target->word_free[what->at] = begun + (uint64_t)sim->machine.rma_atomic;
    operation->before[0] = *word;
    *word = what->kind == EKI_RMA_ADD ? *word + what->value : what->value;
    return begun;
}

/* Carry out what has arrived at TARGET; returns when that is begun. */
static uint64_t carry_out(const struct eki_sim_rma *target,
                          struct eki_sim_operation *operation)
{
    const struct eki_rma_operation *what = &operation->what;
    switch (what->kind) {
    case EKI_RMA_READ:
        memcpy(operation->before, target->words + what->at,
               word_count(what) * sizeof *target->words);
        break;
    case EKI_RMA_GET:
        memcpy(what->memory, target->seen + what->at, what->bytes);
        break;
    case EKI_RMA_PUT:
        memmove(target->base.data + what->at, what->memory, what->bytes);
        memmove(target->seen + what->at, what->memory, what->bytes);
        break;
    default:
        return change_word(target, operation);
    }
    return target->sim->now;
}

/* Words of TARGET were changed by another, or looked at by the owner. */
static void note_words(struct eki_sim *sim, struct eki_sim_rma *target,
                       const struct eki_rma_operation *what, bool is_own)
{
    uint64_t bits = ((UINT64_C(1) << word_count(what)) - 1) << what->at;
    if (is_own && what->kind == EKI_RMA_READ)
        target->touched &= ~bits;
    if (is_own || what->kind == EKI_RMA_READ)
        return;
    target->touched |= bits;
    uint64_t look = eki_sim_next_own_look(target);
    if (look != UINT64_MAX)
        eki_sim_call_server(sim, target->rank, eki_sim_later(look, sim->now));
}

/* It arrives at its target. */
static void arrive(struct eki_sim_rma *rma, struct eki_sim_operation *operation)
{
    struct eki_sim *sim = rma->sim;
    const struct eki_machine *machine = &sim->machine;
    const struct eki_rma_operation *what = &operation->what;
    struct eki_sim_rank *target = &sim->ranks[what->rank];
    double back = target == rma->rank ? 0 : machine->rma / 2;
    if (what->kind >= EKI_RMA_GET)
        back += machine->rma_byte * (double)what->bytes;
    uint64_t begun = carry_out(target->rma, operation);
    operation->done =
        begun + eki_sim_pace_of(sim, rma->rank, EKI_PACE_MESSAGE, back);
    eki_sim_call_server(sim, rma->rank, operation->done);
    if (what->kind < EKI_RMA_GET)
        note_words(sim, target->rma, what, target == rma->rank);
}

/* Carry out an operation on own memory, which takes the time of the step. */
static void carry_out_here(struct eki_sim_rma *rma,
                           struct eki_sim_operation *operation)
{
    struct eki_sim *sim = rma->sim;
    uint64_t begun = carry_out(rma, operation);
    if (operation->what.kind < EKI_RMA_GET)
        note_words(sim, rma, &operation->what, true);
    operation->done = sim->now;
    rma->rank->port->step_ns +=
        (double)(begun - sim->now) + sim->machine.rma_atomic;
}

/* It leaves for its target. */
static void send_off(struct eki_sim_rma *rma,
                     struct eki_sim_operation *operation)
{
    struct eki_sim *sim = rma->sim;
    struct eki_sim_port *port = rma->rank->port;
    bool is_own = operation->what.rank == rma->rank->number;
    operation->done = UINT64_MAX;
    operation->arrives = sim->now + (uint64_t)port->step_ns +
                         eki_sim_pace_of(sim, rma->rank, EKI_PACE_MESSAGE,
                                         is_own ? 0 : sim->machine.rma / 2);
    port->step_ns += sim->machine.send;
    eki_heap_set_early(&sim->heap, rma->actor, operation->arrives);
}

static ek_status start_operation(struct eki_rma *base,
                                 const struct eki_rma_operation *what,
                                 int *ticket)
{
    struct eki_sim_rma *rma = sim_rma_of(base);
    struct eki_sim *sim = rma->sim;
    int number = 0;
    *ticket = -1;
    if (!is_exported(base, what))
        return eki_error(EK_ERR_ARG, "rank %d does not export %zu", what->rank,
                         what->at);
    if (base->fabric->failed != EK_OK)
        return base->fabric->failed;
    while (number < EKI_RMA_TICKETS && rma->used >> number & 1)
        number++;
    if (number == EKI_RMA_TICKETS)
        return EK_OK;
    struct eki_sim_operation *operation = &rma->operations[number];
    operation->what = *what;
    if (what->rank == base->fabric->rank && !sim->program->pace)
        carry_out_here(rma, operation);
    else
        send_off(rma, operation);
    rma->rank->port->has_started = true;
    rma->used |= UINT64_C(1) << number;
    *ticket = number;
    return EK_OK;
}

static const struct eki_rma_ops rma_ops = {
    .start = start_operation, .test = test_operation, .sync = sync_rma};

void eki_sim_rma_event(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    struct eki_sim_rma *rma = rank->rma;
    for (int i = 0; i < EKI_RMA_TICKETS && rma->used >> i != 0; i++) {
        struct eki_sim_operation *operation = &rma->operations[i];
        if (!(rma->used >> i & 1) || operation->done != UINT64_MAX)
            continue;
        if (operation->arrives <= sim->now)
            arrive(rma, operation);
        else
            eki_heap_set_early(&sim->heap, rma->actor, operation->arrives);
    }
}

bool eki_sim_open_rma(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    struct eki_sim_rma *rma = eki_alloc(1, sizeof *rma);
    rank->rma = rma;
    if (!rma)
        return false;
    rma->base =
        (struct eki_rma){.ops = &rma_ops,
                         .fabric = &rank->port->fabric,
                         .words = EKI_ONE_SIDED_WORDS,
                         .bytes = eki_one_sided_bytes(&sim->setup.engine)};
    rma->sim = sim;
    rma->rank = rank;
    rma->wanted = UINT64_MAX;
    rma->actor = sim->sample.actor + 1 + rank->number;
    rma->words = eki_alloc(rma->base.words, sizeof *rma->words);
    rma->word_free = eki_alloc(rma->base.words, sizeof *rma->word_free);
    rma->base.data = eki_alloc_lines(rma->base.bytes);
    rma->seen =
        sim->program->pace ? eki_alloc_lines(rma->base.bytes) : rma->base.data;
    return rma->words && rma->word_free && rma->base.data && rma->seen;
}

void eki_sim_close_rma(struct eki_sim_rma **closed)
{
    struct eki_sim_rma *rma = *closed;
    *closed = NULL;
    if (!rma)
        return;
    if (rma->seen != rma->base.data)
        eki_free(rma->seen);
    eki_free(rma->base.data);
    eki_free(rma->word_free);
    eki_free(rma->words);
    eki_free(rma);
}
