/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a test breaks, once, to see that it is found: engine and network are
 * meddled with behind the back of whoever checks.
 */
#include "explore.h"

#include "data/internal.h"
#include "tiles/internal.h"
#include <stdlib.h>
#include <string.h>

/* Whether this is an event of a worker between two tasks of an iteration. */
static bool is_between(const struct explore *explore)
{
    return explore->worker && explore->worker->state == EKI_SIM_STEPS &&
           explore->rank->engine->is_open && !explore->worker->never &&
           !explore_draws(explore->rank->engine);
}

/* A slot on its stack, which it will run; NULL: there is none. */
static struct eki_slot *waiting_slot(const struct explore *explore)
{
    const struct eki_local *local;
    if (!is_between(explore))
        return NULL;
    local = &explore->worker->worker->local;
    if (local->stack_top == local->stack_bottom)
        return NULL;
    struct eki_slot *slot =
        (struct eki_slot *)(local->stack_top - local->slot_bytes);
    return slot->flags & EKI_SLOT_RANGE ? NULL : slot;
}

static bool push_copy(struct explore *explore, const struct eki_slot *slot)
{
    struct eki_local *local = &explore->worker->worker->local;
    unsigned char copy[EKI_SLOT_HEADER + EXPLORE_PAYLOAD];
    memcpy(copy, slot, local->slot_bytes);
    memcpy(eki_local_push(local), copy, local->slot_bytes);
    return true;
}

static bool double_task(struct explore *explore)
{
    const struct eki_slot *slot = waiting_slot(explore);
    return slot && push_copy(explore, slot);
}

static bool lose_task(struct explore *explore)
{
    if (!waiting_slot(explore))
        return false;
    explore->worker->worker->local.stack_top -=
        explore->worker->worker->local.slot_bytes;
    return true;
}

static bool lose_message(struct explore *explore)
{
    for (int r = 0; r < explore->scenario->ranks; r++) {
        struct eki_sim_port *port = &explore->sim->ports[r];
        struct eki_sim_letter *lost = port->last;
        if (!lost || lost->message.head.kind != EKI_KIND_TASKS)
            continue;
        port->last = lost->before;
        *(port->last ? &port->last->next : &port->first) = NULL;
        free(lost);
        return true;
    }
    return false;
}

static bool invent_task(struct explore *explore)
{
    int64_t key = INT64_C(1) << 40;
    struct eki_slot *slot = waiting_slot(explore);
    if (slot)
        memcpy(slot->payload, &key, sizeof key);
    return slot != NULL;
}

static bool revive_task(struct explore *explore)
{
    struct eki_slot *slot = waiting_slot(explore);
    for (int64_t key = 0; slot && key < explore->ledger.count; key++) {
        if (explore->ledger.tasks[key].state != TASK_GONE)
            continue;
        push_copy(explore, slot);
        memcpy(waiting_slot(explore)->payload, &key, sizeof key);
        return true;
    }
    return false;
}

static bool spoil_payload(struct explore *explore)
{
    struct eki_slot *slot = waiting_slot(explore);
    if (!slot || slot->bytes <= sizeof(int64_t))
        return false;
    slot->payload[slot->bytes - 1] ^= 1;
    return true;
}

static bool change_id(struct explore *explore)
{
    struct eki_slot *slot = waiting_slot(explore);
    if (slot)
        slot->id ^= 1;
    return slot != NULL;
}

static bool change_running(struct explore *explore)
{
    const struct eki_sim_worker *worker = explore->worker;
    if (!worker || worker->state != EKI_SIM_RUNS || worker->is_index)
        return false;
    eki_worker_current(worker->worker)->payload[0] ^= 1;
    return true;
}

/* Of the indices that are left of a piece. */
static bool change_index_id(struct explore *explore)
{
    const struct eki_sim_worker *worker = explore->worker;
    if (!worker || worker->state != EKI_SIM_RUNS || !worker->is_index ||
        worker->worker->piece.index == worker->worker->piece.last)
        return false;
    worker->worker->piece.id++;
    return true;
}

