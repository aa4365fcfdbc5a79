/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * one-sided: which operations a thief and an owner start, one after the other,
 * and what becomes of those that are done late.  The memory of both ranks is an
 * array, in which the test plays the other rank.
 */
#include "lone.h"
#include "protocol/one_sided.h"

enum {
    SLOTS = 8, /* of half of a ring */
    SEEDS = 8
};

struct ticket {
    struct eki_rma_operation operation;
    uint64_t before[EKI_RMA_WORDS];
    bool is_used, is_done;
};

static struct memory {
    struct eki_rma base; /* first: the operations get this */
    uint64_t words[2][EKI_ONE_SIDED_WORDS];
    _Alignas(16) unsigned char data[2][2 * SLOTS * LONE_SLOT];
    struct ticket tickets[EKI_RMA_TICKETS];
    bool is_late;     /* operations are done when the test says so */
    char started[64]; /* on the other rank: A, R, L (of words), G */
} memory;

/* The operation takes effect. */
static void carry_out(struct ticket *ticket)
{
    const struct eki_rma_operation *operation = &ticket->operation;
    ticket->is_done = true;
    if (operation->kind == EKI_RMA_GET) {
        memcpy(operation->memory, memory.data[operation->rank] + operation->at,
               operation->bytes);
        return;
    }
    uint64_t *word = &memory.words[operation->rank][operation->at];
    ticket->before[0] = *word;
    if (operation->kind == EKI_RMA_ADD)
        *word += operation->value;
    else if (operation->kind == EKI_RMA_REPLACE)
        *word = operation->value;
    else
        memcpy(ticket->before, word, operation->words * sizeof *word);
}

static ek_status start_operation(struct eki_rma *rma,
                                 const struct eki_rma_operation *operation,
                                 int *number)
{
    static const char letters[] = {[EKI_RMA_ADD] = 'A',
                                   [EKI_RMA_REPLACE] = 'R',
                                   [EKI_RMA_READ] = 'L',
                                   [EKI_RMA_GET] = 'G'};
    size_t length = strlen(memory.started);
    int i = 0;
    (void)rma;
    while (memory.tickets[i].is_used)
        i++;
    memory.tickets[i] =
        (struct ticket){.operation = *operation, .is_used = true};
    if (operation->rank == 1 && length + 1 < sizeof memory.started)
        memory.started[length] = letters[operation->kind];
    if (!memory.is_late || operation->rank == 0)
        carry_out(&memory.tickets[i]);
    *number = i;
    return EK_OK;
}

static bool test_operation(struct eki_rma *rma, int number, uint64_t *before)
{
    struct ticket *ticket = &memory.tickets[number];
    (void)rma;
    if (!ticket->is_done)
        return false;
    if (before)
        memcpy(before, ticket->before, sizeof ticket->before);
    ticket->is_used = false;
    return true;
}

static void sync_data(struct eki_rma *rma)
{
    (void)rma;
}

static const struct eki_rma_ops memory_ops = {
    .start = start_operation, .test = test_operation, .sync = sync_data};

/* What is under way takes effect. */
static void let_land(void)
{
    for (int i = 0; i < EKI_RMA_TICKETS; i++) {
        if (memory.tickets[i].is_used && !memory.tickets[i].is_done)
            carry_out(&memory.tickets[i]);
    }
}

static struct eki_one_sided *side_of_lone(const struct lone *lone)
{
    return (struct eki_one_sided *)eki_engine_protocol(lone->engine,
                                                       &eki_one_sided_ops);
}

/* Letters of what was started on the other rank since. */
static void started(const char *expected)
{
    CHECK_EQ_TEXT(memory.started, expected);
    memset(memory.started, 0, sizeof memory.started);
}

/* Rank 0 of two, whose worker has SEEDS tasks; a step of its server. */
static void begin_one_sided(struct lone *lone, ek_steal_policy policy,
                            int seeds)
{
    memset(&memory, 0, sizeof memory);
    lone_open(lone, 0);
    memory.base = (struct eki_rma){.ops = &memory_ops,
                                   .fabric = &lone->fabric,
                                   .words = EKI_ONE_SIDED_WORDS,
                                   .bytes = sizeof memory.data[0],
                                   .data = memory.data[0]};
    CHECK_EQ_INT(eki_one_sided_bytes(&lone->setup), sizeof memory.data[0]);
    lone->setup.rma = &memory.base;
    lone->setup.sws = (struct eki_sws_option){.epochs = 2, .damping = 1};
    lone_make(lone);
    lone_seed(lone, seeds, 10);
    lone_enter(lone, EKI_PHASE_PROCESS, policy);
    lone_serve(lone);
}

