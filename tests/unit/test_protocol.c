/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a new protocol costs: one table, and no change of the engine.  And the
 * tables that there are.
 */
#include "data/data.h"
#include "tally.h"
#include "tiles/tiles.h"

static const struct eki_protocol_ops nothing = {.name = "nothing",
                                                .channel = EKI_CHANNEL_DATA};

enum {
    FIRST = EKI_KIND(EKI_CHANNEL_TILES),
    SECOND
};

/* A process of rank 0 with three seeds, from beginning to end. */
static void run(struct lone *lone)
{
    uint64_t ran[4];
    lone_seed(lone, 3, 10);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    CHECK_EQ_INT(lone_run(lone, ran, 4), 3);
    CHECK_OK(lone_end_root(lone, 0, 0).status);
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
    lone_start(&without, 0);
    run(&without);
    lone_start(&with, 0);
    add(&with, &nothing);
    CHECK(eki_engine_protocol(with.engine, &nothing) == &counting.protocol);
    CHECK(eki_engine_protocol(with.engine, &all) == NULL);
    CHECK(counting.protocol.engine == with.engine);
    run(&with);
    compare_sent(&with, &without);
    lone_close(&with);
    lone_close(&without);
}

static void protocol_that_counts_changes_nothing(void)
{
    static struct lone without, with;
    lone_start(&without, 0);
    run(&without);
    lone_start(&with, 0);
    add(&with, &all);
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

static void nobody_votes_while_a_protocol_is_busy(struct lone *lone)
{
    lone_start(lone, 1);
    add(lone, &all);
    counting.is_busy = true;
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
    lone_step(lone);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    counting.is_busy = false;
    lone_serve(lone);
    lone_sent_only(lone, EKI_KIND_VOTE);
}

/* Both ranks on a node: there servers need not be stepped. */
static void protocol_says_whether_servers_are_stepped(void)
{
    static const int workers[2] = {1, 1}, nodes[2] = {0, 0};
    for (int wants = 0; wants < 2; wants++) {
        struct lone lone;
        lone_open_job(&lone, 0, 2, workers, nodes);
        lone_make(&lone);
        add(&lone, &all);
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
        CHECK_OK(eki_engine_create(&lone.setup, &lone.engine));
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
static void begin_taking(struct lone *lone)
{
    lone_open(lone, 0);
    CHECK_OK(eki_engine_create(&lone->setup, &lone->engine));
    add(lone, &all);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
}

static void protocol_takes_its_verbs(struct lone *lone)
{
    begin_taking(lone);
    CHECK(lone->engine->channels[EKI_CHANNEL_TILES] == &counting.protocol);
    lone_message(lone, FIRST);
    lone_serve(lone);
    CHECK_EQ_INT(counting.taken, 1);
    lone_message(lone, SECOND);
    lone_serve(lone);
    CHECK_EQ_INT(counting.taken, 2);
    CHECK(!lone->has_got);
    lone_vote(lone, 1, 0, 0);
    lone_serve(lone);
    CHECK_EQ_INT(counting.taken, 2);
}

static void message_that_nobody_takes_is_an_error(void)
{
    struct lone lone;
    static const int kinds[] = {EKI_KIND_SEEDS, SECOND + 1, 65535};
    for (int i = 0; i < 3; i++) {
        begin_taking(&lone);
        lone_message(&lone, kinds[i]);
        struct eki_error error = lone_end(&lone);
        CHECK_EQ_INT(error.status, EK_ERR_MPI);
        CHECK_HAS_TEXT(error.text,
                       "(unknown), which no protocol of this rank takes");
        lone_close(&lone);
    }
}

/* The protocol does not get what does not fit the row of its verb. */
static void refused_message_is_an_error(void)
{
    for (int fits = 0; fits < 2; fits++) {
        struct lone lone;
        begin_taking(&lone);
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
        begin_taking(&lone);
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

static void messages_are_taken_in_their_phase(struct lone *lone)
{
    begin_taking(lone);
    lone_message(lone, FIRST)->head.phase = 0;
    lone_serve(lone);
    lone_message(lone, FIRST)->head.phase = 2;
    lone_serve(lone);
    CHECK(!lone->has_got);
    CHECK_EQ_INT(counting.taken, 0);
    CHECK_OK(lone_end_root(lone, 0, 0).status);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
    lone_serve(lone);
    CHECK_EQ_INT(counting.taken, 1);
}

/* Every channel has a protocol, and all verbs have names of their own. */
static void every_verb_has_a_name_of_its_own(void)
{
    struct lone lone;
    const char *names[EKI_CHANNELS * 8];
    int count = 0;
    lone_start(&lone, 0);
    struct eki_stores *stores = NULL;
    CHECK_OK(eki_stores_create(&stores));
    CHECK_OK(eki_stores_join(stores, lone.engine));
    struct eki_data_setup data = {.has_bytes = true};
    CHECK_OK(eki_data_join(lone.engine, &data));
    /* The last channels say nothing. */
    for (int channel = 1; channel < EKI_CHANNEL_ONE_SIDED; channel++) {
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
    RUN_LONE(nobody_votes_while_a_protocol_is_busy);
    RUN(protocol_says_whether_servers_are_stepped);
    RUN(protocols_are_served_in_order_of_their_channels);
    RUN_LONE(protocol_takes_its_verbs);
    RUN(message_that_nobody_takes_is_an_error);
    RUN(refused_message_is_an_error);
    RUN(message_without_memory_comes_again);
    RUN_LONE(messages_are_taken_in_their_phase);
    RUN(every_verb_has_a_name_of_its_own);
    return check_result();
}
