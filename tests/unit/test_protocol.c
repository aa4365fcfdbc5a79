/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a new protocol, scheme or victim policy costs: one table each, and no
 * change of the engine.  And the tables that there are.
 */
#include "base/options.h"
#include "data/data.h"
#include "lone.h"
#include "tiles/tiles.h"

/* Counts what the engine asks, and does as it is told. */
struct counting {
    struct eki_protocol protocol;
    int entered, taken, stepped, cancelled, destroyed;
    int sought, node; /* of the last time */
    enum eki_taken answer;
    enum eki_sought finds;
    bool wants_servers, is_busy, calls, awaits;
    uint64_t due;
};

static struct counting *of(struct eki_protocol *protocol)
{
    return (struct counting *)protocol;
}

static const struct counting *of_const(const struct eki_protocol *protocol)
{
    return (const struct counting *)protocol;
}

static void count_destroy(struct eki_protocol *protocol)
{
    of(protocol)->destroyed++;
}

static bool count_enter(struct eki_protocol *protocol,
                        const struct eki_phase *phase, uint64_t now)
{
    (void)phase, (void)now;
    of(protocol)->entered++;
    return of(protocol)->wants_servers;
}

static enum eki_taken count_take(struct eki_protocol *protocol,
                                 const struct eki_message *message,
                                 uint64_t now)
{
    (void)message, (void)now;
    of(protocol)->taken++;
    return of(protocol)->answer;
}

static void count_step(struct eki_protocol *protocol, uint64_t now)
{
    (void)now;
    of(protocol)->stepped++;
}

static bool count_may_vote(const struct eki_protocol *protocol)
{
    return !of_const(protocol)->is_busy;
}

/* Where it finds something, that is a task numbered 60. */
static enum eki_sought count_seek(struct eki_protocol *protocol,
                                  struct ek_worker *worker, int node,
                                  uint64_t now)
{
    struct counting *counting = of(protocol);
    enum eki_sought finds = counting->finds;
    (void)now;
    counting->sought++;
    counting->node = node;
    counting->finds = EKI_SOUGHT_NOTHING;
    if (finds == EKI_SOUGHT_FOUND) {
        lone_fill_slot(eki_local_push(&worker->local), 60);
        worker->created++;
        eki_worker_store(worker);
    }
    return finds;
}

static void count_cancel(struct eki_protocol *protocol,
                         struct ek_worker *worker)
{
    (void)worker;
    of(protocol)->cancelled++;
}

static bool count_calls(const struct eki_protocol *protocol,
                        const struct ek_worker *worker, bool *awaits,
                        uint64_t *due)
{
    (void)worker;
    if (awaits)
        *awaits = of_const(protocol)->awaits;
    if (due)
        *due = of_const(protocol)->due;
    return of_const(protocol)->calls;
}

static const struct eki_protocol_ops nothing = {.name = "nothing",
                                                .channel = EKI_CHANNEL_DATA};

static const struct eki_verb verbs[] = {
    {.name = "first"},
    {.name = "second", .body = EKI_BODY_NONE, .must_fit = true}};

enum {
    FIRST = EKI_KIND(EKI_CHANNEL_TILES),
    SECOND
};

static const struct eki_protocol_ops all = {.name = "counting",
                                            .channel = EKI_CHANNEL_TILES,
                                            .verbs = verbs,
                                            .verb_count = 2,
                                            .destroy = count_destroy,
                                            .enter = count_enter,
                                            .take = count_take,
                                            .step = count_step,
                                            .may_vote = count_may_vote,
                                            .seek = count_seek,
                                            .cancel = count_cancel,
                                            .calls = count_calls};

static void add(struct lone *lone, struct counting *counting,
                const struct eki_protocol_ops *ops)
{
    *counting = (struct counting){.protocol.ops = ops, .node = -9};
    eki_engine_add(lone->engine, &counting->protocol);
}

