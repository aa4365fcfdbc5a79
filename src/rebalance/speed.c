/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast this rank is, from the tasks that a rebalance has brought here: they
 * ran on another rank before.  A speed is what a task takes on a rank of speed
 * 1, over what it takes here.  A rank learns without the others, which may err
 * in what they call 1: the target is a time, so loads that are even are even
 * with any speeds, and an error only makes rebalances come there later.
 */
#include "rebalance/balancer.h"

#include <stdlib.h>

/* A rank that differs by less is as fast as it was said to be. */
#define ALIKE 0.05

enum {
    FEW = 3 /* fewer tasks tell nothing of a speed */
};

/* The tasks that have come and run, and what they are looked up in. */
struct look {
    const struct eki_arrival *arrivals;
    int32_t *table; /* [mask + 1], 1 + arrival; 0: none */
    uint64_t mask;
    struct eki_slot **slots; /* [found], where each lies ... */
    int32_t *numbers;        /* [found] ... which arrival it is ... */
    double *ratios; /* [found] ... and its time here to what was told */
    int64_t count, found;
    int64_t stayed, stayed_ns, deviations; /* of other tasks */
};

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool open_look(struct look *look, const struct eki_moves *moves)
{
    size_t room = 4;
    look->arrivals = moves->arrivals;
    look->count = moves->arrived;
    while (room < 2 * (size_t)look->count)
        room *= 2;
    look->mask = room - 1;
    look->table = eki_alloc(room, sizeof *look->table);
    look->slots = eki_alloc((size_t)look->count, sizeof(struct eki_slot *));
    look->ratios = eki_alloc((size_t)look->count, sizeof *look->ratios);
    look->numbers = eki_alloc((size_t)look->count, sizeof *look->numbers);
    if (!look->table || !look->slots || !look->ratios || !look->numbers)
        return false;
    for (int64_t i = 0; i < look->count; i++) {
        uint64_t at = eki_splitmix(look->arrivals[i].id) & look->mask;
        while (look->table[at])
            at = (at + 1) & look->mask;
        look->table[at] = (int32_t)i + 1;
    }
    return true;
}

static void close_look(struct look *look)
{
    eki_free(look->table);
    eki_free(look->slots);
    eki_free(look->ratios);
    eki_free(look->numbers);
}

static void look_up(struct look *look, struct eki_slot *slot)
{
    uint64_t at = eki_splitmix(slot->id) & look->mask;
    while (look->table[at] &&
           look->arrivals[look->table[at] - 1].id != slot->id)
        at = (at + 1) & look->mask;
    if (look->table[at] == 0 || look->found == look->count) {
        look->stayed++;
        look->deviations += slot->deviation;
        look->stayed_ns += (int64_t)eki_bin_ns(slot->bin);
        return;
    }
    int32_t number = look->table[at] - 1;
    look->numbers[look->found] = number;
    look->slots[look->found] = slot;
    look->ratios[look->found++] =
        (double)eki_bin_ns(slot->bin) /
        (double)eki_bin_ns(look->arrivals[number].bin);
}

static void look_at_all(struct look *look, const struct eki_engine *engine)
{
    for (int here = 0; here < engine->topology->workers_here; here++) {
        const struct eki_local *local = &engine->workers[here]->local;
        for (unsigned char *at = local->seed_base; at != local->seed_end;
             at += local->slot_bytes) {
            struct eki_slot *slot = (struct eki_slot *)at;
            if (eki_donor_may_move(engine, slot))
                look_up(look, slot);
        }
    }
}

/* Let ratios be to what a task that stayed has become; returns by how much one
 * may differ that tells nothing of the rank. */
static double settle_ratios(struct look *look, const struct eki_stayed *stayed)
{
    double grown = 1, noise = 0;
    if (stayed->count == look->stayed && stayed->ns > 0 && look->stayed_ns > 0)
        grown = (double)look->stayed_ns * stayed->share / (double)stayed->ns;
    if (look->stayed > 0)
        noise =
            eki_deviation_relative((uint8_t)(look->deviations / look->stayed));
    for (int64_t i = 0; i < look->found; i++)
        look->ratios[i] /= grown;
    return ALIKE + 2 * noise;
}

static bool differs(double ratio, double alike)
{
    return ratio < 1 - alike || ratio > 1 + alike;
}

/* What a task takes longer or less because of its place is no noise. */
static void mend_deviations(const struct look *look, double alike)
{
    for (int64_t i = 0; i < look->found; i++) {
        if (differs(look->ratios[i], alike))
            look->slots[i]->deviation =
                look->arrivals[look->numbers[i]].deviation;
    }
}

/* What a speed becomes where tasks took so much longer than was told. */
static double next_speed(double speed, double longer)
{
    const double most = EKI_SPEED_MOST;
    speed = (speed > 0 ? speed : 1) / longer;
    return speed > most ? most : speed < 1 / most ? 1 / most : speed;
}

void eki_speed_learn(struct eki_balancer *balancer)
{
    struct eki_moves *moves = &balancer->engine->moves;
    struct look look = {0};
    if (moves->arrived > 0 && balancer->past.was_quiet &&
        open_look(&look, moves)) {
        look_at_all(&look, balancer->engine);
        double alike = settle_ratios(&look, &balancer->past.stayed);
        mend_deviations(&look, alike);
        qsort(look.ratios, (size_t)look.found, sizeof *look.ratios, by_size);
        double longer = look.found < FEW ? 1 : look.ratios[look.found / 2];
        if (differs(longer, alike))
            moves->speed = next_speed(moves->speed, longer);
    }
    close_look(&look);
    moves->arrived = 0;
}
