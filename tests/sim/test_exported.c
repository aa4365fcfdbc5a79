/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated one-sided operations: what they change, and when they are done. */
#include "../unit/check.h"
#include "timed.h"

#include <stdlib.h>
#include <string.h>

enum {
    RANKS = 8,
    EACH = 8,            /* operations of a rank */
    SECOND = 1000000000, /* nanoseconds */
    RMA = 2000,
    ATOMIC = 400
};

static const struct eki_machine machine = {.name = "one-sided",
                                           .has_server = true,
                                           .latency = 1000,
                                           .poll = 100,
                                           .probe = 100,
                                           .rma = RMA,
                                           .rma_byte = 0.5,
                                           .rma_atomic = ATOMIC};

static const struct eki_sim_iteration *iteration(void *context, int number)
{
    static const struct eki_sim_iteration plan = {.steal = EK_STEAL_RANDOM};
    (void)context;
    return number == 0 ? &plan : NULL;
}

/* A task of a second, during which a test works on what ranks export. */
static void enter(void *context, struct eki_sim_rank *rank)
{
    (void)context;
    timed_add(rank->engine->workers[0], 0, SECOND, true);
}

static uint64_t task(void *context, struct eki_sim_worker *worker, bool begins)
{
    (void)context;
    return begins ? timed_ns(worker) : EKI_SIM_ENDS_NOW;
}

static uint64_t pace(void *context, struct eki_sim_rank *rank,
                     enum eki_sim_pace what, uint64_t ns)
{
    (void)context, (void)rank, (void)what;
    return ns;
}

static struct eki_sim *open_ranks(const struct eki_sim_program *program)
{
    struct eki_sim *sim = NULL;
    struct eki_sim_setup setup = timed_setup(&machine, program);
    int nodes[RANKS], workers[RANKS];
    for (int r = 0; r < RANKS; r++) {
        nodes[r] = r;
        workers[r] = 1;
    }
    setup.has_rma = true;
    setup.ranks = RANKS;
    setup.workers = workers;
    setup.nodes = nodes;
    CHECK_OK(eki_sim_create(&setup, &sim));
    return sim;
}

static struct eki_sim *open_plain(void)
{
    static const struct eki_sim_program program = {
        .iteration = iteration, .enter = enter, .task = task};
    return open_ranks(&program);
}

static struct eki_rma *rma_of(struct eki_sim *sim, int rank)
{
    return &sim->ranks[rank].rma->base;
}

static int start(struct eki_sim *sim, int rank, struct eki_rma_operation what)
{
    int ticket = -1;
    struct eki_rma *rma = rma_of(sim, rank);
    sim->ranks[rank].port->step_ns = 0; /* as a step begins */
    CHECK_OK(rma->ops->start(rma, &what, &ticket));
    return ticket;
}

static uint64_t done_at(struct eki_sim *sim, int rank, int ticket)
{
    return sim->ranks[rank].rma->operations[ticket].done;
}

static bool test(struct eki_sim *sim, int rank, int ticket, uint64_t *before)
{
    struct eki_rma *rma = rma_of(sim, rank);
    return rma->ops->test(rma, ticket, before);
}

/* Let all that was started be done; when this was, of TICKET of RANK, from its
 * start on. */