/* A process of rank 0 with three seeds, from beginning to end. */
static void run(struct lone *lone)
{
    uint64_t ran[4];
    lone_seed(lone, 3, 10);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    CHECK_EQ_INT(lone_run(lone, ran, 4), 3);
    CHECK_EQ_INT(lone_end_root(lone, 0, 0).status, EK_OK);
}

static void compare_sent(const struct lone *lone, const struct lone *other)
{
    CHECK_EQ_INT(lone->sent_count, other->sent_count);
    for (int i = 0; i < lone->sent_count && i < other->sent_count; i++)
        CHECK(memcmp(lone->sent[i].bytes, other->sent[i].bytes,
                     sizeof(struct eki_head)) == 0);
    CHECK_EQ_INT(lone->now, other->now);
}

static void protocol_that_does_nothing_changes_nothing(void)
{
    static struct lone without, with;
    struct counting empty;
    lone_open(&without, 0);
    lone_make(&without);
    run(&without);
    lone_open(&with, 0);
    lone_make(&with);
    add(&with, &empty, &nothing);
    CHECK(eki_engine_protocol(with.engine, &nothing) == &empty.protocol);
    CHECK(eki_engine_protocol(with.engine, &all) == NULL);
    CHECK(empty.protocol.engine == with.engine);
    run(&with);
    compare_sent(&with, &without);
    lone_close(&with);
    lone_close(&without);
}

static void protocol_that_counts_changes_nothing(void)
{
    static struct lone without, with;
    struct counting counting;
    lone_open(&without, 0);
    lone_make(&without);
    run(&without);
    lone_open(&with, 0);
    lone_make(&with);
    add(&with, &counting, &all);
    run(&with);
    compare_sent(&with, &without);
    CHECK_EQ_INT(counting.entered, 1);
    CHECK(counting.stepped > 1);
    /* It is not that of the scheme, and no message was for it. */
    CHECK_EQ_INT(counting.sought + counting.cancelled + counting.taken, 0);
    lone_enter(&with, EKI_PHASE_RESTORE, EK_STEAL_NONE);
    CHECK_EQ_INT(counting.entered, 2);
    CHECK_EQ_INT(counting.destroyed, 0);
    lone_close(&with);
    CHECK_EQ_INT(counting.destroyed, 1);
    lone_close(&without);
}

static void nobody_votes_while_a_protocol_is_busy(void)
{
    struct lone lone;
    struct counting counting;
    lone_open(&lone, 1);
    lone_make(&lone);
    add(&lone, &counting, &all);
    counting.is_busy = true;
    lone_enter(&lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
    lone_step(&lone);
    lone_serve(&lone);
    CHECK_EQ_INT(lone.sent_count, 0);
    counting.is_busy = false;
    lone_serve(&lone);
    lone_sent_only(&lone, EKI_KIND_VOTE);
    lone_close(&lone);
}

/* Both ranks on a node: there servers need not be stepped. */
static void protocol_says_whether_servers_are_stepped(void)
{
    static const int workers[2] = {1, 1}, nodes[2] = {0, 0};
    for (int wants = 0; wants < 2; wants++) {
        struct lone lone;
        struct counting counting;
        lone_open_job(&lone, 0, 2, workers, nodes);
        lone_make(&lone);
        add(&lone, &counting, &all);
        counting.wants_servers = wants;
        lone_enter(&lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
        CHECK(atomic_load_explicit(&lone.engine->messages,
                                   memory_order_relaxed) == wants);
        CHECK(eki_is_set(&lone.engine->node->mail[1], 1) == wants);
        lone_close(&lone);
    }
}

enum {
    SERVED = 5
};

static char served[64];

static void note_step(struct eki_protocol *protocol, uint64_t now)
{
    (void)now;
    eki_append(served, sizeof served, "%s", protocol->ops->name);
}

static const struct eki_protocol_ops served_ops[SERVED] = {
    {.name = "0", .channel = EKI_CHANNEL_REBALANCE, .step = note_step},
    {.name = "1", .channel = EKI_CHANNEL_HANDS, .step = note_step},
    {.name = "2", .channel = EKI_CHANNEL_COUNTER, .step = note_step},
    {.name = "3", .channel = EKI_CHANNEL_DATA, .step = note_step},
    {.name = "4", .channel = EKI_CHANNEL_REQUESTS, .step = note_step}};

static void protocols_are_served_in_order_of_their_channels(void)
{
    static const int workers[1] = {1}, nodes[1] = {0};
    static const int orders[][SERVED] = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0},
                                         {2, 0, 4, 1, 3}, {3, 2, 1, 0, 4},
                                         {1, 4, 2, 3, 0}, {2, 4, 0, 3, 1}};
    for (int i = 0; i < 6; i++) {
        struct lone lone;
        struct eki_protocol protocols[SERVED];
        lone_open_job(&lone, 0, 1, workers, nodes);
        CHECK_EQ_INT(eki_engine_create(&lone.setup, &lone.engine), EK_OK);
        for (int k = 0; k < SERVED; k++) {
            protocols[k].ops = &served_ops[orders[i][k]];
            eki_engine_add(lone.engine, &protocols[k]);
        }
        served[0] = '\0';
        lone_serve(&lone);
        CHECK_EQ_TEXT(served, "01234");
        lone_close(&lone);
    }
}

