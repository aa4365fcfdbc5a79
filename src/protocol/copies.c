/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of seeds: the answer to a FETCH has those behind the one that was
 * drawn, so that whoever draws their numbers need not fetch them.  Which of
 * them run, and where, the numbers alone decide.
 */
#include "protocol/copies.h"

#include "engine/offers.h"
#include "protocol/numbers.h"

enum {
    /* Of the seeds that come at once: so many for each worker of the job, but
     * no more than 16 KiB of small ones.  In ek-sim (this, polling, 100 us) 64
     * nodes are slower by a third with answers of 1,020 seeds, and by a quarter
     * with these, than without copies; with 4 seeds for each worker two ranks
     * of a node lose a seventh. */
    DRAWN_MOST = 64,
    BROUGHT_MOST = 256
};

/* How many seeds may answer a FETCH: so many that whoever asks draws several of
 * them.  Among many workers it would draw the first alone. */
static int64_t seeds_at_once(const struct eki_engine *engine)
{
    int64_t workers = engine->topology->workers;
    int64_t most = eki_message_slots(engine);
    if (most > BROUGHT_MOST)
        most = BROUGHT_MOST;
    if (most < 2 * workers)
        return 1;
    return most < DRAWN_MOST * workers ? most : DRAWN_MOST * workers;
}

int64_t eki_copies_behind(const struct eki_counter *counter, int64_t number,
                          int chunk)
{
    const struct eki_engine *engine = counter->protocol.engine;
    int64_t most = seeds_at_once(engine), room = eki_message_slots(engine);
    if (most < chunk)
        most = chunk < room ? chunk : room;
    int64_t rest =
        counter->table[eki_numbers_entry(counter, number) + 1].first - number;
    return rest < most ? rest : most;
}

int64_t eki_copies_fill(struct eki_counter *counter,
                        const struct eki_wish *wish, unsigned char *slots)
{
    struct eki_engine *engine = counter->protocol.engine;
    int entry = eki_numbers_entry(counter, wish->number);
    int64_t count = eki_copies_behind(counter, wish->number, wish->chunk);
    int64_t first = eki_numbers_place(counter, entry, wish->number);
    for (int64_t i = 0; i < count; i++)
        eki_numbers_copy(counter, first + i, &counter->cursor,
                         eki_slot_at(slots, i, engine->slot_bytes));
    return count;
}

/* One of the two buffers of worker HERE. */
static unsigned char *buffer_of(const struct eki_counter *counter, int64_t here,
                                int buffer)
{
    const struct eki_engine *engine = counter->protocol.engine;
    return counter->copies +
           (2 * here + buffer) * eki_message_slots(engine) * engine->slot_bytes;
}

const struct eki_slot *eki_copies_find(const struct eki_counter *counter,
                                       const struct eki_drawer *drawer,
                                       int64_t number)
{
    if (number < drawer->copied_from ||
        number - drawer->copied_from >= drawer->copied)
        return NULL;
    return eki_slot_at(
        buffer_of(counter, drawer - counter->drawers, drawer->buffer),
        number - drawer->copied_from, counter->protocol.engine->slot_bytes);
}

bool eki_copies_keep(struct eki_counter *counter, int here,
                     const struct eki_message *message)
{
    const struct eki_engine *engine = counter->protocol.engine;
    struct eki_drawer *drawer = &counter->drawers[here];
    if (!counter->copies)
        counter->copies = eki_alloc_untouched(
            2 * (size_t)engine->topology->workers_here *
            (size_t)eki_message_slots(engine) * engine->slot_bytes);
    if (!counter->copies)
        return false;
    memcpy(buffer_of(counter, here, !drawer->buffer), message->body,
           (size_t)message->head.bytes);
    drawer->brought = message->head.count;
    return true;
}

void eki_copies_turn(struct eki_drawer *drawer)
{
    drawer->buffer = !drawer->buffer;
    drawer->copied_from = drawer->wanted_from;
    drawer->copied = drawer->brought;
}