/* The other rank is in the phase, and shows COUNT tasks from POSITION on,
 * numbered from FIRST on. */
static void shows(const struct lone *lone, uint64_t phase, uint32_t position,
                  uint32_t count, uint64_t first)
{
    const struct eki_one_sided *side = side_of_lone(lone);
    uint64_t *words = memory.words[1];
    const struct eki_sws_word word = {.epoch = 1,
                                      .initial = count,
                                      .tail =
                                          eki_ring_slot(side, phase, position)};
    words[EKI_WORD_SWS] = eki_sws_pack(2, &word);
    words[EKI_WORD_TAIL] = phase << EKI_SDC_PHASE_SHIFT | position;
    words[EKI_WORD_SPLIT] = words[EKI_WORD_TAIL] + count;
    words[EKI_WORD_STAMPS + (phase & 1)] =
        memory.words[0][EKI_WORD_STAMPS + (phase & 1)];
    for (uint32_t i = 0; i < count; i++)
        lone_fill_slot(eki_slot_at(memory.data[1],
                                   eki_ring_slot(side, phase, position + i),
                                   LONE_SLOT),
                       first + i);
}

/* The worker seeks once, and its server goes on. */
static void steals(struct lone *lone)
{
    lone_step(lone);
    lone_serve(lone);
    CHECK(eki_one_sided_check(lone->engine) == NULL);
}

static void sws_takes_three_operations(struct lone *lone)
{
    uint64_t ran[8];
    begin_one_sided(lone, EK_STEAL_SWS, 0);
    shows(lone, 1, 6, 4, 70);
    /* The first time it looks; half of four lie at the end of the ring. */
    steals(lone);
    started("LAGA");
    CHECK_EQ_INT(memory.words[1][EKI_WORD_COPIED + EKI_SWS_BLOCKS_MAX], 2);
    CHECK_EQ_INT(lone_run(lone, ran, 8), 2);
    CHECK_EQ_INT(ran[0] + ran[1], 141);
    /* Then it adds at once. */
    lone_serve(lone);
    started("AGA");
    CHECK_EQ_INT(memory.words[1][EKI_WORD_COPIED + EKI_SWS_BLOCKS_MAX + 1], 1);
    CHECK_EQ_INT(lone_run(lone, ran, 8), 1);
    CHECK_EQ_INT(ran[0], 72);
    lone_serve(lone);
    started("AGA");
    CHECK_EQ_INT(lone_run(lone, ran, 8), 1);
    /* In vain once; then it looks. */
    lone_serve(lone);
    started("A");
    steals(lone);
    started("L");
    CHECK_EQ_INT(eki_sws_unpack(2, memory.words[1][EKI_WORD_SWS]).attempts, 4);
    shows(lone, 1, 2, 1, 80);
    steals(lone);
    started("LAGA");
}

static void blocks_that_wrap_are_got_twice(struct lone *lone)
{
    uint64_t ran[8];
    begin_one_sided(lone, EK_STEAL_SWS, 0);
    shows(lone, 1, 7, 6, 70);
    steals(lone);
    started("LAGGA");
    CHECK_EQ_INT(lone_run(lone, ran, 8), 3);
    CHECK_EQ_INT(ran[0] + ran[1] + ran[2], 70 + 71 + 72);
}

static void sdc_takes_six_operations(struct lone *lone)
{
    uint64_t ran[8];
    begin_one_sided(lone, EK_STEAL_SDC, 0);
    shows(lone, 1, 6, 5, 70);
    steals(lone);
    started("LRLRRGA");
    CHECK_EQ_INT(memory.words[1][EKI_WORD_COPIED], 2);
    CHECK_EQ_INT(lone_run(lone, ran, 8), 2);
    lone_serve(lone);
    started("RLRRGA"); /* the block of one */
    CHECK_EQ_INT(lone_run(lone, ran, 8), 1);
    lone_serve(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 8), 1);
    started("RLRRGA");
    lone_serve(lone);
    started("RLRRGA");
    CHECK_EQ_INT(lone_run(lone, ran, 8), 1);
    /* In vain: lock, read, unlock. */
    lone_serve(lone);
    started("RLR");
    CHECK_EQ_INT(memory.words[1][EKI_WORD_LOCK], 0);
}