/* An engine without any protocol but its own two, and one that takes. */
static void begin_taking(struct lone *lone, struct counting *counting,
                         const struct eki_protocol_ops *ops)
{
    lone_open(lone, 0);
    CHECK_EQ_INT(eki_engine_create(&lone->setup, &lone->engine), EK_OK);
    add(lone, counting, ops);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
}

static void protocol_takes_its_verbs(void)
{
    struct lone lone;
    struct counting counting;
    begin_taking(&lone, &counting, &all);
    CHECK(lone.engine->channels[EKI_CHANNEL_TILES] == &counting.protocol);
    lone_message(&lone, FIRST);
    lone_serve(&lone);
    CHECK_EQ_INT(counting.taken, 1);
    lone_message(&lone, SECOND);
    lone_serve(&lone);
    CHECK_EQ_INT(counting.taken, 2);
    CHECK(!lone.has_got);
    lone_vote(&lone, 1, 0, 0);
    lone_serve(&lone);
    CHECK_EQ_INT(counting.taken, 2);
    lone_close(&lone);
}

static void message_that_nobody_takes_is_an_error(void)
{
    struct lone lone;
    struct counting counting;
    static const int kinds[] = {EKI_KIND_SEEDS, SECOND + 1, 65535};
    for (int i = 0; i < 3; i++) {
        begin_taking(&lone, &counting, &all);
        lone_message(&lone, kinds[i]);
        struct eki_error error = lone_end(&lone);
        CHECK_EQ_INT(error.status, EK_ERR_MPI);
        CHECK_HAS_TEXT(error.text, "(unknown), which nobody takes here");
        lone_close(&lone);
    }
}

/* The protocol does not get what does not fit the row of its verb. */
static void refused_message_is_an_error(void)
{
    for (int fits = 0; fits < 2; fits++) {
        struct lone lone;
        struct counting counting;
        begin_taking(&lone, &counting, &all);
        counting.answer = EKI_REFUSED;
        lone_message(&lone, SECOND)->head.bytes = !fits;
        CHECK_EQ_INT(lone_end(&lone).status, EK_ERR_MPI);
        CHECK_EQ_INT(counting.taken, fits);
        lone_close(&lone);
    }
}