static bool stop_alone(struct explore *explore)
{
    if (!waiting_slot(explore) ||
        explore_tally(explore, explore->rank)->may_cancel)
        return false;
    eki_engine_stop(explore->rank->engine);
    return true;
}

/* A worker runs tasks as if they were of its phase: there is nobody else on
 * its rank who would see the other signature before. */
static bool change_signature(struct explore *explore)
{
    if (!waiting_slot(explore) || explore->rank->topology.workers_here != 1)
        return false;
    explore->rank->engine->signature++;
    return true;
}

static bool is_process_of_nodes(const struct explore *explore)
{
    const struct eki_engine *engine = explore->rank->engine;
    return engine->is_open && !engine->alone &&
           engine->kind == EKI_PHASE_PROCESS;
}

static bool announce(struct explore *explore, uint64_t phase)
{
    /* relaxed: there is one thread. */
    atomic_store_explicit(&explore->rank->engine->node->announced, phase,
                          memory_order_relaxed);
    return true;
}

static bool announce_early(struct explore *explore)
{
    const struct tally *tally = explore_tally(explore, explore->rank);
    return is_process_of_nodes(explore) &&
           tally->entered == explore->scenario->ranks &&
           tally->pending > tally->cancelled &&
           announce(explore, explore->rank->engine->phase);
}

static bool announce_before_entry(struct explore *explore)
{
    return is_process_of_nodes(explore) &&
           explore_tally(explore, explore->rank)->entered <
               explore->scenario->ranks &&
           announce(explore, explore->rank->engine->phase);
}

static bool announce_next(struct explore *explore)
{
    return is_process_of_nodes(explore) &&
           announce(explore, explore->rank->engine->phase + 1);
}

static bool end_early(struct explore *explore)
{
    const struct tally *tally = explore_tally(explore, explore->rank);
    if (!explore->worker || explore->worker->state != EKI_SIM_WAITS ||
        tally->pending == tally->cancelled)
        return false;
    explore->worker->worker->done = explore->rank->engine->phase;
    return true;
}

static bool hear_twice(struct explore *explore)
{
    struct eki_sim_worker *worker = explore->worker;
    if (!worker || worker->state != EKI_SIM_DONE ||
        explore->rank->state != EKI_SIM_RUNS)
        return false;
    worker->state = EKI_SIM_STEPS;
    eki_heap_set(&explore->sim->heap, worker->actor, explore->sim->now + 1);
    return true;
}

/* The last worker of a rank is taken for one that has heard of the end. */
static bool hear_never(struct explore *explore)
{
    struct eki_sim_worker *worker = explore->worker;
    struct eki_sim_rank *rank = explore->rank;
    if (!worker || worker->state != EKI_SIM_WAITS ||
        !rank->engine->waves.forwarded ||
        rank->done != rank->topology.workers_here - 1)
        return false;
    worker->state = EKI_SIM_DONE;
    eki_heap_remove(&explore->sim->heap, worker->actor);
    eki_sim_worker_ended(explore->sim, rank);
    return true;
}

static bool tell_twice(struct explore *explore)
{
    struct eki_waves *waves = &explore->rank->engine->waves;
    if (!is_process_of_nodes(explore) || !waves->forwarded ||
        waves->children == 0)
        return false;
    waves->forwarded = false;
    waves->verdict_next = 0;
    return true;
}

static bool change_error(struct explore *explore)
{
    struct eki_engine *engine = explore->rank->engine;
    if (!is_process_of_nodes(explore) || !engine->waves.forwarded)
        return false;
    engine->node->announced_error.worker++;
    return true;
}

/* Nothing is left to run, and nobody has failed. */
static bool fail_alone(struct explore *explore)
{
    const struct tally *tally = explore_tally(explore, explore->rank);
    if (!is_process_of_nodes(explore) || tally->may_cancel ||
        explore->rank->state != EKI_SIM_RUNS || tally->pending != 0 ||
        tally->entered < explore->scenario->ranks)
        return false;
    eki_engine_fail(explore->rank->engine, EK_ERR_STATE, "for nothing");
    return true;
}

