/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the counter: what each rank holds is told to rank 0, which
 * numbers it, starts the counter and tells all.
 */
#include "protocol/table.h"

#include "engine/decode.h"
#include "engine/offers.h"
#include "protocol/numbers.h"

/* Whether tasks of all ranks of the node may run here: all have entered the
 * phase, because they have told what they hold. */
static bool is_node_alike(const struct eki_counter *counter)
{
    const struct eki_engine *engine = counter->protocol.engine;
    for (int i = 0; i < engine->topology->node_ranks; i++) {
        if (!eki_is_alike(engine, eki_words_of(engine, engine->first_local[i])))
            return false;
    }
    return true;
}

static void set_ready(struct eki_counter *counter)
{
    counter->has_stock = counter->is_guided && is_node_alike(counter);
    /* release: pairs with the acquire in eki_table_is_ready(): the table is
     * filled. */
    atomic_store_explicit(&counter->is_ready, true, memory_order_release);
}

/*
 * The counter does not open: ranks differ in their policy, or the phase was
 * stopped before.  Nobody has drawn or will; all cancel what they hold.
 */
static void set_void(struct eki_counter *counter)
{
    if (eki_table_is_void(counter))
        return;
    counter->tell = 1;
    counter->tell_at = 0;
    eki_set_stop(counter->protocol.engine);
    /* relaxed: see eki_table_is_void(). */
    atomic_store_explicit(&counter->is_void, true, memory_order_relaxed);
}

/* Rank 0: number the seeds once all ranks are known, and start the counter. */
static void open_counter(struct eki_counter *counter)
{
    struct eki_engine *engine = counter->protocol.engine;
    if (eki_table_is_ready(counter))
        return;
    if (eki_is_stopped(engine)) {
        set_void(counter);
        return;
    }
    if (counter->known < engine->topology->size - 1 ||
        !eki_node_all_left(engine))
        return;
    eki_numbers_assign(counter);
    /* relaxed: ordered by the release that makes the table ready. */
    atomic_store_explicit(&engine->node->draw, 0, memory_order_relaxed);
    set_ready(counter);
}

/* Rank 0: what a rank holds. */
static void note_seeds(struct eki_counter *counter, int rank,
                       const struct eki_seeds *seeds)
{
    int size = counter->protocol.engine->topology->size;
    for (int class = 0; class < counter->classes; class ++)
        counter->table[class * size + rank] = seeds[class];
}

void eki_table_enter(struct eki_counter *counter, const struct eki_phase *phase)
{
    const struct eki_topology *topology = counter->protocol.engine->topology;
    eki_numbers_gather(counter, phase);
    for (int e = 0; e <= eki_numbers_entries(counter); e++)
        counter->table[e].function = EKI_SEEDS_UNKNOWN;
    if (topology->rank == 0)
        note_seeds(counter, 0, counter->own);
    counter->seeds_sent = false;
    counter->known = counter->tell_at = 0;
    counter->tell = 1;
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&counter->is_ready, false, memory_order_relaxed);
    if (topology->size == 1)
        open_counter(counter);
}

/* Rank 0: the table to all other ranks, as far as there are buffers. */
static void tell_table(struct eki_counter *counter)
{
    struct eki_engine *engine = counter->protocol.engine;
    int size = engine->topology->size;
    int entries =
        eki_table_is_void(counter) ? 0 : eki_numbers_entries(counter) + 1;
    if (size == 1 || (entries != 0 && !eki_table_is_ready(counter)))
        return;
    int most = (int)(eki_exchange_room(&engine->exchange) /
                     (int64_t)sizeof *counter->table);
    while (counter->tell < size) {
        int left = entries - counter->tell_at;
        int count = left < most ? left : most;
        struct eki_note note = {EKI_KIND_TABLE, counter->tell, -1, -1,
                                counter->tell_at};
        if (!eki_exchange_send(&engine->exchange, &note,
                               counter->table + counter->tell_at, count,
                               sizeof *counter->table))
            return;
        counter->tell_at += count;
        if (counter->tell_at == entries) {
            counter->tell_at = 0;
            counter->tell++;
        }
    }
}

static void tell_seeds(struct eki_counter *counter)
{
    struct eki_engine *engine = counter->protocol.engine;
    static const struct eki_note note = {EKI_KIND_SEEDS, 0, -1, -1, 0};
    if (!counter->seeds_sent)
        counter->seeds_sent =
            eki_exchange_send(&engine->exchange, &note, counter->own,
                              counter->classes, sizeof *counter->own);
}

void eki_table_step(struct eki_counter *counter)
{
    if (!counter->is_used) {
        if (eki_table_is_void(counter))
            tell_table(counter);
    } else if (counter->protocol.engine->topology->rank == 0) {
        open_counter(counter);
        tell_table(counter);
    } else {
        tell_seeds(counter);
    }
}

/* Whether all numbers that others want are here: some may have heard the whole
 * table before this rank. */
static bool are_held(const struct eki_counter *counter)
{
    const struct eki_wish *wishes = counter->wishes.items;
    for (int64_t i = 0; i < counter->wishes.count; i++) {
        if (wishes[i].number >= 0 &&
            !eki_numbers_are_held(counter, wishes[i].number))
            return false;
    }
    return true;
}

/* What is told of a run of COUNT seeds, or of seeds that are none. */
static bool fits_run(const struct eki_decode *decode,
                     const struct eki_seeds *seeds, int64_t count)
{
    const struct eki_engine *engine = decode->engine;
    int64_t numbers = (int64_t)EKI_NUMBERS;
    return eki_fits(decode, "function", seeds->function, -1,
                    engine->function_count - 1) &&
           (seeds->function < 0 ||
            (eki_fits(decode, "first index", seeds->index, 0,
                      INT64_MAX - count) &&
             eki_fits(decode, "number of the first index",
                      (int64_t)seeds->number, 0, numbers - 1)));
}