/* One that must fit makes the phase an error, another does not. */
static void message_without_memory_comes_again(void)
{
    static const int kinds[] = {FIRST, SECOND};
    for (int i = 0; i < 2; i++) {
        struct lone lone;
        struct counting counting;
        begin_taking(&lone, &counting, &all);
        counting.answer = EKI_NO_MEMORY;
        lone_message(&lone, kinds[i]);
        lone_serve(&lone);
        lone_serve(&lone);
        CHECK_EQ_INT(counting.taken, 2);
        CHECK(lone.has_got);
        CHECK(eki_is_stopped(lone.engine) == (i == 1));
        counting.answer = EKI_TAKEN;
        lone_serve(&lone);
        CHECK_EQ_INT(counting.taken, 3);
        CHECK(!lone.has_got);
        lone_close(&lone);
    }
}

static void messages_are_taken_in_their_phase(void)
{
    struct lone lone;
    struct counting counting;
    begin_taking(&lone, &counting, &all);
    lone_message(&lone, FIRST)->head.phase = 0;
    lone_serve(&lone);
    lone_message(&lone, FIRST)->head.phase = 2;
    lone_serve(&lone);
    CHECK(!lone.has_got);
    CHECK_EQ_INT(counting.taken, 0);
    CHECK_EQ_INT(lone_end_root(&lone, 0, 0).status, EK_OK);
    lone_enter(&lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
    lone_serve(&lone);
    CHECK_EQ_INT(counting.taken, 1);
    lone_close(&lone);
}

static int chosen; /* how often a policy was asked */

static struct eki_victim choose_nobody(struct eki_thief *thief)
{
    (void)thief;
    chosen++;
    return (struct eki_victim){-1, -1};
}

static struct eki_victim choose_node_1(struct eki_thief *thief)
{
    (void)thief;
    return (struct eki_victim){-1, 1};
}

/* The worker of rank 0 looks for work a few times, and finds the end. */
static void search_in_vain(struct lone *lone, const struct eki_phase *phase)
{
    chosen = 0;
    lone_enter_phase(lone, phase);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
        lone_serve(lone);
    }
    CHECK_EQ_INT(lone->sent_count, 0);
    CHECK_EQ_INT(lone_worker(lone)->counts.attempted, 0);
    CHECK_EQ_INT(lone_end_root(lone, 0, 0).status, EK_OK);
}