static bool forget_actor(struct explore *explore)
{
    if (!explore->worker || explore->worker->state != EKI_SIM_WAITS)
        return false;
    eki_heap_remove(&explore->sim->heap, explore->worker->actor);
    return true;
}

static bool forget_all(struct explore *explore)
{
    int32_t actors =
        explore->sim->topology->workers + explore->sim->setup.ranks;
    for (int32_t actor = 0; actor < actors; actor++)
        eki_heap_remove(&explore->sim->heap, actor);
    return true;
}

static bool execute_more(struct explore *explore)
{
    if (explore->sim->over != explore->sim->setup.ranks)
        return false;
    explore->rank->workers[0].worker->executed++;
    return true;
}

static bool keep_message(struct explore *explore)
{
    if (explore->sim->over != explore->sim->setup.ranks)
        return false;
    explore->sim->ports[0].polled = calloc(1, sizeof(struct eki_sim_letter));
    return true;
}

static bool leave_message(struct explore *explore)
{
    if (explore->sim->over != explore->sim->setup.ranks)
        return false;
    for (int r = 0; r < explore->scenario->ranks; r++) {
        const struct eki_sim_port *port = &explore->sim->ports[r];
        if (!port->first)
            continue;
        port->first->message.head.kind = EKI_KIND_TASKS;
        return true;
    }
    return false;
}

/* The rank is about to leave an iteration on its only node. */
static bool is_leaving(const struct explore *explore)
{
    return explore->rank->engine->alone &&
           explore->rank->state == EKI_SIM_SERVES;
}

static bool change_sums(struct explore *explore)
{
    if (!is_leaving(explore))
        return false;
    _Atomic uint64_t *created =
        &explore->rank->workers[0].worker->words->created;
    /* relaxed, both: there is one thread. */
    if (atomic_load_explicit(created, memory_order_relaxed) == 0)
        return false;
    atomic_fetch_sub_explicit(created, 1, memory_order_relaxed);
    return true;
}

static bool leave_with_task(struct explore *explore)
{
    if (!is_leaving(explore))
        return false;
    struct eki_local *local = &explore->rank->workers[0].worker->local;
    memset(eki_local_push(local), 0, local->slot_bytes);
    return true;
}

static bool answer_unasked(struct explore *explore)
{
    if (!explore->worker || explore->worker->state != EKI_SIM_WAITS)
        return false;
    struct eki_asker *asker = explore_asker(explore->worker->worker);
    if (!asker)
        return false;
    /* relaxed: there is one thread. */
    atomic_fetch_add_explicit(&asker->answers[0], asker->asked + 1,
                              memory_order_relaxed);
    return true;
}

/* The requests of a rank in an iteration over several nodes; NULL: it is
 * another event. */
static struct eki_requests *requests_of(const struct explore *explore)
{
    return is_process_of_nodes(explore)
               ? (struct eki_requests *)eki_engine_protocol(
                     explore->rank->engine, &eki_requests_ops)
               : NULL;
}

/* What the server goes by is lost: nobody fetches the ask. */
static bool forget_ask(struct explore *explore)
{
    struct eki_requests *requests = requests_of(explore);
    /* relaxed, both: there is one thread. */
    if (!requests ||
        atomic_load_explicit(&requests->asks, memory_order_relaxed) == 0)
        return false;
    atomic_fetch_sub_explicit(&requests->asks, 1, memory_order_relaxed);
    return true;
}

static bool forget_steal(struct explore *explore)
{
    struct eki_one_sided *side = eki_one_sided_of(explore->rank->engine);
    if (!side || side->under_way == 0)
        return false;
    side->under_way--;
    return true;
}

static bool drop_request(struct explore *explore)
{
    struct eki_requests *requests = requests_of(explore);
    if (!requests || requests->waiting.count == 0)
        return false;
    requests->waiting.count--;
    return true;
}