static uint64_t finish(struct eki_sim *sim, int rank, int ticket,
                       uint64_t *before)
{
    uint64_t since = sim->now;
    CHECK(!test(sim, rank, ticket, NULL));
    for (int i = 0; i < 100000 && (done_at(sim, rank, ticket) > sim->now); i++)
        CHECK_EQ_INT(eki_sim_run(sim, 1), EKI_SIM_END_ASKED);
    uint64_t ns = done_at(sim, rank, ticket) - since;
    CHECK(test(sim, rank, ticket, before));
    return ns;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* As they come together, each is done ATOMIC after the one before. */
static void additions_to_a_word_follow_each_other(void)
{
    enum {
        ALL = (RANKS - 1) * EACH
    };
    struct eki_sim *sim = open_plain();
    uint64_t done[ALL], before[ALL], sum = 0;
    int tickets[ALL], count = 0;
    const struct eki_rma_operation add = {
        .kind = EKI_RMA_ADD, .rank = 0, .at = 3, .value = 1};
    for (int i = 0; i < ALL; i++)
        tickets[i] = start(sim, 1 + i % (RANKS - 1), add);
    while (sim->now < RMA + ALL * ATOMIC)
        CHECK_EQ_INT(eki_sim_run(sim, 1), EKI_SIM_END_ASKED);
    for (int i = 0; i < ALL; i++) {
        int rank = 1 + i % (RANKS - 1);
        done[count] = done_at(sim, rank, tickets[i]);
        CHECK(test(sim, rank, tickets[i], &before[count]));
        CHECK_EQ_INT(done[count], RMA + before[count] * ATOMIC);
        count++;
    }
    qsort(before, ALL, sizeof *before, compare);
    for (int i = 0; i < ALL; i++)
        CHECK_EQ_INT(before[i], i);
    CHECK(test(sim, 0, start(sim, 0, add), &sum));
    CHECK_EQ_INT(sum, ALL);
    eki_sim_destroy(&sim);
}

static void each_kind_takes_its_time(void)
{
    struct eki_sim *sim = open_plain();
    unsigned char text[192] = "";
    uint64_t before[EKI_RMA_WORDS] = {0};
    struct eki_rma_operation what = {
        .kind = EKI_RMA_REPLACE, .rank = 2, .at = 5, .value = 77};
    CHECK_EQ_INT(finish(sim, 1, start(sim, 1, what), before), RMA);
    CHECK_EQ_INT(before[0], 0);
    int own = start(sim, 2, what);
    CHECK_NEAR(sim->ranks[2].port->step_ns, ATOMIC, 0);
    CHECK(test(sim, 2, own, before));
    CHECK_EQ_INT(before[0], 77);
    what = (struct eki_rma_operation){
        .kind = EKI_RMA_READ, .rank = 2, .at = 4, .words = 3};
    CHECK_EQ_INT(finish(sim, 1, start(sim, 1, what), before), RMA);
    CHECK(before[0] == 0 && before[1] == 77 && before[2] == 0);
    memcpy(rma_of(sim, 2)->data + 8, "tasks", 6);
    what = (struct eki_rma_operation){.kind = EKI_RMA_GET,
                                      .rank = 2,
                                      .at = 8,
                                      .memory = text,
                                      .bytes = sizeof text};
    CHECK_EQ_INT(finish(sim, 1, start(sim, 1, what), NULL),
                 RMA + sizeof text / 2);
    CHECK_EQ_TEXT((char *)text, "tasks");
    what.kind = EKI_RMA_PUT;
    what.rank = 3;
    CHECK_EQ_INT(finish(sim, 1, start(sim, 1, what), NULL),
                 RMA + sizeof text / 2);
    CHECK_EQ_TEXT((char *)rma_of(sim, 3)->data + 8, "tasks");
    eki_sim_destroy(&sim);
}

static void tickets_run_out_and_come_back(void)
{
    struct eki_sim *sim = open_plain();
    int tickets[EKI_RMA_TICKETS];
    uint64_t before;
    const struct eki_rma_operation add = {
        .kind = EKI_RMA_ADD, .rank = 1, .value = 1};
    for (int i = 0; i < EKI_RMA_TICKETS; i++)
        CHECK((tickets[i] = start(sim, 0, add)) >= 0);
    CHECK_EQ_INT(start(sim, 0, add), -1);
    finish(sim, 0, tickets[EKI_RMA_TICKETS - 1], &before);
    CHECK_EQ_INT(before, EKI_RMA_TICKETS - 1);
    CHECK_EQ_INT(start(sim, 0, add), tickets[EKI_RMA_TICKETS - 1]);
    CHECK_EQ_INT(start(sim, 0, add), -1);
    eki_sim_destroy(&sim);
}

static void what_is_not_exported_is_refused(void)
{
    struct eki_sim *sim = open_plain();
    struct eki_rma *rma = rma_of(sim, 0);
    int ticket = 7;
    const struct eki_rma_operation wrong[] = {
        {.kind = EKI_RMA_ADD, .rank = RANKS},
        {.kind = EKI_RMA_ADD, .rank = -1},
        {.kind = EKI_RMA_ADD, .at = rma->words},
        {.kind = EKI_RMA_READ, .at = rma->words - 2, .words = 3},
        {.kind = EKI_RMA_READ, .words = EKI_RMA_WORDS + 1},
        {.kind = EKI_RMA_GET, .at = rma->bytes, .bytes = 1},
        {.kind = EKI_RMA_PUT, .at = SIZE_MAX, .bytes = 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_EQ_INT(rma->ops->start(rma, &wrong[i], &ticket), EK_ERR_ARG);
        CHECK_EQ_INT(ticket, -1);
    }
    eki_sim_destroy(&sim);
}

/* Where the program has a pace of its own. */
static void a_get_sees_what_was_synced(void)
{
    static const struct eki_sim_program program = {
        .iteration = iteration, .enter = enter, .task = task, .pace = pace};
    struct eki_sim *sim = open_ranks(&program);
    struct eki_rma *owner = rma_of(sim, 4);
    char text[8] = "";
    const struct eki_rma_operation get = {
        .kind = EKI_RMA_GET, .rank = 4, .memory = text, .bytes = sizeof text};
    memcpy(owner->data, "tasks", 6);
    CHECK_EQ_INT(finish(sim, 0, start(sim, 0, get), NULL), RMA + 4);
    CHECK_EQ_TEXT(text, "");
    owner->ops->sync(owner);
    finish(sim, 0, start(sim, 0, get), NULL);
    CHECK_EQ_TEXT(text, "tasks");
    eki_sim_destroy(&sim);
}

/* Rank 0 has all tasks; when rank 1 began its first, and how many it ran. */
struct stealing {
    struct eki_sim *sim;
    uint64_t first_ns;
    int stolen, tasks;
};

enum {
    TASKS = 100,
    TASK_NS = 100000
};

static const struct eki_sim_iteration *by_sws(void *context, int number)
{
    static const struct eki_sim_iteration plan = {.steal = EK_STEAL_SWS};
    (void)context;
    return number == 0 ? &plan : NULL;
}

static const struct eki_sim_iteration *by_sdc(void *context, int number)
{
    static const struct eki_sim_iteration plan = {.steal = EK_STEAL_SDC};
    (void)context;
    return number == 0 ? &plan : NULL;
}

static void enter_first(void *context, struct eki_sim_rank *rank)
{
    (void)context;
    for (int i = 0; rank->number == 0 && i < TASKS; i++)
        timed_add(rank->engine->workers[0], i, TASK_NS, true);
}

static uint64_t stolen_task(void *context, struct eki_sim_worker *worker,
                            bool begins)
{
    struct stealing *stealing = context;
    bool is_stolen = begins && worker->rank->number == 1;
    stealing->tasks += begins;
    if (is_stolen && stealing->stolen++ == 0)
        stealing->first_ns = stealing->sim->now;
    return begins ? timed_ns(worker) : EKI_SIM_ENDS_NOW;
}

/* A thief goes on as soon as its operations are done, though the victim
 * computes; with HAS_SERVER the victim's server fills its ring. */
static void
steals_take_their_time(const struct eki_sim_iteration *(*plan)(void *, int),
                       bool has_server)
{
    struct eki_machine polling = machine;
    struct stealing stealing = {0};
    const struct eki_sim_program program = {.context = &stealing,
                                            .iteration = plan,
                                            .enter = enter_first,
                                            .task = stolen_task};
    polling.has_server = has_server;
    polling.poll_period = 20000;
    struct eki_sim_setup setup = timed_setup(&polling, &program);
    setup.has_rma = true;
    setup.ranks = 2;
    setup.workers = (const int[]){1, 1};
    setup.nodes = (const int[]){0, 1};
    CHECK_OK(eki_sim_create(&setup, &stealing.sim));
    CHECK_EQ_INT(eki_sim_run(stealing.sim, 100000), EKI_SIM_END_OVER);
    printf("     %d of %d tasks are stolen, the first after %.1f us, in %.2f "
           "ms; %d events\n",
           stealing.stolen, stealing.tasks, (double)stealing.first_ns * 1e-3,
           (double)stealing.sim->last_task_ns * 1e-6,
           (int)stealing.sim->events);
    CHECK_EQ_INT(stealing.tasks, TASKS);
    CHECK(stealing.first_ns < (has_server ? 60000 : 3 * TASK_NS));
    CHECK(stealing.sim->last_task_ns < UINT64_C(58) * TASK_NS);
    CHECK(stealing.sim->events < 60 * TASKS);
    eki_sim_destroy(&stealing.sim);
}

static void thieves_wait_for_operations_alone(void)
{
    steals_take_their_time(by_sws, true);
    steals_take_their_time(by_sdc, true);
}

static void so_they_do_where_workers_poll(void)
{
    steals_take_their_time(by_sws, false);
    steals_take_their_time(by_sdc, false);
}

int main(void)
{
    RUN(thieves_wait_for_operations_alone);
    RUN(so_they_do_where_workers_poll);
    RUN(additions_to_a_word_follow_each_other);
    RUN(each_kind_takes_its_time);
    RUN(tickets_run_out_and_come_back);
    RUN(what_is_not_exported_is_refused);
    RUN(a_get_sees_what_was_synced);
    return check_result();
}