static void phase_may_name_its_victims(void)
{
    struct lone lone;
    struct eki_phase phase = {.kind = EKI_PHASE_PROCESS,
                              .signature = 1,
                              .scheme = eki_scheme_of(EK_STEAL_RANDOM),
                              .victims = choose_nobody};
    lone_open(&lone, 0);
    lone_make(&lone);
    search_in_vain(&lone, &phase);
    CHECK(chosen >= 5);
    CHECK(lone.engine->has_thieves);
    /* Not for good. */
    lone_forget(&lone);
    lone_enter(&lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    lone_step(&lone);
    lone_serve(&lone);
    lone_sent_only(&lone, EKI_KIND_REQUEST);
    lone_close(&lone);
}

/* Where the scheme steals from nobody, there is nothing to name. */
static void victims_need_a_scheme_that_steals(void)
{
    struct lone lone;
    struct eki_phase phase = {.kind = EKI_PHASE_PROCESS,
                              .signature = 1,
                              .scheme = eki_scheme_of(EK_STEAL_NONE),
                              .victims = choose_nobody};
    lone_open(&lone, 0);
    lone_make(&lone);
    search_in_vain(&lone, &phase);
    CHECK_EQ_INT(chosen, 0);
    CHECK(!lone.engine->has_thieves);
    lone_close(&lone);
}

/* A scheme of the test's own, whose protocol elsewhere is ELSEWHERE. */
static struct eki_scheme scheme_with(eki_victims_fn *victims,
                                     const struct eki_protocol_ops *elsewhere)
{
    return (struct eki_scheme){.victims = victims,
                               .elsewhere = elsewhere,
                               .detectors = 1u << EKI_DETECTOR_COUNTING};
}

static void begin_scheme(struct lone *lone, struct counting *counting,
                         const struct eki_scheme *scheme)
{
    const struct eki_phase phase = {
        .kind = EKI_PHASE_PROCESS, .signature = 1, .scheme = scheme};
    lone_open(lone, 0);
    lone_make(lone);
    add(lone, counting, &all);
    lone_enter_phase(lone, &phase);
}

static void scheme_may_name_any_victims(void)
{
    struct lone lone;
    struct counting counting;
    struct eki_scheme scheme = scheme_with(choose_nobody, &all);
    struct eki_phase phase = {
        .kind = EKI_PHASE_PROCESS, .signature = 1, .scheme = &scheme};
    lone_open(&lone, 0);
    lone_make(&lone);
    add(&lone, &counting, &all);
    search_in_vain(&lone, &phase);
    CHECK(chosen >= 5);
    /* Nobody was named to ask. */
    CHECK_EQ_INT(counting.sought, 0);
    lone_close(&lone);
}

static void scheme_asks_the_node_that_is_named(void)
{
    struct lone lone;
    struct counting counting;
    struct eki_scheme scheme = scheme_with(choose_node_1, &all);
    begin_scheme(&lone, &counting, &scheme);
    counting.finds = EKI_SOUGHT_ASKED;
    CHECK_EQ_INT(lone_step(&lone), EKI_STEP_WAIT);
    CHECK_EQ_INT(counting.sought, 1);
    CHECK_EQ_INT(counting.node, 1);
    lone_close(&lone);
}

static void scheme_without_victims_asks_whenever_a_worker_is_idle(void)
{
    struct lone lone;
    struct counting counting;
    struct eki_scheme scheme = scheme_with(NULL, &all);
    begin_scheme(&lone, &counting, &scheme);
    CHECK(!lone.engine->has_thieves);
    for (int i = 1; i <= 3; i++) {
        CHECK_EQ_INT(lone_step(&lone), EKI_STEP_WAIT);
        CHECK_EQ_INT(counting.sought, i);
    }
    CHECK_EQ_INT(counting.node, -1);
    lone_close(&lone);
}

static void what_a_protocol_finds_is_run(void)
{
    struct lone lone;
    struct counting counting;
    struct eki_scheme scheme = scheme_with(NULL, &all);
    uint64_t ran[2];
    begin_scheme(&lone, &counting, &scheme);
    counting.finds = EKI_SOUGHT_FOUND;
    CHECK_EQ_INT(lone_run(&lone, ran, 2), 1);
    CHECK_EQ_INT(ran[0], 60);
    CHECK_EQ_INT(lone_end_root(&lone, 0, 0).status, EK_OK);
    lone_close(&lone);
}

static void worker_waits_as_its_protocol_says(void)
{
    struct lone lone;
    struct counting counting;
    struct eki_scheme scheme = scheme_with(NULL, &all);
    begin_scheme(&lone, &counting, &scheme);
    const struct ek_worker *worker = lone_worker(&lone);
    for (int i = 0; i < 4; i++) {
        counting.calls = i & 1;
        counting.awaits = i & 2;
        counting.due = 1000 + (uint64_t)i;
        CHECK(eki_worker_calls(worker) == counting.calls);
        CHECK(eki_worker_awaits(worker) == counting.awaits);
        CHECK_EQ_INT(eki_worker_due(worker), counting.due);
    }
    eki_engine_stop(lone.engine);
    CHECK(eki_worker_due(worker) == UINT64_MAX);
    CHECK_EQ_INT(counting.cancelled, 0);
    lone_step(&lone);
    CHECK_EQ_INT(counting.cancelled, 1);
    lone_close(&lone);
}

static void worker_without_such_a_protocol_waits_for_nothing(struct lone *lone)
{
    lone_open(lone, 0);
    lone_begin(lone, EK_STEAL_NONE);
    CHECK(!eki_worker_calls(lone_worker(lone)));
    CHECK(!eki_worker_awaits(lone_worker(lone)));
    CHECK(eki_worker_due(lone_worker(lone)) == UINT64_MAX);
}

static void every_steal_policy_has_a_scheme(struct lone *lone)
{
    int policies = 0;
    lone_open(lone, 0);
    lone_make(lone);
    for (; eki_option_choice_name("steal", policies); policies++) {
        const struct eki_scheme *scheme =
            eki_scheme_of((ek_steal_policy)policies);
        CHECK_EQ_INT(scheme->policy, policies);
        CHECK(scheme->detectors & 1u << EKI_DETECTOR_COUNTING);
        CHECK(!scheme->unsuitable || !scheme->unsuitable(lone->engine));
        CHECK(!scheme->elsewhere ||
              eki_engine_protocol(lone->engine, scheme->elsewhere));
        CHECK(!scheme->elsewhere || scheme->elsewhere->seek);
    }
    CHECK(policies > EK_STEAL_NODE);
}

static void unknown_policy_steals_from_nobody(void)
{
    const struct eki_scheme *scheme = eki_scheme_of((ek_steal_policy)99);
    CHECK(scheme == eki_scheme_of(EK_STEAL_NONE));
    CHECK(!scheme->victims && !scheme->elsewhere);
}

/* Every channel has a protocol, and all verbs have names of their own. */
static void every_verb_has_a_name_of_its_own(void)
{
    struct lone lone;
    const char *names[EKI_CHANNELS * 8];
    int count = 0;
    lone_open(&lone, 0);
    lone_make(&lone);
    struct eki_stores *stores = NULL;
    CHECK_EQ_INT(eki_stores_create(&stores), EK_OK);
    CHECK_EQ_INT(eki_stores_join(stores, lone.engine), EK_OK);
    struct eki_data_setup data = {.has_bytes = true};
    CHECK_EQ_INT(eki_data_join(lone.engine, &data), EK_OK);
    for (int channel = 1; channel < EKI_CHANNELS; channel++) {
        const struct eki_protocol *taker = lone.engine->channels[channel];
        if (!CHECK(taker && taker->ops->take && taker->ops->verb_count > 0))
            continue;
        for (int verb = 0; verb < taker->ops->verb_count; verb++)
            names[count++] =
                eki_engine_verb(lone.engine, EKI_KIND(channel) + verb)->name;
    }
    for (int i = 0; i < count; i++) {
        CHECK(names[i][0] != '\0' && strcmp(names[i], "unknown") != 0);
        for (int k = 0; k < i; k++)
            CHECK(strcmp(names[i], names[k]) != 0);
    }
    lone_close(&lone);
    eki_stores_destroy(&stores);
}

int main(void)
{
    RUN(protocol_that_does_nothing_changes_nothing);
    RUN(protocol_that_counts_changes_nothing);
    RUN(nobody_votes_while_a_protocol_is_busy);
    RUN(protocol_says_whether_servers_are_stepped);
    RUN(protocols_are_served_in_order_of_their_channels);
    RUN(protocol_takes_its_verbs);
    RUN(message_that_nobody_takes_is_an_error);
    RUN(refused_message_is_an_error);
    RUN(message_without_memory_comes_again);
    RUN(messages_are_taken_in_their_phase);
    RUN(phase_may_name_its_victims);
    RUN(victims_need_a_scheme_that_steals);
    RUN(scheme_may_name_any_victims);
    RUN(scheme_asks_the_node_that_is_named);
    RUN(scheme_without_victims_asks_whenever_a_worker_is_idle);
    RUN(what_a_protocol_finds_is_run);
    RUN(worker_waits_as_its_protocol_says);
    RUN_LONE(worker_without_such_a_protocol_waits_for_nothing);
    RUN_LONE(every_steal_policy_has_a_scheme);
    RUN(unknown_policy_steals_from_nobody);
    RUN(every_verb_has_a_name_of_its_own);
    return check_result();
}