static bool double_request(struct explore *explore)
{
    struct eki_requests *requests = requests_of(explore);
    if (!requests || requests->waiting.count == 0)
        return false;
    const struct eki_request *waiting = requests->waiting.items;
    struct eki_request last = waiting[requests->waiting.count - 1];
    return eki_queue_add(&requests->waiting, &last);
}

static bool finish_more(struct explore *explore)
{
    if (!explore->worker)
        return false;
    /* relaxed: there is one thread. */
    atomic_fetch_add_explicit(&explore->worker->worker->words->deque.done[0],
                              1000, memory_order_relaxed);
    return true;
}

static bool finish_less(struct explore *explore)
{
    if (!explore->worker || explore->scenario->deque != EKI_DEQUE_ATOMIC)
        return false;
    /* relaxed, both: there is one thread. */
    _Atomic uint64_t *done = &explore->worker->worker->words->deque.done[0];
    if (atomic_load_explicit(done, memory_order_relaxed) == 0)
        return false;
    atomic_fetch_sub_explicit(done, 1, memory_order_relaxed);
    return true;
}

static bool publish_more(struct explore *explore)
{
    if (!explore->worker)
        return false;
    explore->worker->worker->local.published_stack += 1000;
    return true;
}

static bool move_elsewhere(const struct eki_message *message)
{
    if (message->head.kind != EKI_KIND_MOVE)
        return false;
    ((struct eki_message *)message)->head.worker++;
    return true;
}

static bool change_piece(const struct eki_message *message)
{
    if (message->head.kind != EKI_KIND_PIECE)
        return false;
    const double *value =
        (const double *)(message->body + sizeof(struct eki_tile_words));
    *(double *)value += 1000;
    return true;
}

/* What the worker of this event has under way; NULL: nothing. */
static struct eki_tiler *busy_tiler(const struct explore *explore)
{
    if (explore->scenario->tiling.stores == 0 || !explore->worker)
        return NULL;
    struct eki_tiles *tiles = eki_tiles_of(explore->rank->engine);
    struct eki_tiler *tiler = &tiles->tilers[explore->worker->worker->here];
    return tiler->open > 0 ? tiler : NULL;
}

static bool forget_transfer(struct explore *explore)
{
    struct eki_tiler *tiler = busy_tiler(explore);
    if (tiler)
        tiler->open--;
    return tiler != NULL;
}

static bool forget_wants(struct explore *explore)
{
    if (!busy_tiler(explore))
        return false;
    eki_tiles_of(explore->rank->engine)->tickets.wants++;
    return true;
}

static bool change_op(struct explore *explore, bool is_answer)
{
    struct eki_tiler *tiler = busy_tiler(explore);
    for (int i = 0; tiler && i < EKI_TRANSFERS_MOST; i++) {
        struct eki_tile_op *op = &tiler->ops[i];
        if (op->state != EKI_OP_OPEN)
            continue;
        if (is_answer)
            op->answered = op->pieces + 1;
        else
            op->sent = op->call.length + 1;
        return true;
    }
    return false;
}

static bool answer_more(struct explore *explore)
{
    return change_op(explore, true);
}

static bool send_more(struct explore *explore)
{
    return change_op(explore, false);
}

static bool ask_again(struct explore *explore)
{
    struct eki_tiler *tiler = busy_tiler(explore);
    for (int i = 0; tiler && i < EKI_TRANSFERS_MOST; i++) {
        if (tiler->ops[i].state != EKI_OP_FREE)
            continue;
        eki_tiles_of(explore->rank->engine)
            ->tickets.desks[explore->worker->worker->here]
            .asked |= UINT64_C(1) << i;
        return true;
    }
    return false;
}