/* On rank 0, which has not heard of the seeds of this rank yet. */
static bool seeds_fit(const struct eki_counter *counter,
                      const struct eki_message *message)
{
    struct eki_engine *engine = counter->protocol.engine;
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(engine, head);
    struct eki_seeds seeds;
    if (!eki_fits_one(&decode, "rank", engine->topology->rank, 0) ||
        !eki_fits(&decode, "source", head->source, 1,
                  engine->topology->size - 1) ||
        !eki_fits(&decode, "classes", head->count, 1, EKI_SEED_CLASSES) ||
        !eki_fits_body(&decode, head, head->count, sizeof seeds) ||
        (counter->is_used &&
         !eki_fits_one(&decode, "what was told before",
                       counter->table[head->source].function,
                       EKI_SEEDS_UNKNOWN)))
        return false;
    for (int class = 0; class < (int)head->count; class ++) {
        memcpy(&seeds, message->body + (size_t) class * sizeof seeds,
               sizeof seeds);
        if (!eki_fits(&decode, "seeds", seeds.first, 0,
                      INT64_MAX / EKI_SEED_CLASSES / engine->topology->size) ||
            (head->signature == engine->signature &&
             !fits_run(&decode, &seeds, seeds.first)))
            return false;
    }
    return true;
}

static enum eki_taken take_seeds(struct eki_counter *counter,
                                 const struct eki_message *message)
{
    if (!seeds_fit(counter, message))
        return EKI_REFUSED;
    /* Also where ranks differ in whether their seeds are ordered. */
    if (!counter->is_used || message->head.count != counter->classes) {
        set_void(counter);
        return EKI_TAKEN;
    }
    struct eki_seeds seeds[EKI_SEED_CLASSES];
    memcpy(seeds, message->body, (size_t)message->head.bytes);
    note_seeds(counter, message->head.source, seeds);
    counter->known++;
    return EKI_TAKEN;
}

/* A piece of the table, from rank 0, which tells every entry once. */
static bool table_fits(const struct eki_counter *counter,
                       const struct eki_message *message)
{
    struct eki_engine *engine = counter->protocol.engine;
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(engine, head);
    int entries =
        (counter->is_used ? eki_numbers_entries(counter)
                          : EKI_SEED_CLASSES * engine->topology->size) +
        1;
    if (!eki_fits_one(&decode, "source", head->source, 0) ||
        !eki_fits(&decode, "rank", engine->topology->rank, 1,
                  engine->topology->size - 1) ||
        !eki_fits(&decode, "first", head->first, 0, entries) ||
        !eki_fits(&decode, "count", head->count, 0, entries - head->first) ||
        !eki_fits_body(&decode, head, head->count, sizeof *counter->table))
        return false;
    if (!counter->is_used)
        return true;
    if (head->count == 0)
        return eki_fits_one(&decode, "entries before it", counter->known, 0);
    for (int64_t i = 0; i < head->count; i++) {
        if (!eki_fits_one(&decode, "what was told before",
                          counter->table[head->first + i].function,
                          EKI_SEEDS_UNKNOWN))
            return false;
    }
    return eki_fits_one(&decode, "seeds told", counter->seeds_sent, true);
}

/* Whether the table that rank 0 told, all of it, can be: numbers follow each
 * other, and those of this rank are as many as its seeds. */
static bool is_table_sound(const struct eki_counter *counter,
                           const struct eki_decode *decode)
{
    const struct eki_topology *topology = decode->engine->topology;
    const struct eki_seeds *table = counter->table;
    if (!eki_fits_one(decode, "first number", table[0].first, 0))
        return false;
    for (int e = 0; e < eki_numbers_entries(counter); e++) {
        int64_t next = table[e + 1].first;
        if (!eki_fits(decode, "next number", next, table[e].first, INT64_MAX) ||
            !fits_run(decode, &table[e], next - table[e].first) ||
            (eki_numbers_rank(counter, e) == topology->rank &&
             !eki_fits_one(decode, "seeds of this rank", next - table[e].first,
                           counter->own[e / topology->size].first)))
            return false;
    }
    return true;
}

static enum eki_taken take_table(struct eki_counter *counter,
                                 const struct eki_message *message)
{
    struct eki_engine *engine = counter->protocol.engine;
    struct eki_decode decode = eki_decode_of(engine, &message->head);
    int64_t first = message->head.first, count = message->head.count;
    int entries = eki_numbers_entries(counter) + 1;
    if (!table_fits(counter, message))
        return EKI_REFUSED;
    /* Told to all; who has another policy needs no table. */
    if (!counter->is_used)
        return EKI_TAKEN;
    if (count == 0) {
        set_void(counter);
        return EKI_TAKEN;
    }
    memcpy(counter->table + first, message->body, (size_t)message->head.bytes);
    counter->known += (int)count;
    if (counter->known < entries)
        return EKI_TAKEN;
    if (!is_table_sound(counter, &decode) ||
        !eki_fits_one(&decode, "held numbers", are_held(counter), true))
        return EKI_REFUSED;
    set_ready(counter);
    return EKI_TAKEN;
}

enum eki_taken eki_table_take(struct eki_counter *counter,
                              const struct eki_message *message)
{
    return message->head.kind == EKI_KIND_SEEDS ? take_seeds(counter, message)
                                                : take_table(counter, message);
}
