/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoders of what the engine itself takes: tasks, and the end. */
#include "engine/decode.h"

#include <inttypes.h>

EKI_COLD bool eki_refuse_field(const struct eki_decode *decode,
                               const char *field, int64_t value, int64_t least,
                               int64_t most)
{
    eki_engine_refuse(decode->engine,
                      "rank %d refuses a message of rank %d: %s: %s is %" PRId64
                      "; allowed: %" PRId64 " ... %" PRId64,
                      decode->engine->topology->rank, decode->source,
                      decode->kind, field, value, least, most);
    return false;
}

/* The largest end of a range that begins at FIRST. */
static int64_t last_of(int64_t first)
{
    const int64_t most = (int64_t)EKI_NUMBERS;
    return first < INT64_MAX - most ? first + most : INT64_MAX;
}

static bool fits_range(const struct eki_decode *decode,
                       const struct eki_slot *slot)
{
    struct eki_range range;
    memcpy(&range, slot->payload, sizeof range);
    return eki_fits_one(decode, "bytes of a range", slot->bytes,
                        sizeof range) &&
           eki_fits_one(decode, "bin of a range", slot->bin, EKI_BIN_RANGE) &&
           eki_fits(decode, "first index", range.first, 0, INT64_MAX - 1) &&
           eki_fits(decode, "last index", range.last, range.first + 1,
                    last_of(range.first));
}

bool eki_fits_slot(const struct eki_decode *decode, const struct eki_slot *slot,
                   int functions)
{
    const struct eki_engine *engine = decode->engine;
    return eki_fits(decode, "function", slot->function, 0, functions - 1) &&
           eki_fits(decode, "bytes of a task", slot->bytes, 0,
                    (int64_t)engine->slot_bytes - EKI_SLOT_HEADER -
                        (engine->setup.has_homes ? EKI_SLOT_HOME_BYTES : 0)) &&
           eki_fits(decode, "flags of a task", slot->flags, 0,
                    (engine->setup.has_homes ? 2 * EKI_SLOT_ADOPTED
                                             : EKI_SLOT_ADOPTED) -
                        1) &&
           (!(slot->flags & EKI_SLOT_ADOPTED) ||
            eki_fits(decode, "adopter of a task",
                     eki_slot_adopter(slot, engine->slot_bytes), 0,
                     engine->topology->size - 1)) &&
           eki_fits(decode, "home of a task", eki_id_home(slot->id), 0,
                    engine->topology->workers - 1) &&
           (slot->flags & EKI_SLOT_RANGE
                ? fits_range(decode, slot)
                : eki_fits(decode, "bin of a task", slot->bin, 0,
                           EKI_BIN_COUNT - 1));
}

/* Tasks, such as this collection has; MOST of them (0: any number). */
static bool fits_slots(const struct eki_decode *decode,
                       const struct eki_message *message, int64_t most)
{
    struct eki_engine *engine = decode->engine;
    const struct eki_head *head = &message->head;
    /* Where ranks differ nothing of it will run. */
    int functions = head->signature == engine->signature
                        ? engine->function_count
                        : UINT16_MAX + 1;
    if (!eki_fits(decode, "count", head->count, 1,
                  most ? most : eki_message_slots(engine)) ||
        !eki_fits_body(decode, head, head->count, engine->slot_bytes))
        return false;
    for (int64_t i = 0; i < head->count; i++) {
        const struct eki_slot *slot =
            (const struct eki_slot *)(message->body +
                                      i * (int64_t)engine->slot_bytes);
        if (!eki_fits_slot(decode, slot, functions))
            return false;
        engine->has_strange |= slot->function >= engine->function_count;
    }
    return true;
}

static EKI_APART bool fits_row(struct eki_engine *engine,
                               const struct eki_verb *verb,
                               const struct eki_message *message)
{
    const struct eki_head *head = &message->head;
    const struct eki_decode decode = {engine, verb->name, head->source};
    int rank =
        verb->party == EKI_PARTY_SENDER ? head->source : engine->topology->rank;
    if (verb->party != EKI_PARTY_ANY &&
        !eki_fits_worker(&decode, head->worker, rank))
        return false;
    switch (verb->body) {
    case EKI_BODY_ANY:
        return true;
    case EKI_BODY_NONE:
        return eki_fits_body(&decode, head, 0, 0);
    case EKI_BODY_ITEM:
        return eki_fits_body(&decode, head, 1, verb->item_bytes) &&
               (!verb->shape ||
                eki_fits_shape(&decode, verb->shape, message->body, NULL));
    default:
        return fits_slots(&decode, message, verb->slots_most);
    }
}

bool eki_fits_verb(struct eki_engine *engine, const struct eki_verb *verb,
                   const struct eki_message *message)
{
    const struct eki_head *head = &message->head;
    const struct eki_topology *topology = engine->topology;
    const int *first =
        &topology
             ->first_worker[verb->party == EKI_PARTY_SENDER ? head->source
                                                            : topology->rank];
    /* Most messages are a request, or the word that there is nothing. */
    bool is_empty = verb->body == EKI_BODY_NONE && !(head->count | head->bytes);
    if (is_empty && head->worker >= first[0] && head->worker < first[1])
        return true;
    return fits_row(engine, verb, message);
}