/* A cache with something in it; NULL: there is none. */
static struct eki_cache *full_cache(const struct explore *explore)
{
    if (explore->scenario->tiling.stores == 0 || !explore->worker)
        return NULL;
    const struct eki_tiler *tiler =
        &eki_tiles_of(explore->rank->engine)
             ->tilers[explore->worker->worker->here];
    for (int i = 0; i < tiler->cache_room; i++)
        if (tiler->caches[i] && tiler->caches[i]->count > 0)
            return tiler->caches[i];
    return NULL;
}

static bool miscount_cache(struct explore *explore)
{
    struct eki_cache *cache = full_cache(explore);
    if (cache)
        cache->bytes -= 8;
    return cache != NULL;
}

static bool reorder_cache(struct explore *explore)
{
    struct eki_cache *cache = full_cache(explore);
    if (!cache || cache->count < 2)
        return false;
    cache->newest->older = NULL;
    return true;
}

static bool change_value(struct explore *explore)
{
    const struct explore_store *store = &explore->stores[0];
    if (explore->scenario->tiling.stores == 0 || !store->store ||
        !is_between(explore))
        return false;
    explore_tile_values(store, 0)[0] += 1000;
    return true;
}

/* The last seed of the rank's first worker; NULL: it has none. */
static struct eki_slot *last_seed(const struct eki_sim_rank *rank)
{
    const struct eki_local *local = &rank->workers[0].worker->local;
    return local->seed_end == local->seed_base
               ? NULL
               : (struct eki_slot *)(local->seed_end - local->slot_bytes);
}

static bool lose_seed(struct explore *explore, struct eki_sim_rank *rank)
{
    struct eki_local *local = &rank->workers[0].worker->local;
    (void)explore;
    if (!last_seed(rank))
        return false;
    local->seed_end -= local->slot_bytes;
    local->seed_top = local->seed_end;
    return true;
}

static bool double_seed(struct explore *explore, struct eki_sim_rank *rank)
{
    struct eki_local *local = &rank->workers[0].worker->local;
    unsigned char copy[EKI_SLOT_HEADER + EXPLORE_PAYLOAD];
    (void)explore;
    if (!last_seed(rank))
        return false;
    memcpy(copy, last_seed(rank), local->slot_bytes);
    memcpy(eki_local_add_seed(local), copy, local->slot_bytes);
    return true;
}

static bool double_seed_late(struct explore *explore)
{
    struct eki_sim_rank *rank = explore->rank;
    return rank->state == EKI_SIM_SERIAL && rank->iteration > 0 &&
           double_seed(explore, rank);
}

static bool hide_seeds(struct explore *explore, struct eki_sim_rank *rank)
{
    struct eki_local *local = &rank->workers[0].worker->local;
    (void)explore;
    if (!last_seed(rank))
        return false;
    local->seed_top = local->seed_base;
    return true;
}

static bool change_status(struct explore *explore)
{
    if (explore->rank->state != EKI_SIM_RESTORED)
        return false;
    explore->rank->status = EK_ERR_STATE;
    return true;
}

static bool flag_seed(struct explore *explore, struct eki_sim_rank *rank)
{
    (void)explore;
    if (!last_seed(rank))
        return false;
    last_seed(rank)->flags |= EKI_SLOT_SKIPPED;
    return true;
}

static bool misplace_seed(struct explore *explore, struct eki_sim_rank *rank)
{
    const struct eki_slot *seed = last_seed(rank);
    if (explore_plan(explore, rank)->plan.order != EKI_ORDER_ORIGINAL ||
        !seed || rank->topology.workers_here < 2 ||
        ledger_find(&explore->ledger, ledger_key(seed))->hinted)
        return false;
    struct eki_local *local = &rank->workers[1].worker->local;
    memcpy(eki_local_add_seed(local), seed, local->slot_bytes);
    return lose_seed(explore, rank);
}

static bool miscount_discarded(struct explore *explore,
                               struct eki_sim_rank *rank)
{
    if (explore_tally(explore, rank)->lost_count)
        return false;
    rank->discarded++;
    return true;
}