static void who_finds_the_lock_taken_leaves(struct lone *lone)
{
    begin_one_sided(lone, EK_STEAL_SDC, 0);
    shows(lone, 1, 0, 2, 70);
    memory.is_late = true;
    steals(lone);
    let_land();
    lone_serve(lone);
    started("LR");
    memory.words[1][EKI_WORD_LOCK] = 1; /* before ours */
    memory.words[1][EKI_WORD_SPLIT] = memory.words[1][EKI_WORD_TAIL];
    let_land();
    lone_serve(lone);
    let_land();
    lone_serve(lone);
    started("L");
    CHECK_EQ_INT(side_of_lone(lone)->under_way, 0);
}

/* An addition lands when the victim is in the next phase: what it claims waits
 * for that. */
static void what_lands_late_is_of_the_next_phase(struct lone *lone)
{
    uint64_t ran[8];
    struct eki_error error;
    begin_one_sided(lone, EK_STEAL_SWS, 0);
    shows(lone, 1, 0, 0, 0);
    side_of_lone(lone)->damping = 0;
    steals(lone); /* looks */
    memory.is_late = true;
    steals(lone);
    started("LA");
    shows(lone, 2, 0, 2, 70);
    let_land();
    lone_serve(lone);
    let_land();
    lone_serve(lone);
    started("G");
    CHECK_EQ_INT(lone_run(lone, ran, 8), 0);
    atomic_store(&lone->engine->node->announced, lone->engine->phase);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_DONE);
    eki_engine_leave(lone->engine, &error);
    CHECK(eki_one_sided_check(lone->engine) == NULL);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    lone_step(lone);
    /* Whatever the policy is, and only after a look. */
    lone_serve(lone);
    started("L");
    memory.words[1][EKI_WORD_STAMPS] = eki_one_sided_stamp(lone->engine);
    let_land();
    lone_serve(lone);
    lone_serve(lone);
    started("A");
    CHECK_EQ_INT(lone_run(lone, ran, 8), 1);
    CHECK_EQ_INT(ran[0], 70);
}

/* What its word shows. */
static uint32_t own_word(uint32_t *initial)
{
    struct eki_sws_word word = eki_sws_unpack(2, memory.words[0][EKI_WORD_SWS]);
    *initial = word.initial;
    return eki_sws_remaining(2, memory.words[0][EKI_WORD_SWS]);
}

/* The other rank claims a block, and says that it is copied or does not. */
static uint32_t robs(bool says_so)
{
    struct eki_sws_block block = {0};
    uint64_t *words = memory.words[0];
    bool is_there = eki_sws_claim(2, words[EKI_WORD_SWS], &block);
    words[EKI_WORD_SWS] += EKI_SWS_ATTEMPT;
    if (is_there && says_so)
        words[EKI_WORD_COPIED + block.epoch * EKI_SWS_BLOCKS_MAX +
              block.number] += block.count;
    return block.count;
}

static void owner_shows_and_takes_back(struct lone *lone)
{
    uint64_t ran[SEEDS];
    uint32_t initial, left;
    begin_one_sided(lone, EK_STEAL_SWS, SEEDS);
    left = own_word(&initial);
    CHECK(left > 0 && left == initial);
    uint32_t gone = robs(true);
    CHECK(gone > 0);
    int own = lone_run(lone, ran, SEEDS);
    CHECK(own > 0);
    /* Its worker has nothing: it closes, gives back half, and shows the rest.
     */
    for (int i = 0; i < 20; i++) {
        lone_serve(lone);
        CHECK(eki_one_sided_check(lone->engine) == NULL);
        own += lone_run(lone, ran, SEEDS);
    }
    CHECK_EQ_INT(own + (int)gone, SEEDS);
    CHECK_EQ_INT(own_word(&initial), 0);
}