/* An error that another rank tells of; its text ends. */
static bool fits_error(const struct eki_decode *decode,
                       const struct eki_error *error)
{
    const void *end = memchr(error->text, '\0', sizeof error->text);
    return eki_fits(decode, "status", error->status, EK_ERR_FILE, EK_OK) &&
           eki_fits(decode, "worker", error->worker, -1,
                    decode->engine->topology->workers - 1) &&
           eki_fits(decode, "function", error->function, -1, UINT16_MAX) &&
           eki_fits(decode, "index", error->index, -1, INT64_MAX) &&
           eki_fits_one(decode, "end of the text", end != NULL, true);
}

static bool fits_load(const struct eki_decode *decode,
                      const struct eki_load *load)
{
    return eki_fits(decode, "work", (int64_t)load->work_ns, 0, INT64_MAX) &&
           eki_fits(decode, "work of a worker", (int64_t)load->most_ns, 0,
                    (int64_t)load->work_ns) &&
           eki_fits(decode, "longest task", (int64_t)load->task_ns, 0,
                    (int64_t)load->most_ns);
}

/* From the server that speaks for a neighbor in the tree, to the one that
 * speaks for this node. */
static bool fits_neighbor(const struct eki_decode *decode,
                          const struct eki_head *head, bool is_child,
                          bool is_parent)
{
    const struct eki_topology *topology = decode->engine->topology;
    const struct eki_waves *waves = &decode->engine->waves;
    int node = topology->node_of_rank[head->source];
    bool is_near = is_parent && node == waves->parent;
    for (int i = 0; is_child && i < waves->children; i++)
        is_near |= node == waves->child[i];
    return eki_fits_one(decode, "node", head->detail, node) &&
           eki_fits_one(decode, "speaker of its node", head->source,
                        topology->lowest_rank[node]) &&
           eki_fits_one(decode, "speaker of this node",
                        topology->lowest_rank[topology->node],
                        topology->rank) &&
           eki_fits_one(decode, "neighbor", is_near, true);
}

static bool vote_fits(const struct eki_decode *decode,
                      const struct eki_message *message)
{
    const struct eki_waves *waves = &decode->engine->waves;
    const struct eki_head *head = &message->head;
    struct eki_vote vote;
    if (!fits_neighbor(decode, head, true, false))
        return false;
    /* A child that has the verdict may vote before the other has it. */
    int64_t wave = (int64_t)waves->wave + (waves->verdict_next >= 0);
    int at = waves->child[0] == head->detail ? 0 : 1;
    memcpy(&vote, message->body, sizeof vote);
    return eki_fits_one(decode, "wave", head->first, wave) &&
           eki_fits_one(decode, "votes before it", waves->has_vote[at], 0) &&
           eki_fits(decode, "stillness", vote.is_still, 0, 1) &&
           eki_fits(decode, "doubts", vote.doubts, 0, EKI_DOUBTS) &&
           fits_load(decode, &vote.load) && fits_error(decode, &vote.error);
}

static bool verdict_fits(const struct eki_decode *decode,
                         const struct eki_message *message)
{
    const struct eki_waves *waves = &decode->engine->waves;
    const struct eki_head *head = &message->head;
    struct eki_verdict verdict;
    if (!fits_neighbor(decode, head, false, true))
        return false;
    memcpy(&verdict, message->body, sizeof verdict);
    return eki_fits_one(decode, "wave", head->first, (int64_t)waves->wave) &&
           eki_fits_one(decode, "votes before it", waves->voted, true) &&
           eki_fits(decode, "verdicts before it", waves->verdict_next, -1,
                    -1) &&
           eki_fits(decode, "verdict", verdict.wave, EKI_WAVE_AGAIN,
                    EKI_WAVE_DONE) &&
           fits_load(decode, &verdict.load) &&
           fits_error(decode, &verdict.error);
}

static bool headway_fits(const struct eki_decode *decode,
                         const struct eki_message *message)
{
    const struct eki_topology *topology = decode->engine->topology;
    struct eki_headway headway;
    memcpy(&headway, message->body, sizeof headway);
    return fits_neighbor(decode, &message->head, true, false) &&
           eki_fits(decode, "workers", headway.workers, 0, topology->workers) &&
           eki_fits(decode, "idle workers", headway.idle, 0, headway.workers) &&
           eki_fits(decode, "slowest rank", headway.slowest, -1,
                    topology->size - 1);
}

bool eki_wave_fits(struct eki_engine *engine, const struct eki_message *message)
{
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(engine, head);
    switch (head->kind) {
    case EKI_KIND_VOTE:
        return vote_fits(&decode, message);
    case EKI_KIND_WAVE:
        return verdict_fits(&decode, message);
    case EKI_KIND_HEADWAY:
        return headway_fits(&decode, message);
    case EKI_KIND_HERE:
        return fits_neighbor(&decode, head, true, true) &&
               eki_fits(&decode, "votes", head->count, 0, 1) &&
               eki_fits_one(&decode, "bytes", head->bytes, 0);
    default:
        return fits_neighbor(&decode, head, true, true);
    }
}

bool eki_break_fits(struct eki_engine *engine,
                    const struct eki_message *message)
{
    struct eki_decode decode = eki_decode_of(engine, &message->head);
    struct eki_error error;
    memcpy(&error, message->body, sizeof error);
    return fits_neighbor(&decode, &message->head, true, true) &&
           eki_fits(&decode, "first", message->head.first, 0, 1) &&
           fits_error(&decode, &error) &&
           eki_fits_one(&decode, "status", error.status, EK_ERR_MPI);
}