static bool change_report(struct explore *explore, struct eki_sim_rank *rank)
{
    if (!explore_plan(explore, rank)->plan.is_balanced ||
        explore->scenario->ranks == 1)
        return false;
    ((struct eki_balance_report *)eki_rebalance_report(rank->engine))->moved++;
    return true;
}

/* A word of two parities with the other's phase. */
static bool spoil_word(struct explore *explore)
{
    struct eki_engine *engine = explore->rank->engine;
    if (!engine->is_open)
        return false;
    /* relaxed: there is one thread. */
    atomic_store_explicit(&engine->node->mail[engine->phase & 1],
                          engine->phase + 1, memory_order_relaxed);
    return true;
}

/* The last byte of what a message about data brings. */
static bool change_data(const struct eki_message *message, int kind)
{
    if (message->head.kind != kind || message->head.count == 0)
        return false;
    unsigned char *last =
        (unsigned char *)message->body + message->head.bytes - 1;
    *last ^= 1;
    return true;
}

static bool change_input(const struct eki_message *message)
{
    return change_data(message, EKI_KIND_INPUT);
}

/* A piece: the first message has a slot, too. */
static bool change_result(const struct eki_message *message)
{
    return message->head.detail >= 0 && change_data(message, EKI_KIND_RESULT);
}

static bool change_adopter(struct explore *explore, struct eki_sim_rank *rank)
{
    struct eki_slot *seed = last_seed(rank);
    int ranks = explore->scenario->ranks;
    if (!seed || !(seed->flags & EKI_SLOT_ADOPTED))
        return false;
    eki_slot_adopt(seed, rank->engine->slot_bytes, (rank->number + 1) % ranks);
    return true;
}

static bool forget_result(struct explore *explore)
{
    struct eki_data *data = eki_data_of(explore->rank->engine);
    if (!data || !explore->worker ||
        !eki_tickets_are_kept(&data->tickets, explore->worker->worker->here))
        return false;
    /* relaxed: there is one thread. */
    atomic_store_explicit(
        &data->tickets.desks[explore->worker->worker->here].kept, 0,
        memory_order_relaxed);
    return true;
}

static bool hold_more(struct explore *explore)
{
    struct eki_data *data =
        eki_data_of(explore->rank->engine); /* relaxed: there is one thread. */
    if (data)
        atomic_fetch_add_explicit(&data->held, 1, memory_order_relaxed);
    return data != NULL;
}