/* No epoch is free: nothing is shown, nobody waits, nothing is lost. */
static void owner_goes_on_while_tasks_are_copied(struct lone *lone)
{
    uint64_t ran[4 * SEEDS];
    uint32_t initial, gone = 0;
    int own = 0;
    begin_one_sided(lone, EK_STEAL_SWS, 2 * SEEDS);
    for (int i = 0; i < 4; i++) {
        gone += robs(false);
        gone += robs(false);
        gone += robs(false);
        lone->now += EKI_OWNER_LOOKS_NS;
        lone_serve(lone);
        lone_step(lone);
        lone_serve(lone);
    }
    CHECK(!side_of_lone(lone)->ring.is_copied[0] &&
          !side_of_lone(lone)->ring.is_copied[1]);
    for (int i = 0; i < 20; i++) {
        own += lone_run(lone, ran, 4 * SEEDS);
        lone_serve(lone);
    }
    CHECK_EQ_INT(own + (int)gone, 2 * SEEDS);
    CHECK_EQ_INT(own_word(&initial), 0);
}

/* Nobody knows yet that all of an older phase is copied: what is claimed now is
 * not free for that. */
static void what_is_being_copied_is_kept(struct lone *lone)
{
    begin_one_sided(lone, EK_STEAL_SDC, 0);
    struct eki_ring *ring = &side_of_lone(lone)->ring;
    ring->is_copied[0] = false;
    ring->split = ring->end = 4;
    CHECK_EQ_INT(ring->begin[0], UINT64_MAX);
    eki_ring_learn(side_of_lone(lone), 2);
    CHECK_EQ_INT(ring->tail, 2);
    CHECK_EQ_INT(eki_ring_oldest(ring), 0);
    ring->split = ring->end = 2;
}

static void a_stop_empties_the_ring(struct lone *lone)
{
    uint32_t initial;
    begin_one_sided(lone, EK_STEAL_SWS, SEEDS);
    CHECK(own_word(&initial) > 0);
    eki_engine_stop(lone->engine);
    lone_serve(lone);
    lone_serve(lone);
    const struct eki_ring *ring = &side_of_lone(lone)->ring;
    CHECK_EQ_INT(own_word(&initial), 0);
    CHECK(ring->tail == ring->end);
}

/* In a message of its own each, if more do not fit. */
static void ring_goes_on_where_memory_is_gone(struct lone *lone)
{
    uint32_t initial;
    begin_one_sided(lone, EK_STEAL_SWS, SEEDS);
    uint64_t tasks = own_word(&initial);
    lone->fabric.message_bytes = sizeof(struct eki_message) + LONE_SLOT;
    eki_memory_fail(EKI_MEMORY_GONE);
    eki_engine_stop(lone->engine);
    for (int i = 0; i < 4; i++) {
        lone->now += UINT64_C(5000000000);
        lone_serve(lone);
    }
    eki_memory_fail(0);
    CHECK(tasks > 1);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_MOVE), tasks);
    struct eki_error error = lone_end_root(lone, 0, tasks);
    CHECK_EQ_INT(error.status, EK_ERR_NOMEM);
    CHECK_EQ_TEXT(error.text, "no memory for tasks that came (64 bytes)");
}

/* MPI counts the bytes of half of a ring. */
static void rings_are_bounded(void)
{
    CHECK_EQ_INT(eki_ring_slots_most(96), 1 << 18);
    CHECK_EQ_INT(eki_ring_slots_most(16384), 262142);
    CHECK_EQ_INT(eki_ring_slots_most(INT_MAX), 2);
}

int main(void)
{
    RUN(rings_are_bounded);
    RUN_LONE(sws_takes_three_operations);
    RUN_LONE(blocks_that_wrap_are_got_twice);
    RUN_LONE(sdc_takes_six_operations);
    RUN_LONE(who_finds_the_lock_taken_leaves);
    RUN_LONE(what_lands_late_is_of_the_next_phase);
    RUN_LONE(owner_shows_and_takes_back);
    RUN_LONE(owner_goes_on_while_tasks_are_copied);
    RUN_LONE(what_is_being_copied_is_kept);
    RUN_LONE(a_stop_empties_the_ring);
    RUN_LONE(ring_goes_on_where_memory_is_gone);
    return check_result();
}
