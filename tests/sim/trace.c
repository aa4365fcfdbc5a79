/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of a run: a line per event that changed something. */
#include "explore.h"

#include <stdarg.h>

static void say_time(const struct explore *explore)
{
    const struct eki_sim *sim = explore->sim;
    printf("%12llu ns  rank %d", (unsigned long long)sim->now,
           explore->rank ? explore->rank->number : -1);
}

void explore_say(struct explore *explore, const char *format, ...)
{
    va_list arguments;
    if (!explore->is_traced)
        return;
    say_time(explore);
    fputs("  ", stdout);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static const char *state_name(int state)
{
    static const char *const names[] = {
        "serial code",     "before its fault", "runs",   "steps",    "waits",
        "waits for tiles", "fetches absent",   "serves", "has left", "restored",
        "moves tasks",     "all over",         "done"};
    return names[state];
}

void explore_say_event(struct explore *explore)
{
    const struct eki_sim_worker *worker = explore->worker;
    const struct eki_sim_rank *rank = explore->rank;
    if (!worker) {
        struct explore_member *member = &explore->members[rank->number];
        if (member->said == rank->state)
            return;
        member->said = rank->state;
        explore_say(explore, "host: %s, iteration %d", state_name(rank->state),
                    rank->iteration);
        return;
    }
    const struct ek_worker *inner = worker->worker;
    /* Later looks in vain say nothing new. */
    if (worker->state == EKI_SIM_WAITS &&
        explore_actor(explore, worker)->waits > 1)
        return;
    explore_say(
        explore, "worker %d: %s, %lld tasks here, %u visible, claims from %d",
        inner->id, state_name(worker->state),
        (long long)eki_local_count(&inner->local),
        eki_deque_visible(inner->share.deque.kind, inner->engine->capacity,
                          &inner->words->deque),
        inner->search.steal_from);
}

void explore_say_message(struct explore *explore, const char *what,
                         const struct eki_message *message, int other)
{
    explore_say(
        explore, "  %s %s rank %d: phase %llu, worker %d, count %lld",
        eki_engine_verb(explore->sim->ranks[0].engine, message->head.kind)
            ->name,
        what, other, (unsigned long long)message->head.phase,
        message->head.worker, (long long)message->head.count);
}

static void print_law(const struct explore_law *law, FILE *file)
{
    fprintf(file,
            "  %s times in ns: step %llu, part of a task %llu, look %llu (%d "
            "doublings each, most %llu), server %llu, serial code %llu, "
            "message %llu, send buffer %llu; %d of 1000 take %d times as long, "
            "%d pause for %llu",
            law->is_fixed ? "fixed" : "random", (unsigned long long)law->step,
            (unsigned long long)law->task, (unsigned long long)law->wait,
            law->growth, (unsigned long long)law->most,
            (unsigned long long)law->server, (unsigned long long)law->serial,
            (unsigned long long)law->message, (unsigned long long)law->send,
            law->tail_permille, law->tail, law->pause_permille,
            (unsigned long long)law->pause);
    if (law->slow_rank >= 0)
        fprintf(file, "; rank %d takes %d times as long", law->slow_rank,
                law->slow);
    fputc('\n', file);
}

static void print_iteration(const struct explore_iteration *iteration,
                            FILE *file)
{
    static const char *const orders[] = {[EKI_ORDER_LONGEST] = "longest",
                                         [EKI_ORDER_EXECUTED] = "executed",
                                         [EKI_ORDER_ORIGINAL] = "original"};
    static const char *const faults[] = {"no fault", "another signature",
                                         "fails", "stops", "memory runs out"};
    const struct eki_sim_iteration *plan = &iteration->plan;
    const struct eki_balance_wish *wish = &plan->balance;
    fprintf(file,
            "steal %d, detector %d, %s failures, order %s; %s (rank %d); up to "
            "%d seeds, %d "
            "ranges of %d, %d that depart, %d spawned; of 1000 %d spawn or "
            "poll up to %d times, %d fail, %d stop; %d of 100 absent",
            plan->steal, plan->detector,
            plan->on_failure == EK_ON_FAILURE_CONTINUE ? "goes on after"
                                                       : "cancels after",
            orders[plan->order], faults[iteration->fault],
            iteration->fault_rank, iteration->seeds, iteration->ranges,
            iteration->range_most, iteration->departing, iteration->spawns,
            iteration->spawn_permille, iteration->ops_most,
            iteration->fail_permille, iteration->stop_permille,
            iteration->absent_percent);
    if (plan->is_balanced)
        fprintf(file,
                "; balanced: groups of %d, eps %g, %g iterations, cost %g ns%s",
                wish->group, wish->eps, wish->outlook.iterations,
                wish->outlook.cost_ns,
                !wish->algorithm                ? ""
                : wish->printed.is_hierarchical ? ", as printed, tree"
                                                : ", as printed");
    fputc('\n', file);
}

static void print_tiling(const struct explore_scenario *scenario, FILE *file)
{
    const struct explore_tiling *tiling = &scenario->tiling;
    if (tiling->stores == 0)
        return;
    fprintf(file,
            "  %d stores of up to %d tiles of up to %d doubles, caches of %lld "
            "bytes%s; of 1000 tasks use tiles, up to so often, wait after each "
            "of 1000, do not wait:",
            tiling->stores, tiling->tiles_most, tiling->length_most,
            (long long)tiling->cache_bytes,
            tiling->is_apart ? ", messages on a node, too" : "");
    for (int i = 0; i < scenario->iterations; i++) {
        const struct explore_iteration *iteration = &scenario->iteration[i];
        fprintf(file, " %d, %d, %d, %d%s;", iteration->tile_permille,
                iteration->calls_most, iteration->wait_permille,
                iteration->leave_permille,
                iteration->plan.is_assembled ? " (synced before)" : "");
    }
    fputc('\n', file);
}

static void print_travel(const struct explore_travel *travel, FILE *file)
{
    if (!travel->is_used)
        return;
    fprintf(file,
            "  data of up to %d bytes%s, %s, %s; %lld bytes held at most, %d "
            "of 1000 callbacks fail%s\n",
            travel->bytes_most, travel->has_indices ? ", of indices, too" : "",
            travel->unpacks ? "unpacked and packed"
            : travel->packs ? "packed"
                            : "in buffers",
            travel->returns ? "which returns" : "which does not return",
            (long long)travel->budget_bytes, travel->fail_permille,
            travel->may_follow ? "; it follows" : "");
}

static void print_save(const struct explore_save *save, FILE *file)
{
    if (!save->is_made)
        return;
    fprintf(file, "  saved");
    if (save->death > 0)
        fprintf(file, ", again until %s at call %d, after a failure at call %d",
                save->loses_power ? "the power goes" : "a kill", save->death,
                save->failure);
    fprintf(file, "; loaded by %d ranks (node: workers)", save->ranks);
    for (int r = 0; r < save->ranks; r++)
        fprintf(file, " %d:%d", save->nodes[r], save->workers[r]);
    fputc('\n', file);
}

void explore_print_scenario(const struct explore_scenario *scenario, FILE *file)
{
    fprintf(file, "profile %s, seed %llu: %d ranks (node: workers)",
            explore_profile_names[scenario->profile],
            (unsigned long long)scenario->seed, scenario->ranks);
    for (int r = 0; r < scenario->ranks; r++)
        fprintf(file, " %d:%d", scenario->nodes[r], scenario->workers[r]);
    fprintf(file,
            "\n  %s deque, %d slots a buffer, %d bytes a payload, %d send "
            "buffers of %d slots, rendezvous beyond %zu bytes, %d words "
            "checked, %s, seeds %s\n",
            scenario->deque == EKI_DEQUE_ATOMIC ? "atomic" : "locked",
            scenario->buffer_slots, scenario->payload_bytes,
            scenario->send_buffers, scenario->message_slots,
            scenario->late_bytes, scenario->check_words,
            scenario->has_server ? "a server" : "no server",
            scenario->is_loaded ? "measured before" : "new");
    print_law(&scenario->law, file);
    print_tiling(scenario, file);
    print_travel(&scenario->travel, file);
    for (int i = 0; i < scenario->iterations; i++) {
        fprintf(file, "  iteration %d: ", i);
        print_iteration(&scenario->iteration[i], file);
        print_save(&scenario->save[i], file);
    }
}

/* Where a worker stands in drawing from the counter; -1: it does not. */
static int draw_state(const struct ek_worker *worker)
{
    const struct eki_counter *counter = eki_counter_of(worker->engine);
    /* relaxed: there is one thread. */
    return explore_draws(worker->engine)
               ? atomic_load_explicit(&counter->drawers[worker->here].state,
                                      memory_order_relaxed)
               : -1;
}

static void print_worker(const struct eki_sim_worker *worker)
{
    const struct ek_worker *inner = worker->worker;
    const struct eki_worker_words *words = inner->words;
    /* relaxed, all: there is one thread. */
    fprintf(stderr,
            "    worker %d: %s%s, phase %llu, created %llu, executed %llu, "
            "stored %llu %llu, idle %llu, %lld tasks here, %u of %u visible, "
            "claims from %d, asked %lld, denied %lld, granted %lld, draws %d\n",
            inner->id, state_name(worker->state),
            worker->never ? " (no thread)" : "",
            (unsigned long long)atomic_load_explicit(&words->phase,
                                                     memory_order_relaxed),
            (unsigned long long)eki_worker_created(inner),
            (unsigned long long)inner->executed,
            (unsigned long long)atomic_load_explicit(&words->created,
                                                     memory_order_relaxed),
            (unsigned long long)atomic_load_explicit(&words->executed,
                                                     memory_order_relaxed),
            (unsigned long long)atomic_load_explicit(&words->idle,
                                                     memory_order_relaxed),
            (long long)eki_local_count(&inner->local),
            eki_deque_visible(inner->share.deque.kind, inner->engine->capacity,
                              &words->deque),
            inner->share.deque.open, inner->search.steal_from,
            (long long)explore_asked(inner),
            (long long)explore_answers(inner, 0),
            (long long)explore_answers(inner, 1), draw_state(inner));
}

static void print_rank(const struct eki_sim_rank *rank)
{
    const struct eki_engine *engine = rank->engine;
    const struct eki_waves *waves = &engine->waves;
    int letters = 0;
    for (const struct eki_sim_letter *at = rank->port->first; at; at = at->next)
        letters++;
    fprintf(stderr,
            "  rank %d on node %d: %s, iteration %d, phase %llu (%s, steal %d),"
            " wave %llu, voted %d, votes %d %d, verdict to %d, forwarded %d, "
            "%d messages on their way, %lld of %lld tasks departed\n",
            rank->number, rank->topology.node, state_name(rank->state),
            rank->iteration, (unsigned long long)engine->phase,
            engine->kind == EKI_PHASE_RESTORE ? "restore" : "process",
            engine->scheme ? (int)engine->scheme->policy : -1,
            (unsigned long long)waves->wave, waves->voted, waves->has_vote[0],
            waves->has_vote[1], waves->verdict_next, waves->forwarded, letters,
            (long long)engine->moves.next, (long long)engine->moves.count);
    for (int w = 0; w < rank->topology.workers_here; w++)
        print_worker(&rank->workers[w]);
}

void explore_print(const struct explore *explore)
{
    const struct eki_sim *sim = explore->sim;
    for (int r = 0; sim && r < sim->setup.ranks; r++)
        print_rank(&sim->ranks[r]);
    for (int i = 0; i < explore->scenario->iterations; i++) {
        const struct tally *tally = &explore->ledger.tally[i];
        fprintf(stderr,
                "  iteration %d: entered by %d, %lld tasks not run, %lld of "
                "them cancelled, fault %d\n",
                i, tally->entered, (long long)tally->pending,
                (long long)tally->cancelled,
                explore->scenario->iteration[i].fault);
    }
}