const struct explore_break explore_breaks[] = {
    {"a task twice", double_task, NULL, false, "is in two places: stack and",
     NULL},
    {"a task runs twice", double_task, NULL, true, "starts in iteration", NULL},
    {"a task lost", lose_task, NULL, false, "is nowhere", NULL},
    {"a message lost", lose_message, NULL, false, "is nowhere", NULL},
    {"a message lost for good", lose_message, NULL, true, "nothing got on for",
     NULL},
    {"a task of nobody", invent_task, NULL, false, "which nobody added", NULL},
    {"a task that is gone", revive_task, NULL, false, "is gone, but in stack",
     NULL},
    {"a payload spoilt", spoil_payload, NULL, false, "payload is spoilt", NULL},
    {"an id changed", change_id, NULL, false, "bytes, id", NULL},
    {"a payload that changes", change_running, NULL, true, "changed as it ran",
     NULL},
    {"an index's id changed", change_index_id, NULL, true, "runs with id",
     NULL},
    {"another signature", change_signature, NULL, false, "of signature", NULL},
    {"cancelled for nothing", stop_alone, NULL, false, "without reason", NULL},
    {"announced early", announce_early, NULL, false, "tasks not executed and",
     NULL},
    {"announced before entry", announce_before_entry, NULL, false,
     "ranks had entered", NULL},
    {"announced a phase early", announce_next, NULL, false,
     "is announced after that of", NULL},
    {"ended early", end_early, NULL, false, "tasks not executed and", NULL},
    {"heard twice", hear_twice, NULL, false, "hears the end of iteration",
     NULL},
    {"heard never", hear_never, NULL, false, "has not heard", NULL},
    {"told twice", tell_twice, NULL, false, "is told the end of phase", NULL},
    {"another error", change_error, NULL, false, ", another", NULL},
    {"failed for nothing", fail_alone, NULL, false, ", expected 0", NULL},
    {"a worker forgotten", forget_actor, NULL, false, "nothing got on for",
     NULL},
    {"all forgotten", forget_all, NULL, false, "nothing more happens", NULL},
    {"a message kept", keep_message, NULL, false, "was not given back", NULL},
    {"a message left", leave_message, NULL, false, "still on their way", NULL},
    {"executed more", execute_more, NULL, false, ", executed", NULL},
    {"other sums", change_sums, NULL, false, "left without storing sums", NULL},
    {"left with a task", leave_with_task, NULL, true, "left with tasks", NULL},
    {"an answer to nobody", answer_unasked, NULL, false, "answers to", NULL},
    {"an ask forgotten", forget_ask, NULL, false, "is told of are", NULL},
    {"a steal forgotten", forget_steal, NULL, false, "steals are miscounted",
     NULL},
    {"a request dropped", drop_request, NULL, false, "are answered and", NULL},
    {"a guest forgotten", explore_forget_guest, NULL, false, "marked as asked",
     NULL},
    {"a request twice", double_request, NULL, false, "are answered and", NULL},
    {"finished more", finish_more, NULL, false, "its deque is broken", NULL},
    {"finished less", finish_less, NULL, false, "was not finished", NULL},
    {"published more", publish_more, NULL, false, "more published than", NULL},
    {"a seed lost", NULL, lose_seed, true, "is lost after iteration", NULL},
    {"a seed twice", NULL, double_seed, true, "is held after iteration", NULL},
    {"a seed twice, later", double_seed_late, NULL, true, "enters iteration",
     NULL},
    {"seeds hidden", NULL, hide_seeds, false, "is not restored", NULL},
    {"a restore that fails", change_status, NULL, false, "a restore returns",
     NULL},
    {"a flag left", NULL, flag_seed, false, "a restored slot has flags", NULL},
    {"a seed not at home", NULL, misplace_seed, false, "is at worker", NULL},
    {"discarded miscounted", NULL, miscount_discarded, false,
     "the restores say", NULL},
    {"another report", NULL, change_report, false, "tasks moved, another",
     NULL},
    {"a word of no phase", spoil_word, NULL, false, "is of no phase", NULL},
    {"a transfer forgotten", forget_transfer, NULL, false,
     "open transfers are miscounted", NULL},
    {"a want too many", forget_wants, NULL, false,
     "is asked for are miscounted", NULL},
    {"an answer too many", answer_more, NULL, false, "too many answers", NULL},
    {"a value too many", send_more, NULL, false, "of more than its tile", NULL},
    {"a transfer asked for again", ask_again, NULL, false,
     "asked for a transfer that is over", NULL},
    {"a cache miscounted", miscount_cache, NULL, false,
     "does not know what it has", NULL},
    {"a cache out of order", reorder_cache, NULL, false, "are out of order",
     NULL},
    {"a value changed", change_value, NULL, false, "after an iteration tile",
     NULL},
    {"a value that was got changed", NULL, NULL, false, "a get of tile",
     change_piece},
    {"moved elsewhere", NULL, NULL, false, "what departs", move_elsewhere},
    {NULL, NULL, NULL, false, NULL, NULL}};

const struct explore_break explore_data_breaks[] = {
    {"an input changed", NULL, NULL, false, "right up to", change_input},
    {"a result changed", NULL, NULL, false, "right up to", change_result},
    {"another adopter", NULL, change_adopter, false, "and the slot says", NULL},
    {"a result forgotten", forget_result, NULL, false,
     "of a worker are miscounted", NULL},
    {"data held by nobody", hold_more, NULL, false, "of a rank are miscounted",
     NULL},
    {NULL, NULL, NULL, false, NULL, NULL}};
